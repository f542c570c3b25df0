// The rows of tensor guards: what capture assumed of tensors, checked without touching Python.

namespace minicompiler {

// A row is (type, dtype, device index or None, size, strides or None for a tensor that has none,
// requires_grad, dispatch keys).
class TensorGuard {
 public:
  static constexpr const char* kName = "minicompiler.TensorGuard";
  static constexpr const char* kDoc =
      "TensorGuard(rows)(*tensors) -> bool: does every row hold of the tensor at its place?";

  static std::unique_ptr<TensorGuard> make(PyObject* args) {
    auto [rows] = as<std::tuple<py::list>>(args);
    auto guard = std::make_unique<TensorGuard>();
    guard->rows_ = each(rows, row);
    return guard;
  }

  PyObject* call(PyObject* const* args, size_t count) const {
    if (count == 1 && rows_.size() != 1 && PyTuple_CheckExact(args[0])) {
      count = PyTuple_GET_SIZE(args[0]);
      args = PySequence_Fast_ITEMS(args[0]);
    }
    bool all = count == rows_.size();
    for (size_t i = 0; all && i < count; i++) all = holds(rows_[i], args[i]);
    return PyBool_FromLong(all);
  }

 private:
  using Row = std::tuple<py::type, at::ScalarType, std::optional<c10::DeviceIndex>, Ints,
                         std::optional<Ints>, bool, uint64_t>;
  std::vector<Row> rows_;

  static bool holds(const Row& row, PyObject* object) {
    const auto& [type, dtype, device, size, stride, requires_grad, keys] = row;
    if (reinterpret_cast<const PyObject*>(Py_TYPE(object)) != type.ptr()) return false;
    const Tensor& tensor = THPVariable_Unpack(object);
    if (!tensor.defined()) return false;
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    // keys first: sizes of nested or functorch tensors may not even be asked for
    if (impl.key_set().raw_repr() != keys || tensor.scalar_type() != dtype) return false;
    if (device && tensor.device().index() != *device) return false;
    if (!equal(tensor.sizes(), size)) return false;
    // read past virtual functions: a model has hundreds of parameters
    auto* meta = static_cast<torch::autograd::AutogradMeta*>(impl.autograd_meta());
    if ((meta && (meta->requires_grad_ || meta->grad_fn_)) != requires_grad) return false;
    if (requires_grad && meta->is_view_ && made_without_gradients(tensor)) return false;
    return !stride || equal(tensor.strides(), *stride);
  }

  // a few numbers: to call memcmp takes longer than this
  static bool equal(at::IntArrayRef found, const Ints& expected) {
    bool same = found.size() == expected.size();
    for (size_t i = 0; same && i < found.size(); i++) same = found[i] == expected[i];
    return same;
  }

  // a view of what requires grad: which of its uses raise depends on what was written since
  static bool made_without_gradients(const Tensor& tensor) {
    auto* meta = torch::autograd::impl::get_view_autograd_meta(tensor);
    return meta != nullptr && meta->has_bw_view() &&
           meta->get_creation_meta() >= torch::autograd::CreationMeta::NO_GRAD_MODE &&
           meta->get_backward_view().base_.requires_grad();
  }

  static Row row(PyObject* given) {
    Row made = as<Row>(given);
    auto* type = reinterpret_cast<PyTypeObject*>(std::get<0>(made).ptr());
    bool fits = PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(THPVariableClass));
    TORCH_CHECK_TYPE(fits, "a row begins with a class of tensors");
    return made;
  }
};

// What can be looked at before anything else of a call: does each question about ambient state,
// (call, answer), still have its answer, and does a TensorGuard hold of the arguments at `places`?
class FrameGuard {
 public:
  static constexpr const char* kName = "minicompiler.FrameGuard";
  static constexpr const char* kDoc = "FrameGuard(questions, places, TensorGuard)(*vector) -> bool";

  static std::unique_ptr<FrameGuard> make(PyObject* args) {
    auto guard = std::make_unique<FrameGuard>();
    std::tie(guard->state_, guard->places_, guard->tensors_) =
        as<std::tuple<std::vector<std::pair<py::object, py::object>>, std::vector<size_t>,
                      py::object>>(args);
    return guard;
  }

  PyObject* call(PyObject* const* args, size_t count) const {
    for (const auto& [call, answer] : state_) {
      auto now = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(call.ptr()));
      if (!now) return nullptr;
      if (now.ptr() != answer.ptr() && !now.equal(answer)) Py_RETURN_FALSE;
    }
    c10::SmallVector<PyObject*, 64> tensors;
    for (size_t place : places_) tensors.push_back(args[place]);
    return PyObject_Vectorcall(tensors_.ptr(), tensors.data(), tensors.size(), nullptr);
  }

 private:
  std::vector<std::pair<py::object, py::object>> state_;
  std::vector<size_t> places_;
  py::object tensors_;
};

}  // namespace minicompiler
