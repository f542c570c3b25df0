// The flat plan (see plan.py for its form): parsed once, then run call after call.

namespace minicompiler {

using Ints = std::vector<int64_t>;

// ---- steps

using Layout = std::tuple<at::ScalarType, Ints, Ints>;  // dtype, size, stride
struct Alloc {
  int to;
  c10::Device device;
  Layout layout;
};
struct Reuse {
  int to, old;
  Layout layout;
};
struct Launch {
  size_t kernel;
  std::vector<int> buffers;
  size_t in_place;
  std::shared_ptr<Replay::Slot> replay = std::make_shared<Replay::Slot>();  // of a Triton kernel
};
struct Argument {
  enum Kind { Constant, Register, View, List } kind = Constant;
  IValue constant = {};
  int at = -1;  // register
  Ints size = {}, stride = {};
  int64_t offset = 0;
  std::vector<Argument> items = {};
  c10::TypePtr type = nullptr;  // of the items
};
struct Call {
  c10::OperatorHandle op;
  std::vector<Argument> arguments;
  std::vector<int> results;
  std::vector<std::optional<Layout>> expected;  // of the results that others rely on
};
struct Free {
  int at;
};
using Step = std::variant<Alloc, Reuse, Launch, Call, Free>;

using Native = int64_t (*)(void** buffers);

struct Kernel {
  std::string name;
  std::vector<std::string> checks;
  Native native = nullptr;
  py::object python;  // a Triton kernel: called with tensors
};

// What one call works on.
struct Frame {
  c10::SmallVector<Tensor, 24> registers;
  void* stream = nullptr;
  torch::jit::Stack stack;
};

inline bool lies_in(const Tensor& tensor, c10::IntArrayRef stride) {
  for (int64_t d = 0; d < tensor.dim(); d++)
    if (tensor.size(d) != 1 && tensor.stride(d) != stride[d]) return false;
  return true;
}

// The tensor in these strides.
inline Tensor laid_out(Tensor tensor, c10::IntArrayRef stride) {
  if (tensor.numel() == 0 || lies_in(tensor, stride)) return tensor;
  c10::NoGradGuard no_grad;
  return at::empty_strided(tensor.sizes(), stride, tensor.options()).copy_(tensor);
}

inline Tensor view_of(const Tensor& base, c10::IntArrayRef size, c10::IntArrayRef stride,
                      int64_t offset, at::ScalarType dtype) {
  c10::TensorImpl* old = base.unsafeGetTensorImpl();
  size_t needed =
      at::detail::computeStorageNbytes(size, stride, c10::elementSize(dtype), offset);
  TORCH_CHECK(needed <= base.storage().nbytes(), "a view of ", size, " does not fit its memory");
  auto view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(base.storage()), base.key_set(),
      c10::scalarTypeToTypeMeta(dtype));
  view.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  if (!base.is_inference()) view.unsafeGetTensorImpl()->set_version_counter(old->version_counter());
  return view;
}

class Plan {
 public:
  static constexpr const char* kName = "minicompiler.Plan";
  static constexpr const char* kDoc =
      "Plan(flat, kernels, constants)(inputs) -> outputs; empties the list of inputs.\n"
      "kernels: for each name the address of a C++ kernel, or a Python callable.";
  static constexpr int64_t kLong = 1 << 15;  // elements: more than the price of letting the GIL go

  static std::unique_ptr<Plan> make(PyObject* args) {
    auto [flat, kernels, constants] = as<std::tuple<py::dict, py::list, py::list>>(args);
    auto plan = std::make_unique<Plan>();
    plan->read(flat, kernels, constants);
    return plan;
  }

  PyObject* call(PyObject* const* args, size_t count) {
    TORCH_CHECK_TYPE(count == 1 && PyList_Check(args[0]), kName, " takes one list");
    Values values;
    for (py::handle input : py::handle(args[0])) values.push_back(from_python(input.ptr()));
    py::handle(args[0]).attr("clear")();
    run(values);
    return list_of(std::move(values)).release().ptr();
  }

  // Inputs in, outputs out; called with or without the GIL.
  void run(Values& values) const {
    TORCH_CHECK_VALUE(values.size() == inputs_, name_, " has ", inputs_,
                      " inputs, not ", values.size());
    std::optional<py::gil_scoped_release> let_go;
    if (long_ && PyGILState_Check()) let_go.emplace();
    RECORD_USER_SCOPE(name_);
    c10::impl::ExcludeDispatchKeyGuard below(kAbove);
    c10::OptionalDeviceGuard on(gpu_);
    Frame frame;
    if (gpu_) frame.stream = current_stream(*gpu_);
    frame.registers.resize(registers_);
    for (size_t i = 0; i < inputs_; i++)
      if (values[i].isTensor()) frame.registers[i] = std::move(values[i]).toTensor();
    for (size_t i = 0; i < constants_.size(); i++) frame.registers[inputs_ + i] = constants_[i];
    for (const Step& step : steps_)
      std::visit([&](const auto& one) { execute(one, frame); }, step);
    values.clear();
    for (const Argument& output : outputs_) values.push_back(argument(output, frame));
  }

