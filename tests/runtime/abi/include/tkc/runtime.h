/*===- tkc/runtime.h - load and launch kernels that tkc compiled ---------------------------===*\
|*                                                                                              *|
|* C99 and C++17; libtkcrt.so.1. Part of tkc, Apache-2.0 WITH LLVM-exception.                   *|
|*                                                                                              *|
|* The library reads no environment variable and no file, writes to no stream, starts no        *|
|* thread, keeps no global state, and lets no exception out. It links no driver: it finds       *|
|* libcuda, libamdhip64 or the interpreter when a driver is opened. docs/cpp.md is the guide,   *|
|* docs/metadata.md describes the JSON that it reads. <tkc/runtime.hpp> is the same for C++.    *|
|*                                                                                              *|
|*   open (driver, bundle)  ->  prepare (may load)  ->  encode (host only)  ->  submit          *|
|*                                                                                              *|
|* What this release lacks is answered with TKC_E_UNSUPPORTED or TKC_E_NEEDS_FEATURE; nothing   *|
|* is ignored silently.                                                                         *|
\*===----------------------------------------------------------------------------------------===*/
#ifndef TKC_RUNTIME_H
#define TKC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TKC_API __attribute__((visibility("default")))
#else
#define TKC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header: 0xMMMMmmpp. tkc_rt_version() tells the library's. */
#define TKC_RT_VERSION 0x00010100u

#define TKC_MAX_RANK 8            /* axes of a tensor parameter                          */
#define TKC_MAX_PARAM_BYTES 32764 /* the largest parameter buffer any kernel can ask for */

typedef struct tkc_driver tkc_driver; /* one copy of a driver in this process; thread-safe     */
typedef struct tkc_bundle tkc_bundle; /* immutable once open; thread-safe; counts its kernels   */
typedef struct tkc_kernel tkc_kernel; /* one instance on one device, loaded; thread-safe        */

/* 0 is good. Numbers are never reused; treat an unknown one as an error. */
typedef int32_t tkc_status;
enum {
  TKC_OK = 0,
  TKC_E_ARG = 1,            /* a call, count, kind, null pointer or name that can't be right      */
  TKC_E_DTYPE = 2,          /* an argument's dtype is not the parameter's                         */
  TKC_E_EXTENT = 3,         /* rank, extent, stride or range; arithmetic on them that overflows   */
  TKC_E_ALIGN = 4,          /* a pointer is not aligned to what the parameter needs               */
  TKC_E_OVERLAP = 5,        /* arguments that must not share memory do, or could                  */
  TKC_E_REQUIRE = 6,        /* a precondition the kernel states does not hold                     */
  TKC_E_GRID = 7,           /* the grid is negative or larger than the hardware takes             */
  TKC_E_WORKSPACE = 8,      /* options.workspace is smaller than the launch needs                 */
  TKC_E_NO_VARIANT = 9,     /* no variant's `when` holds, or the pinned one's does not            */
  TKC_E_COLD = 10,          /* loading was needed where loading is not allowed                    */
  TKC_E_DEVICE = 11,        /* no such device, or no code for this chip                           */
  TKC_E_DRIVER = 12,        /* the driver failed; driver_code says how                            */
  TKC_E_DRIVER_OLD = 13,    /* the driver is older than the code or this library needs            */
  TKC_E_CORRUPT = 14,       /* the JSON is malformed, out of bounds or contradicts itself         */
  TKC_E_DIGEST = 15,        /* bytes are not those that the digest names                          */
  TKC_E_ABI = 16,           /* the kernel's parameters are not those the caller was built for     */
  TKC_E_NEEDS_FEATURE = 17, /* the JSON needs a feature that this release does not know           */
  TKC_E_RESOURCES = 18,     /* more threads or shared memory than the device or kernel allows     */
  TKC_E_UNSUPPORTED = 19,   /* known, asked for, and not in this release                          */
  TKC_E_NOMEM = 20,         /* host memory                                                        */
  TKC_E_AMBIGUOUS = 21,     /* several kernels match a name and its constants                     */
  TKC_E_KERNEL = 22 /* TKC_CPU: the kernel did something wrong; the text says what and where */
};
/* The enumerator's name ("TKC_E_GRID"), or "unknown"; never NULL. */
TKC_API const char *tkc_status_name(tkc_status);

/*
 * Backends. 0 in a descriptor means TKC_CUDA. TKC_CPU runs bundles that have the interpreter's form
 * (tkc --with-interp) on host memory: it is never chosen unless it is asked for. TKC_HIP has been
 * run with a test double of its driver only, on no AMD device.
 */
