// Between Python and C++: reading what Python made, converting what goes in and out, wrapping what
// runs. Every error becomes a Python exception.

#include <ATen/EmptyTensor.h>
#include <ATen/SavedTensorHooks.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/record_function.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/python_hook.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/utils/python_numbers.h>

#include <dlfcn.h>
#include <structmember.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

namespace torch::jit {  // their header is long to read; a Python value as what a schema wants
TORCH_PYTHON_API c10::IValue toIValue(pybind11::handle, const c10::TypePtr&,
                                      std::optional<int32_t> = std::nullopt);
TORCH_PYTHON_API pybind11::object toPyObject(c10::IValue);
}

namespace minicompiler {

namespace autograd = torch::autograd;
namespace py = pybind11;
using at::Tensor;
using c10::IValue;
using Values = c10::SmallVector<IValue, 8>;

// Plans were traced below autograd and autocast, and run there: no version counters, no casts.
const c10::DispatchKeySet kAbove =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset;

template <class T>
T as(py::handle object) {  // a dtype, a device, a text, a list of ints...
  return object.cast<T>();
}

template <class F>
auto each(py::handle collection, F read) -> std::vector<decltype(read(collection))> {
  std::vector<decltype(read(collection))> all;
  for (py::handle one : collection) all.push_back(read(one));
  return all;
}

// ---- what goes in and out of a call

inline IValue from_python(PyObject* object) {
  if (THPVariable_Check(object)) return THPVariable_Unpack(object);
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return THPUtils_unpackLong(object);
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (object == Py_None) return {};
  TORCH_CHECK_TYPE(false, "a compiled graph takes tensors and numbers, not ",
                   Py_TYPE(object)->tp_name);
}

inline py::list list_of(Values&& values) {
  py::list list(values.size());
  for (size_t i = 0; i < values.size(); i++) list[i] = torch::jit::toPyObject(std::move(values[i]));
  return list;
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
