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
// them.
struct Replay {
  static constexpr uintptr_t kAlignment = 16;  // bytes; Triton makes other code for less

  void* function;
  unsigned grid[3], threads, shared;

  static bool aligned(c10::ArrayRef<void*> buffers) {
    for (void* buffer : buffers)
      if (reinterpret_cast<uintptr_t>(buffer) % kAlignment) return false;
    return true;
  }

  void launch(c10::ArrayRef<void*> buffers, void* stream) const {
    void* none = nullptr;  // Triton's scratch memory
    c10::SmallVector<void*, 32> pointers;
    for (void* const& buffer : buffers) pointers.push_back(const_cast<void**>(&buffer));
    for (int i = 0; i < 4; i++) pointers.push_back(&none);
    int failed = launch_kernel()(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream,
                                 pointers.data(), nullptr);
    TORCH_CHECK(!failed, "a kernel could not be launched: CUDA driver error ", failed);
  }

  // What one launch of a plan knows so far: written under the GIL, read without.
  class Slot {
   public:
    const Replay* get() const { return known_.load(std::memory_order_acquire); }

    void set(PyObject* made) {
      if (get()) return;  // another thread was faster
      PyObject* grid = item(made, 1);
      auto blocks = [&](int d) { return static_cast<unsigned>(integer(item(grid, d))); };
      once_.reset(new Replay{PyLong_AsVoidPtr(item(made, 0)), {blocks(0), blocks(1), blocks(2)},
                             static_cast<unsigned>(integer(item(made, 2))),
                             static_cast<unsigned>(integer(item(made, 3)))});
      known_.store(once_.get(), std::memory_order_release);
    }

   private:
    std::unique_ptr<const Replay> once_;
    std::atomic<const Replay*> known_{nullptr};
  };
};

}  // namespace minicompiler
