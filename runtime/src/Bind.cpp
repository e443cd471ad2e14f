//===- Bind.cpp - arguments against parameters, names to values ------------===//
// In the order that docs/metadata.md states: kinds, dtypes and ranks; extents bound, then checked;
// strides; ranges. Memory.cpp goes on with addresses.
#include "Checked.h"
#include "Encode.h"
#include "Error.h"

#include <bitset>
#include <cstring>

namespace tkcrt {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "parameters are written as they lie");

static const char *kindText(uint32_t kind) {
  switch (kind) {
  case TKC_ABSENT:
    return "nothing";
  case TKC_TENSOR:
    return "a tensor";
  case TKC_POINTER:
    return "a pointer";
  case TKC_SCALAR:
    return "a scalar";
  default:
    return "an unknown kind";
  }
}

tkc_status evaluate(const EncodeState &state, Program program, const std::string &text,
                    int64_t &out) {
  Code::Result result = state.info.code.evaluate(program, state.slots, out);
  if (result == Code::Result::Ok)
    return TKC_OK;
  return fail(state.err, TKC_E_EXTENT, "kernel `%s`: `%s` %s", state.name(), text.c_str(),
              resultText(result));
}

uint64_t scalarBits(const EncodeState &state, size_t arg) {
  const ArgInfo &info = state.info.args[arg];
  if (state.isAbsent(arg))
    return info.defaultBits;
  uint64_t bits = 0;
  // A caller who sets u.f32 leaves the upper half of the union as it was.
  memcpy(&bits, &state.args[arg].u, info.dtype->code == TKC_F32 ? 4 : 8);
  return bits;
}

static tkc_status bindScalar(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  uint64_t bits = scalarBits(state, index);
  int64_t value = static_cast<int64_t>(bits);
  const char *type = info.dtype->name;
  if (info.dtype->cls == DtypeClass::Float) {
    if (info.dtype->bits == 16 && bits > 0xffff)
      return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: bits are %#llx, needed 16",
                  state.name(), info.name.c_str(), static_cast<unsigned long long>(bits));
    return TKC_OK;
  }
  bool isHuge = info.dtype->code == TKC_U64 && value < 0;
  if (isHuge ? info.isInExpr : !fitsInteger(*info.dtype, value))
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: %lld (%#llx) does not fit %s",
                state.name(), info.name.c_str(), static_cast<long long>(value),
                static_cast<unsigned long long>(bits), isHuge ? "i64, as expressions need" : type);
  state.slots[info.scalarSlot] = value;
  return TKC_OK;
}

static tkc_status checkDtype(const EncodeState &state, const ArgInfo &info, uint32_t found) {
  if (found == info.dtype->code)
    return TKC_OK;
  return fail(state.err, TKC_E_DTYPE, "kernel `%s`: parameter `%s` is given %s (%u), needed %s",
              state.name(), info.name.c_str(), dtypeName(found), found, info.dtype->name);
}

static tkc_status checkTensor(const EncodeState &state, const ArgInfo &info, const tkc_arg &arg) {
  const tkc_tensor &tensor = arg.u.tensor;
  if (tensor.reserved || (arg.dtype && arg.dtype != tensor.dtype))
    return fail(state.err, TKC_E_ARG,
                "kernel `%s`: parameter `%s`: `reserved` must be 0, the outer dtype 0 or the same",
                state.name(), info.name.c_str());
  if (tkc_status status = checkDtype(state, info, tensor.dtype))
    return status;
  if (tensor.rank != info.extents.size())
    return fail(state.err, TKC_E_EXTENT, "kernel `%s`: parameter `%s` is given rank %u, needed %zu",
                state.name(), info.name.c_str(), tensor.rank, info.extents.size());
  if (tensor.rank && !tensor.extents)
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: extents is NULL, rank is %u",
                state.name(), info.name.c_str(), tensor.rank);
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (tensor.extents[axis] < 0)
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: parameter `%s`: extent %u is %lld, needed 0 or more", state.name(),
                  info.name.c_str(), axis, static_cast<long long>(tensor.extents[axis]));
  return TKC_OK;
}

/// What is left out has address 0, and no extents until scratch gets its own.
static void bindAbsent(EncodeState &state, const ArgInfo &info) {
  state.slots[info.pointerSlot] = 0;
  if (info.spanSlot >= 0)
    state.slots[info.spanSlot] = 0;
  for (size_t axis = 0; axis < info.extents.size(); ++axis) {
    state.slots[info.extentSlot + static_cast<int>(axis)] = 0;
    state.slots[info.strideSlot + static_cast<int>(axis)] = 0;
  }
}

