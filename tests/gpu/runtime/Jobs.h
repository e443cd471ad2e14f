//===- Jobs.h - kernels with their memory and what must come out ------------===//
// Every job fills its inputs with small whole numbers, so that each result is one pattern of bits.
#ifndef TKC_TESTS_GPU_RUNTIME_JOBS_H
#define TKC_TESTS_GPU_RUNTIME_JOBS_H

#include "Suite.h"
#include "examples/apps/memory.h"

#include <memory>

namespace suite {
/// An f16, of which the host needs the bits alone.
struct Half {
  uint16_t bits;
};
} // namespace suite
template <> struct tkc::dtype_of<suite::Half> : tkc::dtype_is<TKC_F16> {};

namespace suite {

/// Device memory of the current context.
template <class T> class Array {
public:
  explicit Array(size_t count) : memory(memory_alloc(count * sizeof(T))), count(count) {
    if (!memory)
      fail("no %zu bytes of device memory", count * sizeof(T));
  }
  ~Array() { memory_free(memory); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  T *data() const { return static_cast<T *>(memory); }
  size_t size() const { return count; }
  void put(const std::vector<T> &values) const {
    if (memory_upload(memory, values.data(), values.size() * sizeof(T)))
      fail("an upload of %zu bytes failed", values.size() * sizeof(T));
    if (cuda.cuStreamSynchronize) // other streams do not wait for what the copy left in flight
      SUITE_CALL(cuStreamSynchronize, nullptr);
  }
  std::vector<T> get() const {
    std::vector<T> values(count);
    if (memory_download(values.data(), memory, count * sizeof(T)))
      fail("a download of %zu bytes failed", count * sizeof(T));
    return values;
  }

private:
  void *memory;
  size_t count;
};

/// Memory for `scratch` parameters, at a multiple of 256 also where the memory is malloc's.
class Workspace {
public:
  explicit Workspace(uint64_t bytes) : bytes(bytes), memory(bytes + 255) {}
  void *data() const {
    return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(memory.data()) + 255) & ~255ull);
  }
  tkc::options options() const {
    tkc::options made;
    made.workspace = data();
    made.workspace_bytes = bytes;
    return made;
  }
  /// All of it becomes 0, in the order of the stream.
  void clear(tkc::stream stream) const;

  const uint64_t bytes;

private:
  Array<unsigned char> memory;
};

/// The JSON of a variant.
std::string describe(const tkc::kernel &kernel, int variant);

/// A kernel with memory of its own. Threads may share the kernel, never the job.
class Job {
public:
  explicit Job(const tkc::kernel &kernel) : kernel(kernel) {}
  virtual ~Job() = default;

  /// Uploads inputs for this size (0 < size <= the largest) and poisons the output.
  virtual void fill(int64_t size, int seed) = 0;
  /// Host work alone.
  virtual tkc::status encode(tkc::encoded<> &launch) const = 0;
  /// Throws when the output is not what the inputs say, or beyond the size is not the poison.
  virtual void verify() const = 0;
  /// What must happen on the stream ahead of each launch.
  virtual void ahead(tkc::stream) const {}

  tkc::status launch(tkc::stream stream) const {
    ahead(stream);
    tkc::encoded<> launch;
    tkc::status status = encode(launch);
    return status ? kernel.submit(launch, stream) : status;
  }

  const tkc::kernel &kernel;
  int64_t size = 0; ///< of the last fill, and its seed
  int seed = 0;
};

/// z = x + y of f32: `add`.
class AddJob : public Job {
public:
  AddJob(const tkc::kernel &kernel, size_t largest)
      : Job(kernel), x(largest), y(largest), z(largest) {}
  void fill(int64_t size, int seed) override;
  tkc::status encode(tkc::encoded<> &launch) const override;
  void verify() const override;
  /// The same with pointers moved by so many elements.
  int64_t shift = 0;

  Array<float> x, y, z;
};

/// y = 2 x of f16: `scale`.
class ScaleJob : public Job {
public:
  ScaleJob(const tkc::kernel &kernel, size_t largest) : Job(kernel), x(largest), y(largest) {}
  void fill(int64_t size, int seed) override;
  tkc::status encode(tkc::encoded<> &launch) const override;
  void verify() const override;

private:
  Array<Half> x, y;
};

/// Sums of `size` rows of 200 numbers that lie 256 apart: `row_sums`.
class RowSumsJob : public Job {
public:
  RowSumsJob(const tkc::kernel &kernel, size_t largest)
      : Job(kernel), x(largest * 256), y(largest) {}
  void fill(int64_t size, int seed) override;
  tkc::status encode(tkc::encoded<> &launch) const override;
  void verify() const override;

private:
  Array<float> x, y;
};

/// The sum of all, through a workspace that begins as zeros: `total`.
class TotalJob : public Job {
public:
  TotalJob(const tkc::kernel &kernel, size_t largest);
  void fill(int64_t size, int seed) override;
  tkc::status encode(tkc::encoded<> &launch) const override;
  void verify() const override;
  void ahead(tkc::stream stream) const override;

private:
  Array<float> x, y;
  std::unique_ptr<Workspace> workspace;
};

/// c = a b of f16, of `size` rows: `matmul`, `stream_k`.
class ProductJob : public Job {
public:
  static constexpr int64_t kColumns = 160, kDepth = 192;
  ProductJob(const tkc::kernel &kernel, bool takesWorkspace, size_t largest);
  void fill(int64_t size, int seed) override;
  tkc::status encode(tkc::encoded<> &launch) const override;
  void verify() const override;
  void ahead(tkc::stream stream) const override;
  uint64_t workspaceBytes() const { return workspace ? workspace->bytes : 0; }

private:
  Array<Half> a, b, c;
  std::unique_ptr<Workspace> workspace;
  std::vector<int> left, right;
};

/// A whole number from -2048 to 2048 as f16.
Half half(int value);

} // namespace suite

#endif
