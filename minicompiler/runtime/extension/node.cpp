// A compiled graph as autograd sees it: a function whose node runs the compiled backward.
// Its Python twin, with the same order of things, is runtime/autograd.py.

namespace minicompiler {

using autograd::Node;
using autograd::SavedVariable;
using NodePtr = decltype(autograd::Edge::function);  // shared_ptr, or intrusive since 2.12
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
            py::gil_scoped_acquire gil;
            Py_DECREF(o);
          }};
}

// A flat callable: the extension's own Plan, else whatever Python has (list -> list).
class Flat {
 public:
  explicit Flat(PyObject* object) : object_(shared(object)) {
    if (Callable<Plan>::is(object)) plan_ = reinterpret_cast<Callable<Plan>*>(object)->self;
  }

  void run(Values& values) const {  // with or without the GIL
    if (plan_) return plan_->run(values);
    py::gil_scoped_acquire gil;
    c10::NoGradGuard no_grad;  // autograd and autocast had their say when the graph was traced
    c10::impl::ExcludeDispatchKeyGuard no_casts(c10::autocast_dispatch_keyset);
    py::list outputs = py::handle(object_.get())(list_of(std::move(values)));
    values.clear();
    for (py::handle output : outputs) values.push_back(from_python(output.ptr()));
  }

 private:
  std::shared_ptr<PyObject> object_;
  const Plan* plan_ = nullptr;
};

using Strides = std::optional<std::vector<int64_t>>;  // none: the tangent is undefined

// The backward, which Python compiles for tangents of these strides when they first arrive.
class Backward {
 public:
  static constexpr size_t kKnown = 64;  // of one graph; for others Python is asked every time
  struct Ready {
    std::vector<Strides> asked, used;  // used: what tangents must be copied to
    Flat run;
  };
  using Pointer = std::shared_ptr<const Ready>;

  explicit Backward(PyObject* make) : make_(shared(make)) {}

  Pointer of(const autograd::variable_list& tangents) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const Pointer& one : known_)
        if (fits(one->asked, tangents)) return one;
    }
    return make(tangents);
  }

 private:
  std::shared_ptr<PyObject> make_;
  std::mutex mutex_;  // never held while waiting for the GIL
  std::vector<Pointer> known_;

  static bool fits(const std::vector<Strides>& asked, const autograd::variable_list& tangents) {
    for (size_t i = 0; i < tangents.size(); i++)
      if (tangents[i].defined() != asked[i].has_value() ||
          (asked[i] && !lies_in(tangents[i], *asked[i])))
        return false;
    return true;
  }

  Pointer make(const autograd::variable_list& tangents) {
    std::vector<Strides> asked;
    for (const Tensor& tangent : tangents)
      asked.push_back(tangent.defined() ? Strides(tangent.strides().vec()) : std::nullopt);
    py::gil_scoped_acquire gil;
    py::tuple layouts(asked.size());
    for (size_t i = 0; i < asked.size(); i++)
      layouts[i] = asked[i] ? py::object(py::tuple(py::cast(*asked[i]))) : py::none();
    using Made = std::pair<std::vector<Strides>, py::object>;
    auto [used, run] = as<Made>(py::handle(make_.get())(layouts));
    auto ready = std::make_shared<Ready>(Ready{std::move(asked), std::move(used), Flat(run.ptr())});
    std::lock_guard<std::mutex> lock(mutex_);
    if (known_.size() < kKnown) known_.push_back(ready);
    return ready;
  }
};

struct Description {  // a Signature of aot, see its fields there
  struct Place {  // an argument of the forward, or an output of the function
    enum Kind { Input, Result, Other } kind;  // Other: Python says what it is
    size_t index;
    std::shared_ptr<PyObject> about;
  };
  struct Mutation {
    size_t index;
    std::optional<size_t> result;
    int64_t versions;
  };
  struct Saved {
    std::optional<size_t> argument, result;
    bool checked, differentiable;
    std::set<size_t> readers;
  };
  std::vector<Place> arguments, outputs;
  std::vector<Mutation> mutations;
  std::vector<size_t> differentiable;
  std::vector<std::set<size_t>> frees, inside, gradients;
  std::vector<Saved> saved;
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

  std::string name() const override { return "CompiledBackward"; }