static tkc_status bindAddress(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  const tkc_arg &arg = state.args[index];
  const void *data = arg.kind == TKC_TENSOR ? arg.u.tensor.data : arg.u.pointer.data;
  uint64_t address = reinterpret_cast<uintptr_t>(data);
  uint64_t limit = static_cast<uint64_t>(INT64_MAX);
  if (address > limit)
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: %#llx is no address",
                state.name(), info.name.c_str(), static_cast<unsigned long long>(address));
  state.slots[info.pointerSlot] = static_cast<int64_t>(address);
  if (info.kind != TKC_POINTER)
    return TKC_OK;
  if (arg.u.pointer.span_bytes > limit - address)
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: span_bytes is %llu",
                state.name(), info.name.c_str(),
                static_cast<unsigned long long>(arg.u.pointer.span_bytes));
  state.slots[info.spanSlot] = static_cast<int64_t>(arg.u.pointer.span_bytes);
  return TKC_OK;
}

/// Kind, dtype and rank of one argument; the values that it has without looking at others.
static tkc_status bindOne(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  const tkc_arg &arg = state.args[index];
  bool mayBeAbsent = info.hasDefault || info.isOptional || info.isScratch();
  bool isAbsent = arg.kind == TKC_ABSENT && mayBeAbsent;
  if (arg.kind != info.kind && !isAbsent)
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s` is given %s, needed %s%s",
                state.name(), info.name.c_str(), kindText(arg.kind), kindText(info.kind),
                arg.kind != TKC_ABSENT    ? ""
                : info.kind == TKC_SCALAR ? " (it has no default)"
                                          : " (it is not optional)");
  if (isAbsent && info.kind != TKC_SCALAR) {
    bindAbsent(state, info);
    return TKC_OK;
  }
  tkc_status status = arg.kind == TKC_TENSOR ? checkTensor(state, info, arg)
                      : isAbsent             ? TKC_OK
                                             : checkDtype(state, info, arg.dtype);
  if (status)
    return status;
  return info.kind == TKC_SCALAR ? bindScalar(state, index) : bindAddress(state, index);
}

/// The extents, and the strides as given or those of a dense tensor, into their slots.
static tkc_status readAxes(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  const tkc_tensor &tensor = state.args[index].u.tensor;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    state.slots[info.extentSlot + axis] = tensor.extents[axis];
    if (tensor.strides)
      state.slots[info.strideSlot + axis] = tensor.strides[axis];
  }
  int64_t elements;
  return tensor.strides ? TKC_OK : fillDense(state, index, elements);
}

tkc_status fillDense(EncodeState &state, size_t index, int64_t &elements) {
  const ArgInfo &info = state.info.args[index];
  int64_t dense = 1;
  elements = 1;
  for (size_t axis = info.extents.size(); axis-- > 0;) {
    int64_t extent = state.extent(index, axis);
    state.slots[info.strideSlot + static_cast<int>(axis)] = dense;
    // An empty axis makes the others' strides no larger than a long one would.
    if (!mulTo(dense, extent > 1 ? extent : 1, dense))
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: parameter `%s`: the number of elements overflows 64 bits",
                  state.name(), info.name.c_str());
    elements = extent ? elements : 0;
  }
  elements = elements ? dense : 0;
  return TKC_OK;
}

/// `axis` of `what` ("extent", "stride") is `found` and must be what the spec says.
static tkc_status checkDim(const EncodeState &state, const ArgInfo &info, const char *what,
                           size_t axis, const DimSpec &spec, int64_t found) {
  int64_t needed = 0;
  if (tkc_status status = evaluate(state, spec.program, spec.text, needed))
    return status;
  if (found == needed)
    return TKC_OK;
  int binder = spec.slot >= 0 ? state.info.slots[spec.slot].arg : -1;
  bool showsBinder = binder >= 0 && state.info.args[binder].name != spec.text;
  bool isNumber = spec.text.find_first_not_of("-0123456789") == std::string::npos;
  return fail(state.err, TKC_E_EXTENT,
              "kernel `%s`: parameter `%s`: %s %zu is %lld, needed %lld%s%s%s%s%s%s", state.name(),
              info.name.c_str(), what, axis, static_cast<long long>(found),
              static_cast<long long>(needed), isNumber ? "" : ", which is `",
              isNumber ? "" : spec.text.c_str(), isNumber ? "" : "`", showsBinder ? " of `" : "",
              showsBinder ? state.info.args[binder].name.c_str() : "", showsBinder ? "`" : "");
}

static void bindExtents(EncodeState &state) {
  for (size_t i = 0; i < state.info.args.size(); ++i) {
    const ArgInfo &info = state.info.args[i];
    for (size_t axis = 0; axis < info.extents.size(); ++axis)
      if (info.extents[axis].kind == DimSpec::Kind::Bind)
        state.slots[info.extents[axis].slot] = state.extent(i, axis);
  }
}

