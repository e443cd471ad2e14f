//===- tkc/runtime.hpp - load and launch kernels that tkc compiled, from C++ ------------------===//
//
// C++17, header only, over <tkc/runtime.h>. Part of tkc, Apache-2.0 WITH LLVM-exception. Builds
// with -fno-exceptions -fno-rtti; nothing here throws or allocates. docs/cpp.md is the guide.
//
//   auto driver = tkc::driver::open();                 result<driver>: a driver or a status
//   auto bundle = tkc::bundle::open(*driver, {data, size});
//   auto kernel = tkc::kernel::prepare(*bundle, "add");
//   tkc::status status = kernel->launch(stream, {}, tkc::read(x), tkc::read(y), tkc::write(z));
//
// Headers that tkc generates stand on top of this: a struct for each kernel, typed parameters.
//===------------------------------------------------------------------------------------------===//
#ifndef TKC_RUNTIME_HPP
#define TKC_RUNTIME_HPP

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "<tkc/runtime.hpp> needs C++17: -std=c++17"
#endif

#include <tkc/runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace tkc {

//===- Errors ---------------------------------------------------------------------------------===//

/// What became of a call: true when it went well, else a code and a text that names the cause.
class [[nodiscard]] status {
public:
  status() noexcept : error{} { error.size = sizeof(error); }

  bool ok() const noexcept { return error.status == TKC_OK; }
  explicit operator bool() const noexcept { return ok(); }
  tkc_status code() const noexcept { return error.status; }
  /// The code's name: "TKC_E_GRID".
  const char *name() const noexcept { return tkc_status_name(error.status); }
  const char *text() const noexcept { return error.text; }
  /// The vendor's number behind the error, 0 when there is none.
  int driver_code() const noexcept { return error.driver_code; }
  /// Earlier work on the device failed, not this call.
  bool is_earlier() const noexcept { return error.earlier_async != 0; }

  /// For calls of the C interface.
  tkc_error *get() noexcept { return &error; }

  static status failure(tkc_status code, const char *text) noexcept {
    status made;
    made.error.status = code;
    std::strncpy(made.error.text, text, sizeof(made.error.text) - 1);
    return made;
  }

private:
  tkc_error error;
};