enum { TKC_CUDA = 1, TKC_HIP = 2, TKC_CPU = 3 };

/* tkc_driver_desc.log's levels */
enum { TKC_LOG_INFO = 1, TKC_LOG_WARNING = 2 };

/* Element types. Append-only. The 4-bit types are reserved: a kernel with one is not opened yet. */
enum {
  TKC_I1 = 1, /* one byte, 0 or 1 */
  TKC_I8 = 2,
  TKC_I16 = 3,
  TKC_I32 = 4,
  TKC_I64 = 5,
  TKC_U8 = 6,
  TKC_U16 = 7,
  TKC_U32 = 8,
  TKC_U64 = 9,
  TKC_F16 = 10,
  TKC_BF16 = 11,
  TKC_F32 = 12,
  TKC_F64 = 13,
  TKC_F8E4M3FN = 14,
  TKC_F8E5M2 = 15,
  TKC_F8E4M3FNUZ = 16,
  TKC_F8E5M2FNUZ = 17,
  TKC_E8M0 = 18,
  TKC_I4 = 19,
  TKC_U4 = 20,
  TKC_F4E2M1 = 21
};

/*
 * Errors go into the caller's storage, bounded, without allocation. A NULL tkc_error * is fine.
 * The caller sets `size` to sizeof(tkc_error) before the first call; every call sets the rest.
 */
typedef struct tkc_error {
  uint32_t size;
  tkc_status status;
  int32_t driver_code;    /* the CUresult behind this error, 0 when there is none       */
  uint32_t earlier_async; /* 1: earlier work on the device failed, not this call        */
  char text[496];         /* names kernel, parameter, what was found and what is needed */
} tkc_error;

/*
 * Every descriptor begins with its size, set by the caller to sizeof. A shorter one than this
 * header's first release is TKC_E_ARG; a longer one is good as long as the bytes that this
 * library does not know are zero, else TKC_E_UNSUPPORTED.
 */
typedef struct tkc_driver_desc {
  uint32_t size;
  uint32_t backend;
  /* How to find a driver symbol ("cuCtxPushCurrent_v2"; TKC_CPU: "tkc_cpu_api_v1"); NULL: the
   * library that is mapped already (libcuda.so.1, libamdhip64.so, libtkccpu.so.1), else dlopen of
   * it. Called only while the driver is being opened. */
  void *(*resolve)(void *user, const char *symbol);
  /* Host memory for what is large (copies of bundles, images after decompression), both or
   * neither; NULL: malloc. Small bookkeeping is on the C++ heap. Not called after prepare. */
  void *(*alloc)(void *user, size_t bytes, size_t align);
  void (*free)(void *user, void *p);
  /* One line, no newline, at one of TKC_LOG_*: what prepare did, and what may surprise. */
  void (*log)(void *user, int level, const char *text);
  /* Just before each launch of at least one block, by the thread that submits: for NVTX, rocTX and
   * counters. flops and bytes are the file's `cost` for this launch, 0 when it has none. */
  void (*on_submit)(void *user, const char *symbol, double flops, double bytes, void *stream);
  void *user;
  uint32_t flags; /* 0 */
} tkc_driver_desc;

/* tkc_bundle_desc.flags */
enum { TKC_BORROW = 1 }; /* `data` outlives the bundle and is not copied, as an embedded one does */

/*
 * Without `json`, `data` is a .tkb file. With it, `data` is one image (a cubin or PTX) and `json`
 * the description that tkc wrote beside it; when that lists several images, the one whose size and
 * digest are those of `data` is meant, and variants that use the others can't be prepared.
 * An image of a .tkb is decompressed, and its digest checked, by the first prepare that needs it.
 */
typedef struct tkc_bundle_desc {
  uint32_t size;
  uint32_t flags;
  const void *data;
  size_t bytes;
  const char *json; /* need not end in NUL, and may */
  size_t json_bytes;
  const uint8_t *sha256; /* 32 bytes: what SHA-256 of the JSON must be (the JSON holds the image's
                            digest, so this pins both). NULL: integrity only, no authenticity */
} tkc_bundle_desc;

/* A compile-time parameter's value as text: {"T", "f16"}, {"D", "128"}, {"CAUSAL", "false"}. */
typedef struct tkc_const {
  const char *name;
  const char *value;
} tkc_const;

/* tkc_prepare_desc.flags */
enum { TKC_NO_JIT = 1 }; /* take no variant whose image is PTX */

