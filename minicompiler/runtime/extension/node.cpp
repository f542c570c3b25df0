// A compiled graph as autograd sees it: a function whose node runs the compiled backward.
// Its Python twin, with the same order of things, is runtime/autograd.py.

namespace minicompiler {

using torch::autograd::Node;
using torch::autograd::SavedVariable;
using NodePtr = decltype(torch::autograd::Edge::function);  // shared_ptr, or intrusive since 2.12
constexpr bool kShared = std::is_same_v<NodePtr, std::shared_ptr<Node>>;

template <class T>
auto make_node(T* node) {
  if constexpr (kShared)
    return std::shared_ptr<T>(node, [](T* n) { deleteNode(n); });
  else
    return c10::intrusive_ptr<T>::unsafe_steal_from_new(node);
}

template <class T>
NodePtr pointer_to(T* node) {
  if constexpr (kShared)
    return node->shared_from_this();
  else
    return node->getptr();
}

// A reference that may be dropped by whoever drops the last node, with or without the GIL.
inline std::shared_ptr<PyObject> shared(PyObject* object) {
  return {Py_NewRef(object), [](PyObject* o) {
            if (!Py_IsInitialized()) return;
            pybind11::gil_scoped_acquire gil;
            Py_DECREF(o);
          }};
}

// Raises what Python raised; it may cross threads of the autograd engine.
[[noreturn]] inline void throw_persistent() {
  python_error error;
  error.persist();
  throw error;
}

// A flat callable: the extension's own Plan, else whatever Python has (list -> list).
class Flat {
 public:
  explicit Flat(PyObject* object) : object_(shared(object)) {
    if (Callable<Plan>::is(object)) plan_ = reinterpret_cast<Callable<Plan>*>(object)->self;
  }

  void run(Values& values) const {  // with or without the GIL
    if (plan_) return plan_->run(values);
    pybind11::gil_scoped_acquire gil;
    c10::NoGradGuard no_grad;  // autograd and autocast had their say when the graph was traced
    c10::impl::ExcludeDispatchKeyGuard no_casts(c10::autocast_dispatch_keyset);
    THPObjectPtr list(list_of(values));
    THPObjectPtr outputs(PyObject_CallOneArg(object_.get(), list.get()));
    if (!outputs) throw_persistent();
    values.clear();
    for (Py_ssize_t i = 0; i < length(outputs.get()); i++)
      values.push_back(from_python(item(outputs.get(), i)));
  }

 private:
  std::shared_ptr<PyObject> object_;
  const Plan* plan_ = nullptr;
};

using Strides = std::optional<std::vector<int64_t>>;  // none: the tangent is undefined

inline bool lies_in(const Tensor& tensor, c10::IntArrayRef stride) {
  for (int64_t d = 0; d < tensor.dim(); d++)
    if (tensor.size(d) != 1 && tensor.stride(d) != stride[d]) return false;
  return true;
}

// The backward, which Python compiles for tangents of these strides when they first arrive.
class Backward {
 public:
  struct Ready {
    std::vector<Strides> asked, used;  // used: what tangents must be copied to
    Flat run;
    const Ready* next;
  };

  explicit Backward(PyObject* make) : make_(shared(make)) {}
  ~Backward() {
    for (const Ready* one = first_.load(); one;) delete std::exchange(one, one->next);
  }

  const Ready& of(const torch::autograd::variable_list& tangents) {
    const Ready* one = first_.load(std::memory_order_acquire);
    while (one && !fits(one->asked, tangents)) one = one->next;
    return one ? *one : make(tangents);
  }

 private:
  std::shared_ptr<PyObject> make_;
  std::atomic<const Ready*> first_{nullptr};  // grows under the GIL, is read without

  static bool fits(const std::vector<Strides>& asked,
                   const torch::autograd::variable_list& tangents) {
    for (size_t i = 0; i < tangents.size(); i++)
      if (tangents[i].defined() != asked[i].has_value() ||
          (asked[i] && !lies_in(tangents[i], *asked[i])))
        return false;
    return true;
  }