 private:
  std::string name_;
  size_t inputs_ = 0, registers_ = 0;
  bool long_ = false;
  std::optional<c10::Device> gpu_;
  std::vector<Tensor> constants_;
  std::vector<Kernel> kernels_;
  std::vector<Step> steps_;
  std::vector<Argument> outputs_;

  // ---- running

  void execute(const Alloc& step, Frame& frame) const {
    const auto& [dtype, size, stride] = step.layout;
    Tensor& made = frame.registers[step.to];
    if (step.device.is_cpu())
      made = at::detail::empty_strided_cpu(size, stride, dtype);
    else if (step.device == gpu_)
      made = at::detail::empty_strided_generic(size, stride, c10::GetAllocator(c10::kCUDA),
                                               c10::DispatchKeySet(c10::DispatchKey::CUDA), dtype);
    else
      made = at::empty_strided(size, stride, at::dtype(dtype).device(step.device));
  }

  void execute(const Reuse& step, Frame& frame) const {
    const auto& [dtype, size, stride] = step.layout;
    Tensor old = std::move(frame.registers[step.old]);
    bool same = old.scalar_type() == dtype && old.sizes() == size && old.strides() == stride;
    frame.registers[step.to] =
        same ? std::move(old) : view_of(old, size, stride, old.storage_offset(), dtype);
  }

  void execute(const Launch& step, Frame& frame) const {
    const Kernel& kernel = kernels_[step.kernel];
    c10::SmallVector<void*, 24> buffers;
    for (size_t i = 0; i < step.buffers.size(); i++) {
      const Tensor& tensor = frame.registers[step.buffers[i]];
      buffers.push_back(i < step.in_place ? tensor.mutable_data_ptr()
                                          : const_cast<void*>(tensor.const_data_ptr()));
    }
    RECORD_USER_SCOPE(kernel.name);
    if (!kernel.native) return launch_triton(step, kernel, buffers, frame);
    if (int64_t failed = kernel.native(buffers.data()))
      TORCH_CHECK_INDEX(false, kernel.checks.at(failed - 1));
  }

  // As Triton did before, or through Triton, which says how to do without it the next time.
  static void launch_triton(const Launch& step, const Kernel& kernel, c10::ArrayRef<void*> buffers,
                            Frame& frame) {
    bool aligned = Replay::aligned(buffers);
    const Replay* known = aligned ? step.replay->get() : nullptr;
    if (known) return known->launch(buffers, frame.stream);
    py::gil_scoped_acquire gil;
    py::list args;
    for (int at : step.buffers) args.append(py::cast(frame.registers[at]));
    if (!aligned || !launch_kernel())
      kernel.python(*args);
    else if (py::object made = kernel.python.attr("record")(*args); !made.is_none())
      step.replay->set(made);
  }

  void execute(const Call& step, Frame& frame) const {
    frame.stack.clear();
    for (const Argument& one : step.arguments) frame.stack.push_back(argument(one, frame));
    step.op.callBoxed(frame.stack);
    if (step.results.empty()) return;
    if (frame.stack.size() == 1 && frame.stack[0].isTensorList()) {
      auto list = frame.stack[0].toTensorVector();
      frame.stack.assign(list.begin(), list.end());
    }
    for (size_t i = 0; i < step.results.size(); i++) {
      if (step.results[i] < 0) continue;
      Tensor made = std::move(frame.stack.at(i)).toTensor();
      if (step.expected[i]) conform(made, *step.expected[i], step);
      frame.registers[step.results[i]] = std::move(made);
    }
  }

  // What an operator returns was predicted. Other strides: a copy in those that were; else raises.
  static void conform(Tensor& made, const Layout& expected, const Call& step) {
    const auto& [dtype, size, stride] = expected;
    TORCH_CHECK(made.defined() && made.sizes() == size && made.scalar_type() == dtype,
                step.op.schema().name(), " did not return the ", dtype, at::IntArrayRef(size),
                " that was foreseen");
    made = laid_out(std::move(made), stride);
  }

  void execute(const Free& step, Frame& frame) const { frame.registers[step.at].reset(); }

  // As eager makes one of a number: it does not take part in promotion within its category.
  static Tensor wrapped(const IValue& number) {
    Tensor made = c10::scalar_to_tensor(number.toScalar());
    made.unsafeGetTensorImpl()->set_wrapped_number(true);
    return made;
  }

  static IValue argument(const Argument& one, const Frame& frame) {
    switch (one.kind) {
      case Argument::Constant: return one.constant;
      case Argument::Register: return frame.registers[one.at];
      case Argument::View: {
        const Tensor& base = frame.registers[one.at];
        return view_of(base, one.size, one.stride, base.storage_offset() + one.offset,
                       base.scalar_type());
      }
      case Argument::List: break;
    }
    c10::impl::GenericList list(one.type);
    for (const Argument& item : one.items) list.push_back(argument(item, frame));
    return list;
  }

  // ---- reading