/// A value, or the status that says why there is none.
template <class T> class [[nodiscard]] result {
public:
  result(T made) noexcept : value(std::move(made)) {}
  result(status why) noexcept : problem(why) {}

  bool ok() const noexcept { return value.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  /// Only when ok().
  T &operator*() noexcept { return *value; }
  const T &operator*() const noexcept { return *value; }
  T *operator->() noexcept { return &*value; }
  const T *operator->() const noexcept { return &*value; }
  const status &error() const noexcept { return problem; }
  const char *text() const noexcept { return problem.text(); }

private:
  std::optional<T> value;
  status problem;
};

//===- Element types --------------------------------------------------------------------------===//

/// The dtype of a C++ type: specialize it for half types of your own,
///   template <> struct tkc::dtype_of<__half> : tkc::dtype_is<TKC_F16> {};
template <class T> struct dtype_of;

template <std::uint16_t Dtype> struct dtype_is { static constexpr std::uint16_t value = Dtype; };

namespace detail {
template <class T> constexpr std::uint16_t integer_dtype() {
  constexpr std::uint16_t first = std::is_signed<T>::value ? TKC_I8 : TKC_U8;
  return static_cast<std::uint16_t>(first + (sizeof(T) == 1   ? 0
                                             : sizeof(T) == 2 ? 1
                                             : sizeof(T) == 4 ? 2
                                                              : 3));
}
template <class T> struct integer : dtype_is<integer_dtype<T>()> {};
} // namespace detail

template <> struct dtype_of<bool> : dtype_is<TKC_I1> {};
template <> struct dtype_of<signed char> : detail::integer<signed char> {};
template <> struct dtype_of<short> : detail::integer<short> {};
template <> struct dtype_of<int> : detail::integer<int> {};
template <> struct dtype_of<long> : detail::integer<long> {};
template <> struct dtype_of<long long> : detail::integer<long long> {};
template <> struct dtype_of<unsigned char> : detail::integer<unsigned char> {};
template <> struct dtype_of<unsigned short> : detail::integer<unsigned short> {};
template <> struct dtype_of<unsigned> : detail::integer<unsigned> {};
template <> struct dtype_of<unsigned long> : detail::integer<unsigned long> {};
template <> struct dtype_of<unsigned long long> : detail::integer<unsigned long long> {};
template <> struct dtype_of<float> : dtype_is<TKC_F32> {};
template <> struct dtype_of<double> : dtype_is<TKC_F64> {};

//===- Arguments ------------------------------------------------------------------------------===//

/// Device memory with a shape: tensor a(pointer, {rows, columns}). Strides are in elements;
/// without them it is dense, the last axis fastest.
template <class T, int Rank> class tensor {
  static_assert(Rank >= 0 && Rank <= TKC_MAX_RANK, "tkc: a tensor has 0 to 8 axes");

public:
  static constexpr std::size_t room = Rank ? Rank : 1;

  explicit tensor(T *memory) noexcept : data(memory), extents{}, strides{} {
    static_assert(Rank == 0, "tkc: the extents are missing");
  }
  tensor(T *memory, const std::int64_t (&sizes)[room]) noexcept
      : data(memory), extents{}, strides{}, is_dense(true) {
    for (int axis = 0; axis < Rank; ++axis)
      extents[axis] = sizes[axis];
  }
  tensor(T *memory, const std::int64_t (&sizes)[room], const std::int64_t (&steps)[room]) noexcept
      : tensor(memory, sizes) {
    is_dense = false;
    for (int axis = 0; axis < Rank; ++axis)
      strides[axis] = steps[axis];
  }
  /// The same memory, of which nothing is written.
  operator tensor<const T, Rank>() const noexcept {
    if (is_dense)
      return tensor<const T, Rank>(data, extents);
    return tensor<const T, Rank>(data, extents, strides);
  }

  T *data;
  std::int64_t extents[room], strides[room];
  bool is_dense = Rank == 0;
  std::uint64_t span_bytes = 0; ///< bytes owned from `data` on: checked; 0: unknown
};
template <class T, std::size_t N>
tensor(T *, const std::int64_t (&)[N]) -> tensor<T, static_cast<int>(N)>;
template <class T, std::size_t N>
tensor(T *, const std::int64_t (&)[N], const std::int64_t (&)[N]) -> tensor<T, static_cast<int>(N)>;

/// Device memory without a shape, for raw pointer parameters.
template <class T> struct pointer {
  T *data = nullptr;
  std::uint64_t span_bytes = 0; ///< 0: unknown; then a parameter that must be disjoint is refused
};

namespace detail {
/// A tensor argument that owns its extents: it may outlive the tensor it was made of.
template <int Rank> class tensor_arg {
public:
  template <class T>
  tensor_arg(const tensor<T, Rank> &from, std::uint16_t type) noexcept
      : data(const_cast<void *>(static_cast<const void *>(from.data))), span_bytes(from.span_bytes),
        dtype(type), is_dense(from.is_dense) {
    std::memcpy(extents, from.extents, sizeof(extents));
    std::memcpy(strides, from.strides, sizeof(strides));
  }
  tkc_arg arg() const noexcept {
    tkc_arg made{};
    made.kind = TKC_TENSOR;
    made.u.tensor.data = data;
    made.u.tensor.extents = extents;
    made.u.tensor.strides = is_dense ? nullptr : strides;
    made.u.tensor.span_bytes = span_bytes;
    made.u.tensor.dtype = dtype;
    made.u.tensor.rank = static_cast<std::uint16_t>(Rank);
    return made;
  }

private:
  void *data;
  static constexpr std::size_t room = Rank ? Rank : 1;
  std::int64_t extents[room], strides[room];
  std::uint64_t span_bytes;
  std::uint16_t dtype;
  bool is_dense;
};

template <class T, std::uint16_t Dtype> constexpr bool has_dtype() {
  return dtype_of<std::remove_const_t<T>>::value == Dtype;
}

inline tkc_arg pointer_arg(const void *data, std::uint64_t span_bytes, std::uint16_t dtype) {
  tkc_arg made{};
  made.kind = TKC_POINTER;
  made.dtype = dtype;
  made.u.pointer.data = const_cast<void *>(data);
  made.u.pointer.span_bytes = span_bytes;
  return made;
}
} // namespace detail

/// A parameter that a kernel reads: any tensor of this dtype and rank.
template <std::uint16_t Dtype, int Rank> class in : public detail::tensor_arg<Rank> {
public:
  template <class T, int Found>
  in(const tensor<T, Found> &from) noexcept : detail::tensor_arg<Rank>(checked(from), Dtype) {}

private:
  template <class T, int Found> static const auto &checked(const tensor<T, Found> &from) noexcept {
    static_assert(Found == Rank, "tkc: a tensor of another rank than the parameter's");
    static_assert(detail::has_dtype<T, Dtype>(),
                  "tkc: a tensor of another element type than the parameter's");
    return from;
  }
};

/// A parameter that a kernel writes, or reads and writes: no tensor of const elements.
template <std::uint16_t Dtype, int Rank> class out : public in<Dtype, Rank> {
public:
  template <class T, int Found> out(const tensor<T, Found> &from) noexcept : in<Dtype, Rank>(from) {
    static_assert(!std::is_const<T>::value,
                  "tkc: the kernel writes this parameter, and the elements are const");
  }
};
template <std::uint16_t Dtype, int Rank> using inout = out<Dtype, Rank>;

/// The same for raw pointers. `void` elements are not compared: for tables of addresses.
template <std::uint16_t Dtype> class in_pointer {
public:
  template <class T>
  in_pointer(pointer<T> from) noexcept : data(from.data), span_bytes(from.span_bytes) {
    if constexpr (!std::is_void<T>::value)
      static_assert(detail::has_dtype<T, Dtype>(),
                    "tkc: a pointer to another element type than the parameter's");
  }
  tkc_arg arg() const noexcept { return detail::pointer_arg(data, span_bytes, Dtype); }

private:
  const void *data;
  std::uint64_t span_bytes;
};
template <std::uint16_t Dtype> class out_pointer : public in_pointer<Dtype> {
public:
  template <class T> out_pointer(pointer<T> from) noexcept : in_pointer<Dtype>(from) {
    static_assert(!std::is_const<T>::value,
                  "tkc: the kernel writes this parameter, and the elements are const");
  }
};

/// f16 and bf16 scalars travel as their bits.
struct half_bits {
  std::uint16_t bits;
};

namespace detail {
template <std::uint16_t Dtype> constexpr auto scalar_type() {
  if constexpr (Dtype == TKC_I1)
    return bool();
  else if constexpr (Dtype == TKC_F64)
    return double();
  else if constexpr (Dtype == TKC_F32)
    return float();
  else if constexpr (Dtype == TKC_F16 || Dtype == TKC_BF16)
    return half_bits();
  else if constexpr (Dtype >= TKC_U8)
    return std::uint64_t();
  else
    return std::int64_t();
}
} // namespace detail

/// A scalar parameter. Integers are checked to fit when the launch is encoded.
template <std::uint16_t Dtype> class scalar {
public:
  using type = decltype(detail::scalar_type<Dtype>());
  scalar(type given) noexcept : value(given) {}
  tkc_arg arg() const noexcept {
    tkc_arg made{};
    made.kind = TKC_SCALAR;
    made.dtype = Dtype;
    std::memcpy(&made.u, &value, sizeof(value));
    return made;
  }

private:
  type value;
};

/// For kernels without a generated header: what an argument is follows from its C++ type, and the
/// loader compares it with the kernel when the launch is encoded.
template <class T, int Rank>
in<dtype_of<std::remove_const_t<T>>::value, Rank> read(const tensor<T, Rank> &from) noexcept {
  return from;
}
template <class T, int Rank>
out<dtype_of<std::remove_const_t<T>>::value, Rank> write(const tensor<T, Rank> &from) noexcept {
  return from;
}
template <class T> scalar<dtype_of<T>::value> value(T from) noexcept {
  return from;
}

/// An argument that is left out: optional, scratch, or a scalar with a default.
struct absent {
  tkc_arg arg() const noexcept { return tkc_arg{}; }
};

namespace detail {
template <class T> tkc_arg arg_of(const T &from) noexcept {
  return from.arg();
}
template <class T> tkc_arg arg_of(const std::optional<T> &from) noexcept {
  return from ? from->arg() : tkc_arg{};
}
} // namespace detail

/// A DLTensor of DLPack, whose header need not be here: any struct with its fields. TKC_E_DTYPE or
/// TKC_E_EXTENT when it is of another type or rank.
template <class T, int Rank, class DlTensor>
result<tensor<T, Rank>> from_dlpack(const DlTensor &from) noexcept {
  struct Code {
    std::uint16_t dtype;
    std::uint8_t code, bits;
  };
  // DLDataTypeCode of DLPack 1.1; the 8-bit floats are of that release.
  constexpr Code codes[] = {{TKC_I1, 6, 8},      {TKC_I8, 0, 8},          {TKC_I16, 0, 16},
                            {TKC_I32, 0, 32},    {TKC_I64, 0, 64},        {TKC_U8, 1, 8},
                            {TKC_U16, 1, 16},    {TKC_U32, 1, 32},        {TKC_U64, 1, 64},
                            {TKC_F16, 2, 16},    {TKC_BF16, 4, 16},       {TKC_F32, 2, 32},
                            {TKC_F64, 2, 64},    {TKC_F8E4M3FN, 10, 8},   {TKC_F8E4M3FNUZ, 11, 8},
                            {TKC_F8E5M2, 12, 8}, {TKC_F8E5M2FNUZ, 13, 8}, {TKC_E8M0, 14, 8}};
  bool is_same = false;
  for (const Code &known : codes)
    is_same |= known.dtype == dtype_of<std::remove_const_t<T>>::value &&
               known.code == from.dtype.code && known.bits == from.dtype.bits;
  if (!is_same || from.dtype.lanes != 1)
    return status::failure(TKC_E_DTYPE, "from_dlpack: a tensor of another element type");
  if (from.ndim != Rank)
    return status::failure(TKC_E_EXTENT, "from_dlpack: a tensor of another rank");
  std::int64_t extents[tensor<T, Rank>::room] = {}, strides[tensor<T, Rank>::room] = {};
  for (int axis = 0; axis < Rank; ++axis) {
    extents[axis] = from.shape[axis];
    strides[axis] = from.strides ? from.strides[axis] : 0;
  }
  T *data = reinterpret_cast<T *>(static_cast<char *>(from.data) + from.byte_offset);
  if (from.strides)
    return tensor<T, Rank>(data, extents, strides);
  return tensor<T, Rank>(data, extents);
}

//===- Drivers, bundles, kernels --------------------------------------------------------------===//

struct bytes {
  const void *data = nullptr;
  std::size_t size = 0;
};

/// CUstream, hipStream_t, cudaStream_t: any of them converts. None: the default stream.
struct stream {
  stream(void *given = nullptr) noexcept : handle(given) {}
  void *handle;
};

namespace detail {
/// Owns a handle of the C interface.
template <class Handle, void (*Release)(Handle *)> class owner {
public:
  explicit owner(Handle *given) noexcept : handle(given) {}
  owner(owner &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  owner &operator=(owner &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~owner() { Release(handle); }
  Handle *get() const noexcept { return handle; }

private:
  Handle *handle;
};
} // namespace detail

class driver : public detail::owner<tkc_driver, tkc_driver_release> {
  using owner::owner;

public:
  static result<driver> open(std::uint32_t backend = TKC_CUDA) noexcept {
    tkc_driver_desc desc{};
    desc.size = sizeof(desc);
    desc.backend = backend;
    return open(desc);
  }
  /// With a resolver or hooks; `size` must be set.
  static result<driver> open(const tkc_driver_desc &desc) noexcept {
    status error;
    tkc_driver *made = nullptr;
    if (tkc_driver_open(&desc, &made, error.get()))
      return error;
    return driver(made);
  }
};

struct bundle_options {
  bool borrow = false; ///< the bytes outlive the bundle, as embedded ones do: nothing is copied
  bytes json = {};     ///< with it, the bytes are one image
  const std::uint8_t *sha256 = nullptr; ///< what the JSON's digest must be
};

class bundle : public detail::owner<tkc_bundle, tkc_bundle_release> {
  using owner::owner;

public:
  static result<bundle> open(const driver &driver, bytes data,
                             const bundle_options &options = {}) noexcept {
    status error;
    tkc_bundle *made = nullptr;
    tkc_bundle_desc desc{};
    desc.size = sizeof(desc);
    desc.flags = options.borrow ? uint32_t(TKC_BORROW) : 0;
    desc.data = data.data;
    desc.bytes = data.size;
    desc.json = static_cast<const char *>(options.json.data);
    desc.json_bytes = options.json.size;
    desc.sha256 = options.sha256;
    if (tkc_bundle_open(driver.get(), &desc, &made, error.get()))
      return error;
    return bundle(made);
  }
};

struct prepare_options {
  int device = 0;
  void *context = nullptr;      ///< CUcontext; null: the device's primary context
  bool jit = true;              ///< may the driver compile PTX?
  int max_sms = 0;              ///< 0: all of the device
  const char *config = nullptr; ///< a configuration's id; null: the table's, else the default one
  bytes table = {};             ///< JSON of tuning records, in place of the bundle's
};

struct options {
  bool pdl = false, cooperative = false;
  bool overlap_check = true;
  int sms = 0;      ///< a cap of multiprocessors for this launch; 0: none
  int variant = -1; ///< that one or an error; -1: the first good one
  void *workspace = nullptr;
  std::uint64_t workspace_bytes = 0;

  tkc_options c() const noexcept {
    tkc_options made{};
    made.size = sizeof(made);
    made.flags = (pdl ? uint32_t(TKC_PDL) : 0) | (cooperative ? uint32_t(TKC_COOPERATIVE) : 0) |
                 (overlap_check ? 0 : uint32_t(TKC_NO_OVERLAP_CHECK)) |
                 (variant >= 0 ? uint32_t(TKC_PIN_VARIANT) : 0);
    made.sms = sms;
    made.variant = variant >= 0 ? variant : 0;
    made.workspace = workspace;
    made.workspace_bytes = workspace_bytes;
    return made;
  }
};

struct workspace_size {
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  bool must_be_zero = false; ///< all of it, when the launch begins
};

/// A launch with room for its parameters: encoded once, it may be submitted many times, as long as
/// the kernel and the arguments' memory are there.
template <std::uint32_t ParamBytes = 4096> class encoded {
public:
  encoded() noexcept : made{} {
    made.size = sizeof(made);
    made.params = params;
    made.param_capacity = sizeof(params);
  }
  encoded(const encoded &) = delete;
  encoded &operator=(const encoded &) = delete;
  tkc_launch *get() noexcept { return &made; }
  const tkc_launch *get() const noexcept { return &made; }

private:
  alignas(128) unsigned char params[ParamBytes ? ParamBytes : 1];
  tkc_launch made;
};

class kernel : public detail::owner<tkc_kernel, tkc_kernel_release> {
  using owner::owner;

public:
  /// The kernel of that name whose instance has all these constants: {{"T", "f16"}, {"D", "128"}}.
  static result<kernel> prepare(const bundle &bundle, const char *name,
                                const prepare_options &options = {}) noexcept {
    return prepare(bundle, name, nullptr, 0, 0, options);
  }
  template <std::size_t N>
  static result<kernel> prepare(const bundle &bundle, const char *name,
                                const tkc_const (&consts)[N],
                                const prepare_options &options = {}) noexcept {
    return prepare(bundle, name, consts, static_cast<std::uint32_t>(N), 0, options);
  }
  /// abi_hash of a generated header; 0: not checked.
  static result<kernel> prepare(const bundle &bundle, const char *name, const tkc_const *consts,
                                std::uint32_t count, std::uint64_t abi_hash,
                                const prepare_options &options) noexcept {
    status error;
    tkc_kernel *made = nullptr;
    tkc_prepare_desc desc{};
    desc.size = sizeof(desc);
    desc.device = options.device;
    desc.context = options.context;
    desc.flags = options.jit ? 0 : uint32_t(TKC_NO_JIT);
    desc.max_sms = options.max_sms;
    desc.config = options.config;
    desc.table = options.table.data;
    desc.table_bytes = options.table.size;
    if (tkc_kernel_prepare(bundle.get(), name, consts, count, abi_hash, &desc, &made, error.get()))
      return error;
    return kernel(made);
  }

  /// Checks the arguments, picks the variant and writes the parameters. Host work alone.
  template <std::uint32_t ParamBytes, class... Args>
  status encode(encoded<ParamBytes> &launch, const options &options,
                const Args &...args) const noexcept {
    status error;
    const arg_list<sizeof...(Args)> list = {{detail::arg_of(args)...}};
    const tkc_options c = options.c();
    tkc_encode(get(), list.args, sizeof...(Args), &c, launch.get(), error.get());
    return error;
  }
  template <std::uint32_t ParamBytes>
  status submit(const encoded<ParamBytes> &launch, stream on) const noexcept {
    status error;
    tkc_submit(get(), launch.get(), on.handle, error.get());
    return error;
  }
  /// Both.
  template <std::uint32_t ParamBytes = 4096, class... Args>
  status launch(stream on, const options &options, const Args &...args) const noexcept {
    encoded<ParamBytes> launch;
    status error = encode(launch, options, args...);
    return error ? submit(launch, on) : error;
  }

  /// The bytes of options.workspace that this launch takes. Data may be null.
  template <class... Args>
  result<workspace_size> workspace(const options &options, const Args &...args) const noexcept {
    status error;
    const arg_list<sizeof...(Args)> list = {{detail::arg_of(args)...}};
    const tkc_options c = options.c();
    workspace_size size;
    std::uint32_t must_be_zero = 0;
    if (tkc_workspace_query(get(), list.args, sizeof...(Args), &c, &size.bytes, &size.align,
                            &must_be_zero, error.get()))
      return error;
    size.must_be_zero = must_be_zero != 0;
    return size;
  }

  /// Which variant a launch would take and why, as text that is cut to `room`.
  template <class... Args>
  status why(char *text, std::size_t room, const options &options,
             const Args &...args) const noexcept {
    status error;
    const arg_list<sizeof...(Args)> list = {{detail::arg_of(args)...}};
    const tkc_options c = options.c();
    tkc_why(get(), list.args, sizeof...(Args), &c, text, &room, error.get());
    return error;
  }

private:
  template <std::size_t N> struct arg_list { tkc_arg args[N ? N : 1]; };
};

//===- For generated headers ------------------------------------------------------------------===//

enum class access { none, in, out, inout, scratch };

/// A parameter as the file declares it.
struct param_info {
  const char *name;
  std::uint32_t kind; ///< TKC_TENSOR, TKC_POINTER, TKC_SCALAR
  std::uint16_t dtype, rank;
  tkc::access access;  ///< none: a scalar
  const char *extents; ///< as the file writes them: "M, K"
};

} // namespace tkc

#endif // TKC_RUNTIME_HPP
