// Launches on the GPU without CUDA's headers: the driver is found at run time.



namespace minicompiler {

using LaunchKernel = int (*)(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                             unsigned, unsigned, unsigned shared, void* stream, void** arguments,
                             void** extra);

inline LaunchKernel launch_kernel() {
  static auto found = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
    return reinterpret_cast<LaunchKernel>(driver ? dlsym(driver, "cuLaunchKernel") : nullptr);
  }();
  return found;
}

// The stream that torch would use on the device, as the driver knows it.
inline void* current_stream(c10::Device device) {
  pybind11::gil_scoped_acquire gil;
  static PyObject* ask = [] {
    THPObjectPtr torch(PyImport_ImportModule("torch._C"));
    const char* name = "_cuda_getCurrentRawStream";
    PyObject* found = torch ? PyObject_GetAttrString(torch.get(), name) : nullptr;
    if (!found) throw python_error();
    return found;
  }();
  THPObjectPtr index(PyLong_FromLong(device.index()));
  THPObjectPtr stream(PyObject_CallOneArg(ask, index.get()));
  if (!stream) throw python_error();
  return PyLong_AsVoidPtr(stream.get());
}

// A launch as Triton made it once (see triton.py): good for other buffers, aligned as it wants
// them, and the same symbols.
struct Replay {
  static constexpr uintptr_t kAlignment = 16;  // bytes; Triton makes other code for less

  std::vector<int64_t> symbols;
  void* function;
  unsigned grid[3], threads, shared;
  std::vector<int64_t> arguments;  // bits of the symbols that the machine code takes
  const Replay* next;  // of the same launch, for other symbols

  static bool aligned(c10::ArrayRef<void*> buffers) {
    for (void* buffer : buffers)
      if (reinterpret_cast<uintptr_t>(buffer) % kAlignment) return false;
    return true;
  }

  void launch(c10::ArrayRef<void*> buffers, void* stream) const {
    void* none = nullptr;  // Triton's scratch memory
    c10::SmallVector<void*, 32> pointers;
    for (void* const& buffer : buffers) pointers.push_back(const_cast<void**>(&buffer));
    for (const int64_t& bits : arguments) pointers.push_back(const_cast<int64_t*>(&bits));
    for (int i = 0; i < 4; i++) pointers.push_back(&none);
    int failed = launch_kernel()(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream,
                                 pointers.data(), nullptr);
    TORCH_CHECK(!failed, "a kernel could not be launched: CUDA driver error ", failed);
  }
};

// What one launch of a plan has met so far; grows under the GIL, is read without.
struct Replays {
  std::atomic<const Replay*> first{nullptr};

  ~Replays() {
    for (const Replay* one = first.load(); one;) delete std::exchange(one, one->next);
  }
};

}  // namespace minicompiler