  const Ready& make(const torch::autograd::variable_list& tangents) {
    std::vector<Strides> asked;
    for (const Tensor& tangent : tangents)
      asked.push_back(tangent.defined() ? Strides(tangent.strides().vec()) : std::nullopt);
    pybind11::gil_scoped_acquire gil;
    pybind11::tuple layouts(asked.size());
    for (size_t i = 0; i < asked.size(); i++)
      if (asked[i]) layouts[i] = pybind11::tuple(pybind11::cast(*asked[i]));
      else layouts[i] = pybind11::none();
    THPObjectPtr made(PyObject_CallOneArg(make_.get(), layouts.ptr()));
    if (!made) throw_persistent();
    using Made = std::pair<std::vector<Strides>, pybind11::object>;
    auto [used, run] = pybind11::handle(made.get()).cast<Made>();
    auto* ready = new Ready{std::move(asked), std::move(used), Flat(run.ptr()), first_.load()};
    first_.store(ready, std::memory_order_release);
    return *ready;
  }
};

struct Description {  // a Signature of aot, see its fields there
  struct Argument {
    size_t index;
    int64_t numel;  // -1: the input itself
  };
  struct Output {
    enum Kind { Fresh, SameAsInput, ViewOfInput, ViewOfResult, Constant } kind;
    static constexpr const char* kKinds[] = {"Fresh", "SameAsInput", "ViewOfInput", "ViewOfResult",
                                             "Constant"};
    size_t index = 0;
    std::vector<int64_t> size, stride;
    int64_t offset = 0;
    bool detached = false;
    std::shared_ptr<PyObject> value = nullptr;

    static Kind kind_of(const std::string& type) {
      auto found = std::find(std::begin(kKinds), std::end(kKinds), type);
      TORCH_CHECK(found != std::end(kKinds), "an output is a ", type);
      return static_cast<Kind>(found - std::begin(kKinds));
    }
    bool is_input() const { return kind == SameAsInput || kind == ViewOfInput; }
    bool is_view() const { return kind == ViewOfInput || kind == ViewOfResult; }
  };
  struct Mutation {
    size_t index;
    int64_t result;
    bool versioned;
  };
  struct Saved {
    int64_t argument, result;
    bool checked, differentiable;
    std::vector<size_t> readers;
  };
  size_t inputs = 0;  // what is read of them
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<Mutation> mutations;
  std::vector<size_t> differentiable;
  std::vector<std::vector<size_t>> frees, inside;
  std::vector<bool> gradients;  // which arguments have one
  std::vector<Saved> saved;
  size_t symbols;
  std::unique_ptr<Backward> backward;
};

class CompiledBackward : public Node {
 public:
  struct Kept {
    SavedVariable checked;
    Tensor raw;
  };
  std::shared_ptr<const Description> about;
  bool all_checked = false;  // saved tensor hooks see everything
  std::vector<Kept> kept;
  std::vector<bool> spent;  // by tangent: what its way back reads is freed
  Values symbols;

  std::string name() const override { return "CompiledBackward"; }

  // Called by the engine once `apply` ran, which has freed what nobody may read any more.
  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(ran_, false)) kept.clear();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& tangents) override {
    std::lock_guard<std::mutex> lock(mutex_);
    torch::autograd::variable_list gradients(about->arguments.size());
    ran_ = !torch::autograd::get_current_graph_task_keep_graph();
    std::vector<bool> defined;
    for (const Tensor& tangent : tangents) {
      defined.push_back(tangent.defined());
      TORCH_CHECK_NOT_IMPLEMENTED(
          !tangent.defined() || tangent._is_zerotensor() || tangent.has_storage(),
          "minicompiler: a compiled graph has no batched gradient; call the function uncompiled");
      if (defined.back() && !plain(tangent)) tangents[defined.size() - 1] = tangent.clone();
    }
    if (std::find(defined.begin(), defined.end(), true) == defined.end()) return gradients;

    bool again = c10::GradMode::is_enabled();  // create_graph: somebody may differentiate us
    torch::autograd::edge_list above;
    if (again) above = torch::autograd::collect_next_edges(tangents);
    const Backward::Ready& backward = about->backward->of(tangents);
    Values values;
    take_saved(values, defined);
    values.append(symbols.begin(), symbols.end());
    for (size_t i = 0; i < tangents.size(); i++)
      values.push_back(defined[i] ? laid_out(std::move(tangents[i]), *backward.used[i]) : IValue());
    backward.run.run(values);

    TORCH_CHECK(values.size() == gradients.size(), "the backward returned ", values.size(),
                " gradients for ", gradients.size(), " arguments");
    for (size_t i = 0; i < gradients.size(); i++)
      if (values[i].isTensor()) gradients[i] = std::move(values[i]).toTensor();
    if (again) forbid_again(gradients, std::move(above));
    return gradients;
  }

 private:
  bool ran_ = false;

  static bool plain(const Tensor& tangent) {
    return !tangent.is_neg() && !tangent.is_conj() && !tangent._is_zerotensor();
  }

  static bool any(const std::vector<size_t>& tangents, const std::vector<bool>& of) {
    return std::any_of(tangents.begin(), tangents.end(), [&](size_t i) { return of[i]; });
  }

  // What is read on the way back of these tangents, in the order of the signature. What no other
  // tangent may still read is let go of, unless the graph is kept.
  void take_saved(Values& values, const std::vector<bool>& defined) {
    for (size_t i = 0; i < defined.size(); i++)
      TORCH_CHECK(!defined[i] || !spent[i], torch::autograd::ERR_BACKWARD_TWICE);
    for (size_t i = 0; ran_ && i < defined.size(); i++)
      for (size_t freed : about->frees[i])
        if (defined[i]) spent[freed] = true;
    for (size_t i = 0; i < about->saved.size(); i++) {
      const auto& one = about->saved[i];
      bool read = any(one.readers, defined), tensor = one.checked || all_checked;
      values.push_back(!read ? IValue() : tensor ? kept[i].checked.unpack(pointer_to(this))
                                                 : kept[i].raw);
      auto is_spent = [&](size_t reader) { return spent[reader]; };
      if (ran_ && std::all_of(one.readers.begin(), one.readers.end(), is_spent)) kept[i] = {};
    }
  }

  // The tangent in the strides that the backward was compiled for.
  static Tensor laid_out(Tensor tangent, c10::IntArrayRef stride) {
    if (lies_in(tangent, stride)) return tangent;
    c10::NoGradGuard no_grad;
    return at::empty_strided(tangent.sizes(), stride, tangent.options()).copy_(tangent);
  }

  void forbid_again(std::vector<Tensor>& gradients, torch::autograd::edge_list&& edges) const {
    edges.insert(edges.end(), next_edges().begin(), next_edges().end());
    bool reached = std::any_of(edges.begin(), edges.end(), [](auto& e) { return e.is_valid(); });
    if (!reached) return;
    NodePtr error = make_node(new torch::autograd::Error(
        "minicompiler: the gradient of a compiled graph has no gradient of its own; call the "
        "function uncompiled where create_graph=True is needed",
        std::move(edges)));
    for (Tensor& gradient : gradients) {
      if (!gradient.defined()) continue;
      if (gradient.requires_grad()) gradient = gradient.detach();
      torch::autograd::create_gradient_edge(gradient, error);
    }
  }
};