typedef struct tkc_prepare_desc {
  uint32_t size;
  int32_t device; /* CUDA's ordinal; unused when a context is given                          */
  void *context;  /* CUcontext; NULL: the device's primary context, retained by the kernel   */
  uint32_t flags;
  int32_t max_sms;    /* what `sms` in expressions may be at most; 0: the device's count. Give the
                         share when streams belong to a green context: it is not looked up yet   */
  const char *config; /* a configuration's id ("BM128_BN256_BK64.w8s3"), which is tried before the
                         default one; NULL or empty: the table's, else the default one           */
  const char *numerics_class; /* reserved, NULL */
  const void *table; /* JSON text of tuning records, in place of the bundle's; NULL: the bundle's */
  size_t table_bytes;
} tkc_prepare_desc;

/* tkc_arg.kind */
enum {
  TKC_ABSENT = 0, /* a scalar that has a default, an optional argument, or scratch */
  TKC_TENSOR = 1,
  TKC_POINTER = 2,
  TKC_SCALAR = 3
};

typedef struct tkc_tensor {
  void *data;
  const int64_t *extents; /* `rank` of them; read during the call only    */
  const int64_t *strides; /* in elements; NULL: dense, last axis fastest  */
  uint64_t span_bytes;    /* 0: unknown; else bytes the caller owns from `data` on: checked */
  uint16_t dtype, rank;
  uint32_t reserved; /* 0 */
} tkc_tensor;

/*
 * One argument, in the order of the JSON's `args`. A tensor's dtype stands in u.tensor (`dtype`
 * here is 0 or the same); a pointer's or scalar's stands here. Integer scalars: `bits` holds the
 * value sign-extended (i8..i64) or zero-extended (i1, u8..u64); f16 and bf16: the 16 bits,
 * zero-extended; f32 and f64: the members of that name.
 */
typedef struct tkc_arg {
  uint32_t kind, dtype;
  union {
    tkc_tensor tensor;
    struct {
      void *data;
      uint64_t span_bytes; /* 0: unknown; then a parameter that must be disjoint is refused */
    } pointer;
    uint64_t bits;
    float f32;
    double f64;
  } u;
} tkc_arg;

/* tkc_options.flags */
enum {
  TKC_PDL = 1,              /* may begin before the kernel before it ends, and its code waits: a
                               variant that does not is TKC_E_UNSUPPORTED                 */
  TKC_COOPERATIVE = 2,      /* all blocks at once, or an error; kernels that need it always are */
  TKC_NO_OVERLAP_CHECK = 4, /* the caller vouches for the `disjoint` pairs               */
  TKC_PIN_VARIANT = 8       /* `variant` or TKC_E_NO_VARIANT, instead of the first good one */
};

typedef struct tkc_options {
  uint32_t size;
  uint32_t flags;
  int32_t sms;     /* a cap of `sms` for this launch; 0: none                   */
  int32_t variant; /* with TKC_PIN_VARIANT: index into the JSON's `variants`    */
  void *workspace; /* device memory at a multiple of 256 for scratch arguments that are left out;
                      one launch at a time, unless the stream orders them                  */
  uint64_t workspace_bytes;
  const void *vendor_attrs; /* reserved, NULL */
  uint32_t num_vendor_attrs;
} tkc_options;

/*
 * A launch, encoded. The caller sets size, params and param_capacity; tkc_encode the rest. It
 * stays good as long as the kernel and the arguments' memory, and may be submitted many times.
 * A launch of nothing (`noop_when`, an empty grid) has grid {0, 0, 0} and variant -1.
 */
typedef struct tkc_launch {
  uint32_t size;
  int32_t variant;
  void *function; /* CUfunction, hipFunction_t */
  uint32_t grid[3], block[3], cluster[3], dynamic_smem, flags;
  uint32_t param_bytes; /* also set when param_capacity is too small: what is needed */
  void *params;         /* the caller's; aligned to 128 it fits every kernel         */
  uint32_t param_capacity;
  /* Since 1.1; a caller whose `size` ends before is served all the same. */
  double flops, bytes; /* for on_submit; 0 without such a hook */
} tkc_launch;

/* sizeof(tkc_launch) of release 1.0 */
#define TKC_LAUNCH_SIZE_1_0 offsetof(tkc_launch, flops)

TKC_API uint32_t tkc_rt_version(void);

/*
 * Finds the driver and initializes it. Needs one of CUDA 12.0, of ROCm 6.0, or newer. The
 * descriptor may be NULL: CUDA, found by the library itself.
 */
