// Between Python and C++: reading flat plans, wrapping what runs, converting what goes in and out.

#include <ATen/EmptyTensor.h>
#include <ATen/SavedTensorHooks.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/python_hook.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/utils/object_ptr.h>
#include <torch/csrc/utils/python_numbers.h>
#include <torch/csrc/utils/python_strings.h>

#include <dlfcn.h>
#include <structmember.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

namespace torch::jit {  // its header is long to read; a Python value as what a schema wants
TORCH_PYTHON_API c10::IValue toIValue(pybind11::handle, const c10::TypePtr&,
                                      std::optional<int32_t> = std::nullopt);
}

namespace minicompiler {

using at::Tensor;
using c10::IValue;
using Values = c10::SmallVector<IValue, 8>;

// Plans were traced below autograd and autocast, and run there: no version counters, no casts.
const c10::DispatchKeySet kAbove =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset;

// ---- reading lists, numbers and texts; every error is a RuntimeError that names what is there

inline Py_ssize_t length(PyObject* list) {
  TORCH_CHECK(PyList_Check(list), "a plan holds a ", Py_TYPE(list)->tp_name, ", not a list");
  return PyList_GET_SIZE(list);
}

inline PyObject* item(PyObject* list, Py_ssize_t i) {  // borrowed
  TORCH_CHECK(i < length(list), "a plan holds a list of ", length(list), " with no item ", i);
  return PyList_GET_ITEM(list, i);
}

inline PyObject* entry(PyObject* dict, const char* key) {  // borrowed
  PyObject* found = PyDict_GetItemString(dict, key);
  TORCH_CHECK(found, "a plan has no ", key);
  return found;
}

// Anything with __index__; so the TypeError of a symbolic size passes through.
inline int64_t integer(PyObject* number) { return THPUtils_unpackIndex(number); }
inline size_t position(PyObject* number) { return static_cast<size_t>(integer(number)); }
inline std::string text(PyObject* string) { return THPUtils_unpackString(string); }

template <class T>
T as(PyObject* object) {  // a dtype, a device
  return pybind11::handle(object).cast<T>();
}

template <class F>
auto each(PyObject* collection, F read) -> std::vector<decltype(read(collection))> {
  THPObjectPtr items(PySequence_Fast(collection, "a collection is wanted"));
  if (!items) throw python_error();
  std::vector<decltype(read(collection))> all;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); i++)
    all.push_back(read(PySequence_Fast_GET_ITEM(items.get(), i)));
  return all;
}

// ---- what goes in and out of a call

inline bool is_tensor(PyObject* object) {
  return THPVariable_CheckExact(object) || THPVariable_Check(object);
}

inline IValue from_python(PyObject* object) {
  if (is_tensor(object)) return THPVariable_Unpack(object);
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return integer(object);
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (object == Py_None) return {};
  TORCH_CHECK_TYPE(false, "a compiled graph takes tensors and numbers, not ",
                   Py_TYPE(object)->tp_name);
}

inline PyObject* to_python(IValue&& value) {  // a new reference; null with an error set
  if (value.isTensor()) return THPVariable_Wrap(std::move(value).toTensor());
  if (value.isInt()) return PyLong_FromLongLong(value.toInt());
  if (value.isDouble()) return PyFloat_FromDouble(value.toDouble());
  if (value.isBool()) return PyBool_FromLong(value.toBool());
  Py_RETURN_NONE;
}

inline PyObject* list_of(Values&& values) {  // a new reference
  THPObjectPtr list(PyList_New(static_cast<Py_ssize_t>(values.size())));
  if (!list) throw python_error();
  for (size_t i = 0; i < values.size(); i++) {
    PyObject* value = to_python(std::move(values[i]));
    if (!value) throw python_error();
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), value);
  }
  return list.release();
}

// ---- a C++ object that Python calls: T::make(args), self.call(args, count), T::kName, T::kDoc

template <class T>
struct Callable {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* weak;
  T* self;

  static PyObject* vectorcall(PyObject* o, PyObject* const* args, size_t flagged, PyObject* names) {
    HANDLE_TH_ERRORS
    TORCH_CHECK_TYPE(!names || !PyTuple_GET_SIZE(names), T::kName, " takes no keywords");
    return reinterpret_cast<Callable*>(o)->self->call(args, PyVectorcall_NARGS(flagged));
    END_HANDLE_TH_ERRORS
  }

  static PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    HANDLE_TH_ERRORS
    std::unique_ptr<T> self = T::make(args);
    auto* object = reinterpret_cast<Callable*>(type->tp_alloc(type, 0));
    if (!object) return nullptr;
    object->call = vectorcall;
    object->self = self.release();
    return reinterpret_cast<PyObject*>(object);
    END_HANDLE_TH_ERRORS
  }

  static void destroy(PyObject* o) {
    auto* object = reinterpret_cast<Callable*>(o);
    if (object->weak) PyObject_ClearWeakRefs(o);
    delete object->self;
    PyTypeObject* type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
  }

  static bool is(PyObject* object) {
    return Py_TYPE(object)->tp_call == PyVectorcall_Call && Py_TYPE(object)->tp_new == make;
  }

  static PyObject* type() {  // a new reference
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, call), READONLY, nullptr},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Callable, weak), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_new, (void*)make},
                                  {Py_tp_dealloc, (void*)destroy},
                                  {Py_tp_call, (void*)PyVectorcall_Call},
                                  {Py_tp_members, members},
                                  {Py_tp_doc, (void*)T::kDoc},
                                  {0, nullptr}};
    static PyType_Spec spec = {T::kName, sizeof(Callable), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    return PyType_FromSpec(&spec);
  }
};

}  // namespace minicompiler