class Function {
 public:
  static constexpr const char* kName = "minicompiler.Function";
  static constexpr const char* kDoc =
      "Function(signature, forward, backward)(*inputs) -> tuple of outputs.\n"
      "Raises TypeError for a signature with symbolic sizes.";

  static std::unique_ptr<Function> make(PyObject* args) {
    PyObject *signature, *forward, *backward;
    if (!PyArg_ParseTuple(args, "OOO", &signature, &forward, &backward))
      throw python_error();
    auto made = std::make_unique<Function>();
    made->about_ = read(signature);
    made->forward_ = std::make_unique<Flat>(forward);
    made->about_->backward = std::make_unique<Backward>(backward);
    return made;
  }

  PyObject* call(PyObject* const* args, size_t count) {
    const Description& about = *about_;
    TORCH_CHECK_TYPE(count >= about.inputs, "a compiled graph of at least ", about.inputs,
                     " inputs was called with ", count);
    Values values;
    for (const auto& argument : about.arguments) {
      values.push_back(from_python(args[argument.index]));
      if (argument.numel >= 0) {
        const Tensor& input = values.back().toTensor();
        values.back() = view_of(input, argument.numel, {1}, 0, input.scalar_type());
      }
    }
    auto node = differentiated(values);
    c10::SmallVector<Tensor, 8> kept;
    if (node)
      for (const auto& saved : about.saved)
        kept.push_back(saved.argument >= 0 ? values[saved.argument].toTensor() : Tensor());
    forward_->run(values);
    if (node) attach(node, values, kept);
    for (const auto& mutation : about.mutations) finish(mutation, args, values);
    return outputs(args, values);
  }

 private:
  std::shared_ptr<Description> about_;
  std::unique_ptr<Flat> forward_;

  // The node of this call, with its way on; null where nothing requires grad.
  decltype(make_node(std::declval<CompiledBackward*>())) differentiated(const Values& values) {
    if (about_->differentiable.empty() || !c10::GradMode::is_enabled()) return {};
    torch::autograd::edge_list edges;
    edges.reserve(about_->arguments.size());
    bool any = false;
    for (size_t i = 0; i < about_->arguments.size(); i++) {
      edges.emplace_back();
      if (!about_->gradients[i] || !values[i].isTensor()) continue;
      const Tensor& tensor = values[i].toTensor();
      if (!tensor.requires_grad()) continue;
      edges.back() = torch::autograd::impl::gradient_edge(tensor);
      any = true;
    }
    if (!any) return {};
    auto node = make_node(new CompiledBackward());
    node->set_next_edges(std::move(edges));
    node->about = about_;
    return node;
  }

