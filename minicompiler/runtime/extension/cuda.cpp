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
  py::gil_scoped_acquire gil;
  static py::handle ask =
      py::object(py::module_::import("torch._C").attr("_cuda_getCurrentRawStream")).release();
  return reinterpret_cast<void*>(as<uintptr_t>(ask(device.index())));
}

// A launch as Triton made it once (see triton.py): good for other buffers, aligned as it wants
// them.
struct Replay {
  static constexpr uintptr_t kAlignment = 16;  // bytes; Triton makes other code for less

  void* function;
  std::array<unsigned, 3> grid;
  unsigned threads, shared;

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

    void set(py::handle made) {
      if (get()) return;  // another thread was faster
      using Made = std::tuple<uintptr_t, std::array<unsigned, 3>, unsigned, unsigned>;
      auto [function, grid, threads, shared] = as<Made>(made);
      once_.reset(new Replay{reinterpret_cast<void*>(function), grid, threads, shared});
      known_.store(once_.get(), std::memory_order_release);
    }

   private:
    std::unique_ptr<const Replay> once_;
    std::atomic<const Replay*> known_{nullptr};
  };
};

}  // namespace minicompiler