TKC_API tkc_status tkc_driver_open(const tkc_driver_desc *, tkc_driver **, tkc_error *);

/* Checks everything but the images of a .tkb; touches no device. */
TKC_API tkc_status tkc_bundle_open(tkc_driver *, const tkc_bundle_desc *, tkc_bundle **,
                                   tkc_error *);

/*
 * Finds the kernel by name and those constants that tell its instances apart, takes the variants
 * that this device runs, loads their images, resolves their symbols and sets their attributes.
 * May load, JIT, allocate and synchronize: not for a thread that captures a stream (what the
 * driver refuses for that reason is TKC_E_COLD). The thread's current context is restored.
 * abi_hash comes from the generated header; 0: not checked. The descriptor may be NULL: device 0.
 */
TKC_API tkc_status tkc_kernel_prepare(tkc_bundle *, const char *name, const tkc_const *, uint32_t n,
                                      uint64_t abi_hash, const tkc_prepare_desc *, tkc_kernel **,
                                      tkc_error *);

/*
 * From here on: no load, lock, heap, file or synchronization, no change of current context.
 *
 * tkc_encode checks the arguments against the JSON, picks the variant, evaluates the grid and
 * writes the parameters; it makes no driver call but cuTensorMapEncodeTiled, which is host work.
 * Options may be NULL.
 */
TKC_API tkc_status tkc_encode(const tkc_kernel *, const tkc_arg *, uint32_t n, const tkc_options *,
                              tkc_launch *, tkc_error *);

/*
 * One cuLaunchKernel or cuLaunchKernelEx, or none for a launch of nothing. On TKC_CPU the kernel
 * runs in this call, on host memory, and `stream` is not used. The stream must belong to the
 * context the kernel was prepared in; NULL is that context's default stream and needs it to be
 * current. In a captured graph everything in the launch is frozen: pointers, extents, grid,
 * variant.
 */
TKC_API tkc_status tkc_submit(const tkc_kernel *, const tkc_launch *, void *stream, tkc_error *);

/*
 * The bytes of options.workspace that this launch takes, what its address must be a multiple of
 * and whether all of it must be 0 when the launch begins. Arguments as for tkc_encode, but data may
 * be NULL. align and must_be_zero may be NULL.
 */
TKC_API tkc_status tkc_workspace_query(const tkc_kernel *, const tkc_arg *, uint32_t n,
                                       const tkc_options *, uint64_t *bytes, uint32_t *align,
                                       uint32_t *must_be_zero, tkc_error *);

/*
 * The same for the largest launch to come: enough for every launch none of whose extents and
 * integer scalars is larger than those given here. TKC_E_UNSUPPORTED when a size could be larger
 * for a smaller launch.
 */
TKC_API tkc_status tkc_workspace_bound(const tkc_kernel *, const tkc_arg *, uint32_t n,
                                       const tkc_options *, uint64_t *bytes, tkc_error *);

/*
 * Blocks of a loaded variant that one multiprocessor runs at the same time, and clusters (of one
 * block, where it has none) that the device does. Read when the kernel was prepared. Both may be
 * NULL.
 */
TKC_API tkc_status tkc_occupancy(const tkc_kernel *, int32_t variant, uint32_t *blocks_per_sm,
                                 uint32_t *clusters, tkc_error *);

/*
 * Which variant a launch would take and why, as lines of text for a person: where the
 * configuration came from, the guard that ruled out each variant, the variants that are not for
 * this device. `text` and `bytes` as in tkc_describe, but what fits is written. A launch that
 * tkc_encode would refuse before is the same error here.
 */
TKC_API tkc_status tkc_why(const tkc_kernel *, const tkc_arg *, uint32_t n, const tkc_options *,
                           char *text, size_t *bytes, tkc_error *);

/*
 * JSON text of one variant (an index into the JSON's `variants`), or of the kernel without its
 * variants (-1). *bytes: room in `json` before, bytes needed (with the NUL) after; too little
 * room writes nothing and is TKC_E_ARG.
 */
TKC_API tkc_status tkc_describe(const tkc_kernel *, int32_t variant, char *json, size_t *bytes,
                                tkc_error *);

/* Each may be given NULL. A bundle lives on as long as its kernels, a driver as its bundles. */
TKC_API void tkc_kernel_release(tkc_kernel *); /* no launch in flight, no graph that holds it */
TKC_API void tkc_bundle_release(tkc_bundle *);
TKC_API void tkc_driver_release(tkc_driver *); /* its library stays mapped */

#ifdef __cplusplus
}
#endif
#endif /* TKC_RUNTIME_H */