  // Called by the engine once `apply` ran, which has freed what nobody may read any more.
  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(ran_, false)) kept.clear();
  }

  autograd::variable_list apply(autograd::variable_list&& tangents) override {
    std::lock_guard<std::mutex> lock(mutex_);
    autograd::variable_list gradients(about->arguments.size());
    ran_ = !autograd::get_current_graph_task_keep_graph();
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
    autograd::edge_list above;
    if (again) above = autograd::collect_next_edges(tangents);
    Backward::Pointer backward = about->backward->of(tangents);
    Values values;
    take_saved(values, defined);
    for (size_t i = 0; i < tangents.size(); i++) {
      if (defined[i]) tangents[i] = laid_out(std::move(tangents[i]), *backward->used[i]);
      values.push_back(defined[i] ? IValue(std::move(tangents[i])) : IValue());
    }
    backward->run.run(values);

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

  static bool any(const std::set<size_t>& tangents, const std::vector<bool>& of) {
    return std::any_of(tangents.begin(), tangents.end(), [&](size_t i) { return of[i]; });
  }

  // What is read on the way back of these tangents, in the order of the signature. What no other
  // tangent may still read is let go of, unless the graph is kept.
  void take_saved(Values& values, const std::vector<bool>& defined) {
    for (size_t i = 0; i < defined.size(); i++)
      TORCH_CHECK(!defined[i] || !spent[i], autograd::ERR_BACKWARD_TWICE);
    TORCH_CHECK(kept.size() == about->saved.size(), autograd::ERR_BACKWARD_TWICE);
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

  void forbid_again(std::vector<Tensor>& gradients, autograd::edge_list&& edges) const {
    edges.insert(edges.end(), next_edges().begin(), next_edges().end());
    bool reached = std::any_of(edges.begin(), edges.end(), [](auto& e) { return e.is_valid(); });
    if (!reached) return;
    NodePtr error = make_node(new autograd::Error(
        "minicompiler: the gradient of a compiled graph has no gradient of its own; call the "
        "function uncompiled where create_graph=True is needed",
        std::move(edges)));
    for (Tensor& gradient : gradients) {
      if (!gradient.defined()) continue;
      if (gradient.requires_grad()) gradient = gradient.detach();
      autograd::create_gradient_edge(gradient, error);
    }
  }
};

// Where other outputs of the graph are made of this one, its gradient is not known outside of the
// compiled backward: whoever wants it is told so, rather than given a part of it.
struct Watch : autograd::FunctionPreHook {
  CompiledBackward& node;  // which owns it

  explicit Watch(CompiledBackward& node) : node(node) {}

  autograd::variable_list operator()(const autograd::variable_list& tangents) override {
    using Hook = autograd::PyFunctionTensorPreHook;
    auto reached = [&](size_t i) { return tangents[i].defined(); };
    for (size_t i = 0; i < tangents.size(); i++) {
      const auto& others = node.about->inside[i];
      if (std::none_of(others.begin(), others.end(), reached)) continue;
      bool wanted = node.retains_grad_hooks().count(i);
      for (const auto& hook : node.tensor_pre_hooks())
        wanted |= std::strstr(typeid(*hook).name(), "PyFunctionTensorPreHook") &&
                  static_cast<const Hook&>(*hook).value_idx == i;
      const auto* tasks = autograd::get_current_graph_task_exec_info();
      auto task = tasks->find(&node);
      if (task != tasks->end() && task->second.captures_)
        for (const auto& capture : *task->second.captures_) wanted |= capture.input_idx_ == int(i);
      TORCH_CHECK_NOT_IMPLEMENTED(
          !wanted, "minicompiler: an output's gradient is wanted (a hook, retain_grad, "
          "autograd.grad), and other outputs of the same compiled graph were computed from it; "
          "call the function uncompiled");
    }
    return tangents;
  }
};

class Function {
 public:
  static constexpr const char* kName = "minicompiler.Function";
  static constexpr const char* kDoc =
      "Function(signature, forward, backward)(*inputs) -> tuple of outputs.";

  static std::unique_ptr<Function> make(PyObject* args) {
    auto [signature, forward, backward] =
        as<std::tuple<py::object, py::object, py::object>>(args);
    auto made = std::make_unique<Function>();
    made->about_ = read(signature);
    made->forward_ = std::make_unique<Flat>(forward.ptr());
    made->about_->backward = std::make_unique<Backward>(backward.ptr());
    return made;
  }

  PyObject* call(PyObject* const* args, size_t count) {
    const Description& about = *about_;
    c10::ArrayRef<PyObject*> inputs(args, count);
    Values values;
    for (const auto& argument : about.arguments) {
      if (argument.kind == Description::Place::Input)
        values.push_back(from_python(inputs.at(argument.index)));
      else
        values.push_back(from_python(said(argument, "take", tuple_of(inputs)).ptr()));
    }
    auto node = differentiated(values);
    c10::SmallVector<Tensor, 8> kept;
    if (node)
      for (const auto& saved : about.saved)
        kept.push_back(saved.argument ? values[*saved.argument].toTensor() : Tensor());
    forward_->run(values);
    if (node) attach(node, values, kept);
    for (const auto& mutation : about.mutations) finish(mutation, inputs, values);
    return outputs(inputs, values);
  }

 private:
  std::shared_ptr<Description> about_;
  std::unique_ptr<Flat> forward_;

  // The node of this call, with its way on; null where nothing requires grad.
  decltype(make_node(std::declval<CompiledBackward*>())) differentiated(const Values& values) {
    if (about_->differentiable.empty() || !c10::GradMode::is_enabled()) return {};
    autograd::edge_list edges(about_->arguments.size());
    bool any = false;
    for (size_t i = 0; i < edges.size(); i++) {
      if (!values[i].isTensor() || !values[i].toTensor().requires_grad()) continue;
      any = true;
      if (about_->gradients[i].empty()) continue;
      edges[i] = autograd::impl::gradient_edge(values[i].toTensor());
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
      autograd::create_gradient_edge(result, node);
      results[index] = result;
    }
    node->all_checked = at::SavedTensorDefaultHooks::get_hooks().has_value();
    node->spent.resize(about_->differentiable.size());
    node->kept.resize(kept.size());
    for (size_t i = 0; i < kept.size(); i++) {
      const auto& saved = about_->saved[i];
      const Tensor& tensor = saved.argument ? kept[i] : results[*saved.result].toTensor();
      if (saved.checked || node->all_checked)
        node->kept[i].checked = SavedVariable(tensor, saved.differentiable);
      else
        node->kept[i].raw = tensor;
    }
    const auto& inside = about_->inside;
    if (std::any_of(inside.begin(), inside.end(), [](auto& others) { return !others.empty(); }))
      node->add_tensor_pre_hook(std::make_unique<Watch>(*node));
  }

  static void finish(const Description::Mutation& mutation, c10::ArrayRef<PyObject*> inputs,
                     const Values& results) {
    const Tensor& input = THPVariable_Unpack(inputs.at(mutation.index));
    if (mutation.result) {
      py::gil_scoped_release no_gil;
      input.copy_(results[*mutation.result].toTensor());
    }
    for (int64_t n = input.is_inference() ? 0 : mutation.versions; n > 0; n--)
      input.unsafeGetTensorImpl()->bump_version();
  }

  PyObject* outputs(c10::ArrayRef<PyObject*> inputs, const Values& results) const {
    py::tuple tuple(about_->outputs.size());
    size_t i = 0;
    py::object list;  // of the results, as Python wants them for the rarer kinds of outputs
    for (const auto& output : about_->outputs) {
      if (output.kind == Description::Place::Result) {
        tuple[i++] = torch::jit::toPyObject(results[output.index]);
      } else if (output.kind == Description::Place::Input) {
        tuple[i++] = py::handle(inputs.at(output.index));
      } else {
        if (!list) list = list_of(Values(results));
        tuple[i++] = said(output, "make", list, tuple_of(inputs));
      }
    }
    return tuple.release().ptr();
  }

  template <class... Args>
  static py::object said(const Description::Place& place, const char* method, Args... args) {
    return py::handle(place.about.get()).attr(method)(args...);
  }

  static py::tuple tuple_of(c10::ArrayRef<PyObject*> inputs) {
    py::tuple tuple(inputs.size());
    for (size_t i = 0; i < inputs.size(); i++) tuple[i] = py::handle(inputs[i]);
    return tuple;
  }

  // ---- reading

  static Description::Place place(py::handle object) {
    using Place = Description::Place;
    std::string name = Py_TYPE(object.ptr())->tp_name;
    bool result = name == "Fresh", input = name == "Input";
    if (!result && !input) return {Place::Other, 0, shared(object.ptr())};
    return {result ? Place::Result : Place::Input, as<size_t>(object.attr("index")), {}};
  }

  static std::shared_ptr<Description> read(py::handle signature) {
    using Index = std::optional<size_t>;
    using Sets = std::vector<std::set<size_t>>;
    auto about = std::make_shared<Description>();
    about->differentiable = as<std::vector<size_t>>(signature.attr("differentiable"));
    about->frees = as<Sets>(signature.attr("frees"));
    about->inside = as<Sets>(signature.attr("inside"));
    about->gradients = as<Sets>(signature.attr("gradients"));
    about->arguments = each(signature.attr("arguments"), place);
    about->outputs = each(signature.attr("outputs"), place);
    about->mutations = each(signature.attr("mutations"), [](py::handle o) {
      return Description::Mutation{as<size_t>(o.attr("index")), as<Index>(o.attr("result")),
                                   as<int64_t>(o.attr("versions"))};
    });
    about->saved = each(signature.attr("saved"), [&](py::handle o) {
      Description::Saved one{as<Index>(o.attr("argument")), as<Index>(o.attr("result"))};
      const auto& outs = about->differentiable;
      auto is_result = [&](size_t out) { return one.result == out; };
      one.differentiable = std::any_of(outs.begin(), outs.end(), is_result);
      // kept raw an output would keep its own node alive
      one.checked = one.differentiable || as<bool>(o.attr("checked"));
      one.readers = as<std::set<size_t>>(o.attr("readers"));
      return one;
    });
    return about;
  }
};

}  // namespace minicompiler
