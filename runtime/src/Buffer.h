//===- Buffer.h - host memory by the caller's hooks ------------------------===//
// For what is large: copies of bundles, images after decompression. Small bookkeeping is on the
// C++ heap.
#ifndef TKC_RUNTIME_BUFFER_H
#define TKC_RUNTIME_BUFFER_H

#include "tkc/runtime.h"

#include <cstdlib>

namespace tkcrt {

class Buffer {
public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// False when there is no memory. `hooks` must outlive the buffer.
  bool allocate(const tkc_driver_desc &hooks, size_t bytes) {
    release();
    owner = &hooks;
    memory = hooks.alloc ? hooks.alloc(hooks.user, bytes, kAlign) : malloc(bytes);
    return memory != nullptr;
  }
  void release() {
    if (memory && owner->free)
      owner->free(owner->user, memory);
    else
      free(memory);
    memory = nullptr;
  }
  char *data() const { return static_cast<char *>(memory); }

private:
  static constexpr size_t kAlign = 64;
  const tkc_driver_desc *owner = nullptr;
  void *memory = nullptr;
};

} // namespace tkcrt

#endif