  void read(const py::dict& flat, const py::list& kernels, const py::list& constants) {
    name_ = "minicompiler." + as<std::string>(flat["name"]);
    inputs_ = as<size_t>(flat["inputs"]);
    registers_ = py::len(flat["names"]);
    gpu_ = as<std::optional<c10::Device>>(flat["gpu"]);
    constants_ = as<std::vector<Tensor>>(constants);
    auto names = as<std::vector<std::string>>(flat["kernels"]);
    auto checks = as<std::vector<std::vector<std::string>>>(flat["checks"]);
    for (size_t k = 0; k < kernels.size(); k++) {
      Kernel kernel{names.at(k), checks.at(k)};
      if (py::isinstance<py::int_>(kernels[k]))
        kernel.native = reinterpret_cast<Native>(as<uintptr_t>(kernels[k]));
      else
        kernel.python = kernels[k];
      kernels_.push_back(std::move(kernel));
    }
    for (py::handle one : flat["steps"]) steps_.push_back(step(as<py::list>(one)));
    outputs_ = each(flat["outputs"], [&](py::handle o) { return read_argument(o, nullptr); });
  }

  Ints sizes(py::handle list) {
    Ints all = as<Ints>(list);
    long_ |= c10::multiply_integers(all) > kLong;
    return all;
  }

  int reg(py::handle object) const {
    size_t at = as<size_t>(object);
    TORCH_CHECK(at < registers_, "a plan has no register ", at);
    return static_cast<int>(at);
  }

  Layout layout(const py::list& list) {
    return {as<at::ScalarType>(list[0]), sizes(list[1]), sizes(list[2])};
  }

  Step step(const py::list& list) {
    auto kind = as<std::string>(list[0]);
    if (kind == "alloc")
      return Alloc{reg(list[1]), as<c10::Device>(list[2]), layout(as<py::list>(list[3]))};
    if (kind == "reuse")
      return Reuse{reg(list[1]), reg(list[2]), layout(as<py::list>(list[3]))};
    if (kind == "launch") {
      auto kernel = as<size_t>(list[1]);
      kernels_.at(kernel);
      auto buffers = each(list[2], [&](py::handle r) { return reg(r); });
      return Launch{kernel, std::move(buffers), as<size_t>(list[3])};
    }
    if (kind == "call") return call_step(list);
    TORCH_CHECK(kind == "free", "a plan says ", kind);
    return Free{reg(list[1])};
  }

  Call call_step(const py::list& list) {
    long_ = true;  // a call takes a microsecond at least, and may be long
    auto name = as<std::string>(list[1]), overload = as<std::string>(list[2]);
    Call call{c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str())};
    auto parameter = call.op.schema().arguments().begin();
    call.arguments = each(list[3], [&](py::handle given) -> Argument {
      const c10::Argument& wanted = *parameter++;
      if (!py::isinstance<py::list>(given) || as<std::string>(as<py::list>(given)[0]) != "default")
        return read_argument(given, wanted.type());
      TORCH_CHECK(wanted.default_value(), name, " needs ", wanted.name());
      return {Argument::Constant, *wanted.default_value()};
    });
    call.results = as<std::vector<int>>(list[4]);
    call.expected = each(list[5], [&](py::handle given) -> std::optional<Layout> {
      if (given.is_none()) return {};
      return layout(as<py::list>(given));
    });
    TORCH_CHECK(call.expected.size() == call.results.size(), "a plan expects too little");
    return call;
  }

  // `type`: what the operator's schema wants; null for an output of the plan, which is as it is.
  Argument read_argument(py::handle given, c10::TypePtr type) {
    while (type && type->kind() == c10::TypeKind::OptionalType) {
      if (given.is_none()) return {};
      type = type->expectRef<c10::OptionalType>().getElementType();
    }
    bool tensor = type && type->kind() == c10::TypeKind::TensorType;
    if (!py::isinstance<py::list>(given)) {
      if (!type) return {Argument::Constant, from_python(given.ptr())};
      if (!tensor || given.is_none())  // of a tensor: an undefined one
        return {Argument::Constant, torch::jit::toIValue(given, type)};
      return {Argument::Constant, wrapped(torch::jit::toIValue(given, c10::NumberType::get()))};
    }
    auto list = as<py::list>(given);
    auto tag = as<std::string>(list[0]);
    if (tag == "list") return read_list(list[1], type);
    if (tag == "register") return {Argument::Register, {}, reg(list[1])};
    TORCH_CHECK(tag == "view", "a plan says ", tag);
    return {Argument::View, {}, reg(list[1]), sizes(list[2]), sizes(list[3]), as<int64_t>(list[4])};
  }

  Argument read_list(py::handle given, const c10::TypePtr& type) {
    TORCH_CHECK(type && type->kind() == c10::TypeKind::ListType, "a list is not wanted");
    Argument made{Argument::List};
    made.type = type->expectRef<c10::ListType>().getElementType();
    made.items = each(given, [&](py::handle one) { return read_argument(one, made.type); });
    auto varies = [](const Argument& one) { return one.kind != Argument::Constant; };
    if (std::any_of(made.items.begin(), made.items.end(), varies)) return made;
    return {Argument::Constant, argument(made, {})};
  }
};

}  // namespace minicompiler