/// A name whose first user is left out gets its value from the next one that is there.
static void rebindExtents(EncodeState &state) {
  std::bitset<kMaxSlots> isRebound;
  for (size_t i = 0; i < state.info.args.size(); ++i) {
    const ArgInfo &info = state.info.args[i];
    if (!info.isOptional || state.isAbsent(i))
      continue;
    for (size_t axis = 0; axis < info.extents.size(); ++axis) {
      const DimSpec &spec = info.extents[axis];
      int binder = spec.slot >= 0 ? state.info.slots[spec.slot].arg : -1;
      if (spec.kind != DimSpec::Kind::Check || binder < 0 || isRebound[spec.slot] ||
          !state.isAbsent(static_cast<size_t>(binder)) ||
          state.info.args[binder].kind != TKC_TENSOR)
        continue;
      state.slots[spec.slot] = state.extent(i, axis);
      isRebound[spec.slot] = true;
    }
  }
}

/// Names that only strides bind: the first axis longer than 1 gives the value, else the first.
static void bindStrideNames(EncodeState &state) {
  std::bitset<kMaxSlots> isSet, isStrong;
  for (size_t i = 0; i < state.info.args.size(); ++i) {
    const ArgInfo &info = state.info.args[i];
    for (size_t axis = 0; axis < info.strides.size(); ++axis) {
      const DimSpec &spec = info.strides[axis];
      if (spec.kind != DimSpec::Kind::Bind)
        continue;
      bool strong = state.extent(i, axis) > 1;
      if (isSet[spec.slot] && (isStrong[spec.slot] || !strong))
        continue;
      state.slots[spec.slot] = state.stride(i, axis);
      isSet[spec.slot] = true;
      isStrong[spec.slot] = strong;
    }
  }
}

static tkc_status checkStrides(const EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  for (size_t axis = 0; axis < info.strides.size(); ++axis) {
    int64_t extent = state.extent(index, axis), stride = state.stride(index, axis);
    if (extent <= 1)
      continue; // no step is ever made along this axis
    if (stride == 0 && info.access != Access::In)
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: parameter `%s`: stride %zu is 0 and the extent %lld; a written "
                  "parameter needs another",
                  state.name(), info.name.c_str(), axis, static_cast<long long>(extent));
    if (info.strides[axis].kind != DimSpec::Kind::Free)
      if (tkc_status status = checkDim(state, info, "stride", axis, info.strides[axis], stride))
        return status;
  }
  return TKC_OK;
}

static tkc_status checkDims(const EncodeState &state) {
  size_t count = state.info.args.size();
  for (size_t i = 0; i < count; ++i) {
    const ArgInfo &info = state.info.args[i];
    for (size_t axis = 0; axis < info.extents.size() && !state.isAbsent(i); ++axis)
      if (info.extents[axis].kind == DimSpec::Kind::Check)
        if (tkc_status status =
                checkDim(state, info, "extent", axis, info.extents[axis], state.extent(i, axis)))
          return status;
  }
  for (size_t i = 0; i < count; ++i)
    if (tkc_status status = checkStrides(state, i))
      return status;
  return TKC_OK;
}

static tkc_status checkRanges(const EncodeState &state) {
  for (const RangeSpec &range : state.info.ranges) {
    int64_t found = state.slots[range.slot];
    if (found < range.low || found > range.high)
      return fail(state.err, TKC_E_EXTENT, "kernel `%s`: `%s` is %lld, needed %lld to %lld",
                  state.name(), state.info.slots[range.slot].name.c_str(),
                  static_cast<long long>(found), static_cast<long long>(range.low),
                  static_cast<long long>(range.high));
  }
  return TKC_OK;
}

static bool hasAbsentTensor(const EncodeState &state) {
  for (size_t i = 0; i < state.info.args.size(); ++i)
    if (state.isAbsent(i) && state.info.args[i].kind == TKC_TENSOR)
      return true;
  return false;
}

tkc_status bindArguments(EncodeState &state, uint32_t count) {
  const KernelInfo &info = state.info;
  if (count != info.args.size() || (count && !state.args))
    return fail(state.err, TKC_E_ARG, "kernel `%s`: %u arguments given%s, needed %zu", state.name(),
                count, count && !state.args ? " as NULL" : "", info.args.size());
  state.slots[kSmsSlot] = state.sms;
  for (size_t i = 0; i < count; ++i)
    if (tkc_status status = bindOne(state, i))
      return status;
  for (size_t i = 0; i < count; ++i)
    if (info.args[i].kind == TKC_TENSOR && !state.isAbsent(i))
      if (tkc_status status = readAxes(state, i))
        return status;
  bindExtents(state);
  if (hasAbsentTensor(state))
    rebindExtents(state);
  bindStrideNames(state);
  if (tkc_status status = placeScratch(state))
    return status;
  if (tkc_status status = checkDims(state))
    return status;
  return checkRanges(state);
}

} // namespace tkcrt
