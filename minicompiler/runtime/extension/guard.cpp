// The rows of tensor guards: what capture assumed of tensors, checked without touching Python.

namespace minicompiler {

class TensorGuard {
 public:
  static constexpr const char* kName = "minicompiler.TensorGuard";
  static constexpr const char* kDoc =
      "TensorGuard(rows)(*tensors) -> bool: does every row hold of the tensor at its place?\n"
      "A row is (type, dtype, device index or None, size, strides or None for a tensor that has\n"
      "none, requires_grad, dispatch keys).";

  static std::unique_ptr<TensorGuard> make(PyObject* args) {
    PyObject* rows;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &rows)) throw python_error();
    auto guard = std::make_unique<TensorGuard>();
    for (Py_ssize_t i = 0; i < length(rows); i++) guard->rows_.push_back(row(item(rows, i)));
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
  struct Row {
    THPObjectPtr type;
    at::ScalarType dtype;
    c10::DeviceIndex device;  // -1: not compared
    std::vector<int64_t> size, stride;
    uint64_t keys;
    bool requires_grad, strided;
  };
  std::vector<Row> rows_;

  static bool holds(const Row& row, PyObject* object) {
    if (reinterpret_cast<const PyObject*>(Py_TYPE(object)) != row.type.get()) return false;
    const Tensor& tensor = THPVariable_Unpack(object);
    if (!tensor.defined()) return false;
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    // keys first: sizes of nested or functorch tensors may not even be asked for
    if (impl.key_set().raw_repr() != row.keys || tensor.scalar_type() != row.dtype) return false;
    if (row.device >= 0 && tensor.device().index() != row.device) return false;
    if (tensor.requires_grad() != row.requires_grad || tensor.sizes() != row.size) return false;
    return !row.strided || tensor.strides() == row.stride;
  }

  static Row row(PyObject* given) {
    TORCH_CHECK_TYPE(PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 7, "a row has 7 fields");
    auto at = [&](int i) { return PyTuple_GET_ITEM(given, i); };
    bool is_class = PyType_Check(at(0)) && THPDtype_Check(at(1)) &&
                    PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(at(0)),
                                     reinterpret_cast<PyTypeObject*>(THPVariableClass));
    TORCH_CHECK_TYPE(is_class, "a row begins with a class of tensors and a dtype");
    Row row;
    row.type = THPObjectPtr(Py_NewRef(at(0)));
    row.dtype = reinterpret_cast<THPDtype*>(at(1))->scalar_type;
    row.device = at(2) == Py_None ? -1 : static_cast<c10::DeviceIndex>(integer(at(2)));
    row.size = dimensions(at(3));
    row.strided = at(4) != Py_None;
    if (row.strided) row.stride = dimensions(at(4));
    row.requires_grad = at(5) == Py_True;
    row.keys = THPUtils_unpackUInt64(at(6));
    return row;
  }

  static std::vector<int64_t> dimensions(PyObject* given) {
    TORCH_CHECK_TYPE(PyTuple_Check(given), "sizes and strides are tuples");
    std::vector<int64_t> all;
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(given); d++)
      all.push_back(integer(PyTuple_GET_ITEM(given, d)));
    return all;
  }
};

}  // namespace minicompiler
