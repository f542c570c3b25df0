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
    for (const auto& given : rows) guard->add(given.ptr());
    return guard;
  }

  PyObject* call(PyObject* const* args, size_t count) const {
    if (count == 1 && rows_.size() != 1 && PyTuple_CheckExact(args[0])) {
      count = PyTuple_GET_SIZE(args[0]);
      args = PySequence_Fast_ITEMS(args[0]);
    }
    bool all = count == rows_.size();
    const int64_t* numbers = numbers_.data();
    for (size_t i = 0; all && i < count; i++) all = holds(rows_[i], args[i], numbers);
    return PyBool_FromLong(all);
  }

 private:
  // a model has hundreds of parameters: a row is small, and what it says of sizes and strides
  // stands in one array, in the order in which it is read
  struct Row {
    py::type type;
    uint64_t keys;
    std::optional<c10::DeviceIndex> device;
    caffe2::TypeMeta dtype;
    bool requires_grad, strided;
    size_t dims;
  };
  std::vector<Row> rows_;
  std::vector<int64_t> numbers_;

  static bool holds(const Row& row, PyObject* object, const int64_t*& numbers) {
    if (reinterpret_cast<const PyObject*>(Py_TYPE(object)) != row.type.ptr()) return false;
    const Tensor& tensor = THPVariable_Unpack(object);
    if (!tensor.defined()) return false;
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    // keys first: sizes of nested or functorch tensors may not even be asked for
    if (impl.key_set().raw_repr() != row.keys || impl.dtype() != row.dtype) return false;
    if (row.device && impl.device().index() != *row.device) return false;
    if (static_cast<size_t>(impl.dim()) != row.dims || !equal(impl.sizes(), numbers)) return false;
    if (row.strided && !equal(impl.strides(), numbers)) return false;
    auto* meta = static_cast<autograd::AutogradMeta*>(impl.autograd_meta());
    if (meta && meta->fw_grad_) return false;
    bool requires_grad = meta && (meta->requires_grad_ || meta->grad_fn_ || // a view asks its base
                                  (meta->is_view_ && meta->requires_grad()));
    if (requires_grad != row.requires_grad) return false;
    return !requires_grad || !meta->is_view_ || !made_without_gradients(tensor);
  }

  // no memcmp: to call it for a few numbers takes longer than to compare them
  static bool equal(at::IntArrayRef found, const int64_t*& expected) {
    for (int64_t number : found)
      if (number != *expected++) return false;
    return true;
  }

  // a view of what requires grad: which of its uses raise depends on what was written since
  static bool made_without_gradients(const Tensor& tensor) {
    auto* meta = autograd::impl::get_view_autograd_meta(tensor);
    return meta != nullptr && meta->has_bw_view() &&
           meta->get_creation_meta() >= autograd::CreationMeta::NO_GRAD_MODE &&
           meta->get_backward_view().base_.requires_grad();
  }

  void add(PyObject* given) {
    auto [type, dtype, device, size, stride, requires_grad, keys] =
        as<std::tuple<py::type, at::ScalarType, std::optional<c10::DeviceIndex>, Ints,
                      std::optional<Ints>, bool, uint64_t>>(given);
    bool fits = PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()),
                                 reinterpret_cast<PyTypeObject*>(THPVariableClass));
    TORCH_CHECK_TYPE(fits, "a row begins with a class of tensors");
    rows_.push_back({type, keys, device, c10::scalarTypeToTypeMeta(dtype), requires_grad,
                     stride.has_value(), size.size()});
    numbers_.insert(numbers_.end(), size.begin(), size.end());
    if (stride) numbers_.insert(numbers_.end(), stride->begin(), stride->end());
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