  template <class Pointer>
  void attach(const Pointer& node, Values& results, c10::ArrayRef<Tensor> kept) {
    for (size_t index : about_->differentiable) {
      Tensor result = results[index].toTensor();
      if (result.requires_grad()) result = result.detach();  // an operator gave back what it got
      torch::autograd::create_gradient_edge(result, node);
      results[index] = result;
    }
    node->all_checked = at::SavedTensorDefaultHooks::get_hooks().has_value();
    node->spent.resize(about_->differentiable.size());
    node->kept.resize(kept.size());
    for (size_t i = 0; i < kept.size(); i++) {
      const auto& saved = about_->saved[i];
      const Tensor& tensor = saved.argument >= 0 ? kept[i] : results[saved.result].toTensor();
      if (saved.checked || node->all_checked)
        node->kept[i].checked = SavedVariable(tensor, saved.differentiable);
      else
        node->kept[i].raw = tensor;
    }
    node->symbols.append(results.end() - about_->symbols, results.end());
  }

  static void finish(const Description::Mutation& mutation, PyObject* const* args,
                     const Values& results) {
    const Tensor& input = THPVariable_Unpack(args[mutation.index]);
    if (mutation.result >= 0) {
      pybind11::gil_scoped_release no_gil;
      input.copy_(results[mutation.result].toTensor());
    } else if (mutation.versioned && !input.is_inference()) {
      input.unsafeGetTensorImpl()->bump_version();
    }
  }

  PyObject* outputs(PyObject* const* args, const Values& results) const {
    THPObjectPtr tuple(PyTuple_New(static_cast<Py_ssize_t>(about_->outputs.size())));
    if (!tuple) throw python_error();
    Py_ssize_t i = 0;
    for (const auto& output : about_->outputs) {
      PyObject* made = nullptr;
      switch (output.kind) {
        case Description::Output::Fresh: made = to_python(IValue(results[output.index])); break;
        case Description::Output::SameAsInput: made = Py_NewRef(args[output.index]); break;
        case Description::Output::Constant: made = Py_NewRef(output.value.get()); break;
        case Description::Output::ViewOfInput:
          made = THPVariable_Wrap(view(THPVariable_Unpack(args[output.index]), output));
          break;
        case Description::Output::ViewOfResult:
          made = THPVariable_Wrap(view(results[output.index].toTensor(), output));
      }
      if (!made) throw python_error();
      PyTuple_SET_ITEM(tuple.get(), i++, made);
    }
    return tuple.release();
  }

  static Tensor view(const Tensor& whole, const Description::Output& output) {
    Tensor base = output.detached ? whole.detach() : whole;
    return base.as_strided(output.size, output.stride, base.storage_offset() + output.offset);
  }

  // ---- reading

  static std::shared_ptr<Description> read(PyObject* signature) {
    auto about = std::make_shared<Description>();
    auto of = [&](const char* name, auto read) {
      return each(attribute(signature, name).get(), read);
    };
    auto number = [](PyObject* o, const char* name) {
      THPObjectPtr found = attribute(o, name);
      return found.get() == Py_None ? int64_t(-1) : integer(found.get());
    };
    auto ints = [](PyObject* o, const char* name) {
      return each(attribute(o, name).get(), integer);
    };
    auto input = [&](PyObject* o) {
      size_t index = number(o, "index");
      about->inputs = std::max(about->inputs, index + 1);
      return index;
    };
    about->differentiable = of("differentiable", position);
    about->symbols = of("symbols", [](PyObject* o) { return o; }).size();
    auto positions = [](PyObject* o) { return each(o, position); };
    about->frees = of("frees", positions);
    about->inside = of("inside", positions);
    about->gradients = of("gradients", [](PyObject* o) { return o == Py_True; });
    about->arguments = of("arguments", [&](PyObject* o) {
      bool memory = PyObject_HasAttrString(o, "numel");
      return Description::Argument{input(o), memory ? number(o, "numel") : -1};
    });
    about->mutations = of("mutations", [&](PyObject* o) {
      return Description::Mutation{input(o), number(o, "result"), number(o, "versioned") == 1};
    });
    about->saved = of("saved", [&](PyObject* o) {
      Description::Saved one{number(o, "argument"), number(o, "result"), number(o, "checked") == 1};
      one.readers = each(attribute(o, "readers").get(), position);
      const auto& outs = about->differentiable;
      one.differentiable = std::find(outs.begin(), outs.end(), size_t(one.result)) != outs.end();
      one.checked |= one.differentiable;  // kept raw it would keep its own node alive
      return one;
    });
    about->outputs = of("outputs", [&](PyObject* o) {
      Description::Output made{Description::Output::kind_of(Py_TYPE(o)->tp_name)};
      if (made.kind == Description::Output::Constant) {
        made.value = shared(attribute(o, "value").get());
        return made;
      }
      made.index = made.is_input() ? input(o) : number(o, "index");
      if (made.is_view()) {
        made.size = ints(o, "size");
        made.stride = ints(o, "stride");
        made.offset = number(o, "offset");
        made.detached = number(o, "detached") == 1;
      }
      return made;
    });
    return about;
  }
};

}  // namespace minicompiler
