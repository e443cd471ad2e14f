//===- Bind.cpp - arguments against parameters, names to values ------------===//
// In the order that docs/metadata.md states: kinds, dtypes and ranks; extents bound, then checked;
// strides; ranges; alignment and null data.
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
  if (state.args[arg].kind == TKC_ABSENT)
    return info.defaultBits;
  uint64_t bits = 0;
  // A caller who sets u.f32 leaves the upper half of the union as it was.
  memcpy(&bits, &state.args[arg].u, info.dtype->code == TKC_F32 ? 4 : 8);
  return bits;
}

const void *argAddress(const EncodeState &state, size_t arg) {
  const tkc_arg &given = state.args[arg];
  return given.kind == TKC_TENSOR ? given.u.tensor.data : given.u.pointer.data;
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

/// Kind, dtype and rank of one argument; the values that it has without looking at others.
static tkc_status bindOne(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  const tkc_arg &arg = state.args[index];
  bool isDefaulted = arg.kind == TKC_ABSENT && info.hasDefault;
  if (arg.kind != info.kind && !isDefaulted)
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s` is given %s, needed %s%s",
                state.name(), info.name.c_str(), kindText(arg.kind), kindText(info.kind),
                arg.kind == TKC_ABSENT ? " (it has no default)" : "");
  if (arg.kind == TKC_TENSOR) {
    if (tkc_status status = checkTensor(state, info, arg))
      return status;
  } else if (!isDefaulted) {
    if (tkc_status status = checkDtype(state, info, arg.dtype))
      return status;
  }
  if (info.kind == TKC_SCALAR)
    return bindScalar(state, index);
  uint64_t address = reinterpret_cast<uintptr_t>(argAddress(state, index));
  if (address > static_cast<uint64_t>(INT64_MAX))
    return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: %#llx is no address",
                state.name(), info.name.c_str(), static_cast<unsigned long long>(address));
  state.slots[info.pointerSlot] = static_cast<int64_t>(address);
  return TKC_OK;
}

/// The strides as given, or those of a dense tensor, into their slots.
static tkc_status readStrides(EncodeState &state, const ArgInfo &info, const tkc_tensor &tensor) {
  int64_t dense = 1;
  for (int axis = tensor.rank - 1; axis >= 0; --axis) {
    state.slots[info.strideSlot + axis] = tensor.strides ? tensor.strides[axis] : dense;
    state.slots[info.extentSlot + axis] = tensor.extents[axis];
    int64_t extent = tensor.extents[axis] > 1 ? tensor.extents[axis] : 1;
    if (!tensor.strides && !mulTo(dense, extent, dense))
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: parameter `%s`: the number of elements overflows 64 bits",
                  state.name(), info.name.c_str());
  }
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
        state.slots[info.extents[axis].slot] = state.args[i].u.tensor.extents[axis];
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
      bool strong = state.args[i].u.tensor.extents[axis] > 1;
      if (isSet[spec.slot] && (isStrong[spec.slot] || !strong))
        continue;
      state.slots[spec.slot] = state.slots[info.strideSlot + static_cast<int>(axis)];
      isSet[spec.slot] = true;
      isStrong[spec.slot] = strong;
    }
  }
}

static tkc_status checkDims(const EncodeState &state) {
  for (size_t i = 0; i < state.info.args.size(); ++i) {
    const ArgInfo &info = state.info.args[i];
    for (size_t axis = 0; axis < info.extents.size(); ++axis)
      if (info.extents[axis].kind == DimSpec::Kind::Check)
        if (tkc_status status = checkDim(state, info, "extent", axis, info.extents[axis],
                                         state.args[i].u.tensor.extents[axis]))
          return status;
  }
  for (size_t i = 0; i < state.info.args.size(); ++i) {
    const ArgInfo &info = state.info.args[i];
    for (size_t axis = 0; axis < info.strides.size(); ++axis) {
      int64_t stride = state.slots[info.strideSlot + static_cast<int>(axis)];
      if (state.args[i].u.tensor.extents[axis] <= 1)
        continue; // no step is ever made along this axis
      if (stride == 0 && info.access != Access::In)
        return fail(state.err, TKC_E_EXTENT,
                    "kernel `%s`: parameter `%s`: stride %zu is 0 and the extent %lld; a written "
                    "parameter needs another",
                    state.name(), info.name.c_str(), axis,
                    static_cast<long long>(state.args[i].u.tensor.extents[axis]));
      if (info.strides[axis].kind != DimSpec::Kind::Free)
        if (tkc_status status = checkDim(state, info, "stride", axis, info.strides[axis], stride))
          return status;
    }
  }
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

static bool hasElements(const tkc_tensor &tensor) {
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (tensor.extents[axis] == 0)
      return false;
  return true;
}

/// From extents and strides, in bytes, for a tensor with elements; false on overflow.
static bool tensorSpan(const EncodeState &state, const ArgInfo &info, const tkc_tensor &tensor,
                       Span &span) {
  int64_t bytes = info.dtype->bits / 8;
  span.high = bytes;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.extents[axis] == 1)
      continue; // its stride may be anything
    int64_t reach;
    if (!mulTo(tensor.extents[axis] - 1, state.slots[info.strideSlot + static_cast<int>(axis)],
               reach) ||
        !mulTo(reach, bytes, reach))
      return false;
    int64_t &side = reach < 0 ? span.low : span.high;
    if (!addTo(side, reach, side))
      return false;
  }
  int64_t end;
  return addTo(state.slots[info.pointerSlot], span.high, end) &&
         addTo(state.slots[info.pointerSlot], span.low, end) && end >= 0;
}

static tkc_status checkData(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  Span &span = state.spans[index];
  span = Span{0, 0, true};
  int64_t address = state.slots[info.pointerSlot];
  uint64_t owned = 0;
  if (info.kind == TKC_TENSOR) {
    const tkc_tensor &tensor = state.args[index].u.tensor;
    owned = tensor.span_bytes;
    if (!hasElements(tensor))
      return TKC_OK;
    if (!address)
      return fail(state.err, TKC_E_ARG,
                  "kernel `%s`: parameter `%s`: data is NULL, and the tensor has elements",
                  state.name(), info.name.c_str());
    if (!tensorSpan(state, info, tensor, span))
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: parameter `%s`: extents times strides leave the address space",
                  state.name(), info.name.c_str());
  } else {
    owned = state.args[index].u.pointer.span_bytes;
    span.isKnown = owned != 0;
    if (owned > static_cast<uint64_t>(INT64_MAX - address))
      return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s`: span_bytes is %llu",
                  state.name(), info.name.c_str(), static_cast<unsigned long long>(owned));
    span.high = static_cast<int64_t>(owned);
  }
  if (info.kind == TKC_TENSOR && owned && static_cast<uint64_t>(span.high) > owned)
    return fail(state.err, TKC_E_EXTENT,
                "kernel `%s`: parameter `%s` reaches %lld bytes from its start, the caller owns "
                "%llu",
                state.name(), info.name.c_str(), static_cast<long long>(span.high),
                static_cast<unsigned long long>(owned));
  if (address % info.align)
    return fail(state.err, TKC_E_ALIGN,
                "kernel `%s`: parameter `%s`: address %#llx, needed a multiple of %u", state.name(),
                info.name.c_str(), static_cast<unsigned long long>(address), info.align);
  return TKC_OK;
}

tkc_status bindArguments(EncodeState &state, int64_t sms, uint32_t count) {
  const KernelInfo &info = state.info;
  if (count != info.args.size() || (count && !state.args))
    return fail(state.err, TKC_E_ARG, "kernel `%s`: %u arguments given%s, needed %zu", state.name(),
                count, count && !state.args ? " as NULL" : "", info.args.size());
  state.slots[kSmsSlot] = sms;
  for (size_t i = 0; i < count; ++i)
    if (tkc_status status = bindOne(state, i))
      return status;
  for (size_t i = 0; i < count; ++i)
    if (info.args[i].kind == TKC_TENSOR)
      if (tkc_status status = readStrides(state, info.args[i], state.args[i].u.tensor))
        return status;
  bindExtents(state);
  bindStrideNames(state);
  if (tkc_status status = checkDims(state))
    return status;
  if (tkc_status status = checkRanges(state))
    return status;
  for (size_t i = 0; i < count; ++i)
    if (info.args[i].kind != TKC_SCALAR)
      if (tkc_status status = checkData(state, i))
        return status;
  return TKC_OK;
}

} // namespace tkcrt
