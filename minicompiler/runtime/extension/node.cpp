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

// A flat callable: the extension's own Plan, else whatever Python has (list -> list).
class Flat {
 public:
  explicit Flat(PyObject* object) { set(object); }

  void run(Values& values) {  // with or without the GIL
    if (plan_) return plan_->run(values);
    pybind11::gil_scoped_acquire gil;
    c10::NoGradGuard no_grad;  // autograd and autocast had their say when the graph was traced
    c10::impl::ExcludeDispatchKeyGuard no_casts(c10::autocast_dispatch_keyset);
    THPObjectPtr list(PyList_New(static_cast<Py_ssize_t>(values.size())));
    if (!list) throw python_error();
    for (size_t i = 0; i < values.size(); i++) {
      PyObject* value = to_python(std::move(values[i]));
      if (!value) throw python_error();
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), value);
    }
    values.clear();
    THPObjectPtr outputs(PyObject_CallOneArg(object_.get(), list.get()));
    if (!outputs) throw_persistent();
    for (Py_ssize_t i = 0; i < length(outputs.get()); i++)
      values.push_back(from_python(item(outputs.get(), i)));
    // compiled at its first call: from now on without the way through Python
    THPObjectPtr made(PyObject_GetAttrString(object_.get(), "made"));
    if (!made) PyErr_Clear();
    if (made && Callable<Plan>::is(made.get())) set(made.get());
  }

 private:
  std::shared_ptr<PyObject> object_;
  Plan* plan_ = nullptr;

  void set(PyObject* object) {
    if (Callable<Plan>::is(object)) plan_ = reinterpret_cast<Callable<Plan>*>(object)->self;
    object_ = shared(object);
  }

  [[noreturn]] static void throw_persistent() {
    python_error error;
    error.persist();  // it may cross threads of the autograd engine
    throw error;
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
  };
  struct Tangent {
    std::vector<int64_t> size, stride;
  };
  size_t inputs = 0;  // what is read of them
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<Mutation> mutations;
  std::vector<size_t> differentiable;
  std::vector<Tangent> tangents;
  std::vector<std::vector<size_t>> gradients;  // of each argument; none: it has no gradient
  std::vector<Saved> saved;
  size_t symbols;
  std::unique_ptr<Flat> backward;
};

class CompiledBackward : public Node {
 public:
  std::shared_ptr<const Description> about;
  bool all_checked = false;  // saved tensor hooks see everything
  std::vector<SavedVariable> checked;
  std::vector<Tensor> raw;
  Values symbols;

  std::string name() const override { return "CompiledBackward"; }

  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    release();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& tangents) override {
    std::lock_guard<std::mutex> lock(mutex_);
    torch::autograd::variable_list gradients(about->arguments.size());
    std::vector<bool> defined;
    for (const Tensor& tangent : tangents) defined.push_back(tangent.defined());
    if (std::find(defined.begin(), defined.end(), true) == defined.end()) return gradients;
    TORCH_CHECK(!released_ || about->saved.empty(), torch::autograd::ERR_BACKWARD_TWICE);

    bool again = c10::GradMode::is_enabled();  // create_graph: somebody may differentiate us
    torch::autograd::edge_list above;
    if (again) above = torch::autograd::collect_next_edges(tangents);
    Values values;
    saved(values, torch::autograd::get_current_graph_task_keep_graph());
    values.append(symbols.begin(), symbols.end());
    for (size_t i = 0; i < tangents.size(); i++)
      values.push_back(fitting(std::move(tangents[i]), i));
    about->backward->run(values);

    TORCH_CHECK(values.size() == gradients.size(), "the backward returned ", values.size(),
                " gradients for ", gradients.size(), " arguments");
    for (size_t i = 0; i < gradients.size(); i++) {
      bool wanted = false;
      for (size_t tangent : about->gradients[i]) wanted |= defined[tangent];
      if (wanted && values[i].isTensor()) gradients[i] = std::move(values[i]).toTensor();
    }
    if (again) forbid_again(gradients, std::move(above));
    return gradients;
  }

 private:
  bool released_ = false;

  void release() {
    released_ = true;
    checked.clear();
    raw.clear();
  }

  // What was saved, in the order of the signature; let go of unless the graph is kept.
  void saved(Values& values, bool keep) {
    size_t next_checked = 0, next_raw = 0;
    for (const auto& one : about->saved) {
      if (one.checked || all_checked)
        values.push_back(checked[next_checked++].unpack(pointer_to(this)));
      else
        values.push_back(keep ? raw[next_raw++] : std::move(raw[next_raw++]));
    }
    if (!keep) release();
  }

  // The tangent in the layout that the backward was compiled for.
  Tensor fitting(Tensor tangent, size_t i) const {
    const auto& [size, stride] = about->tangents[i];
    auto options = input_metadata(i).options();
    if (!tangent.defined()) return at::empty_strided(size, stride, options).zero_();
    TORCH_CHECK(tangent.layout() == at::kStrided && tangent.sizes() == size, "a gradient of shape ",
                tangent.sizes(), " arrived where the compiled backward expects ", size);
    bool fits = !tangent.is_neg() && !tangent.is_conj() && !tangent._is_zerotensor();
    for (size_t d = 0; fits && d < size.size(); d++)
      fits = size[d] == 1 || tangent.stride(d) == stride[d];
    if (fits) return tangent;
    c10::NoGradGuard no_grad;
    return at::empty_strided(size, stride, tangent.options()).copy_(tangent);
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
    made->about_->backward = std::make_unique<Flat>(backward);
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
      if (about_->gradients[i].empty() || !values[i].isTensor()) continue;
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
    node->checked.reserve(kept.size());
    node->raw.reserve(kept.size());
    for (size_t i = 0; i < kept.size(); i++) {
      const auto& saved = about_->saved[i];
      const Tensor& tensor = saved.argument >= 0 ? kept[i] : results[saved.result].toTensor();
      if (saved.checked || node->all_checked)
        node->checked.emplace_back(tensor, saved.differentiable);
      else
        node->raw.push_back(tensor);
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
    about->gradients = of("gradients", [](PyObject* needs) {
      return needs == Py_None ? std::vector<size_t>() : each(needs, position);
    });
    about->arguments = of("arguments", [&](PyObject* o) {
      bool memory = PyObject_HasAttrString(o, "numel");
      return Description::Argument{input(o), memory ? number(o, "numel") : -1};
    });
    about->mutations = of("mutations", [&](PyObject* o) {
      return Description::Mutation{input(o), number(o, "result"), number(o, "versioned") == 1};
    });
    about->tangents = of("tangents", [&](PyObject* o) {
      return Description::Tangent{ints(o, "size"), ints(o, "stride")};
    });
    about->saved = of("saved", [&](PyObject* o) {
      Description::Saved one{number(o, "argument"), number(o, "result"), number(o, "checked") == 1};
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
