//===- Workspace.cpp - memory for scratch arguments that are left out ------===//
// Each begins at a multiple of 256 in options.workspace, in the order of the arguments, dense.
#include "Checked.h"
#include "Encode.h"
#include "Error.h"

namespace tkcrt {

static tkc_status placeOne(EncodeState &state, size_t index, int64_t base, int64_t &end) {
  const ArgInfo &info = state.info.args[index];
  for (size_t axis = 0; axis < info.extents.size(); ++axis) {
    const DimSpec &spec = info.extents[axis];
    int64_t extent = 0;
    if (tkc_status status = evaluate(state, spec.program, spec.text, extent))
      return status;
    if (extent < 0)
      return fail(state.err, TKC_E_EXTENT,
                  "kernel `%s`: scratch `%s`: extent %zu is %lld (`%s`), needed 0 or more",
                  state.name(), info.name.c_str(), axis, static_cast<long long>(extent),
                  spec.text.c_str());
    state.slots[info.extentSlot + static_cast<int>(axis)] = extent;
  }
  int64_t elements = 0, bytes = 0, address = 0;
  if (tkc_status status = fillDense(state, index, elements))
    return status;
  int64_t align = static_cast<int64_t>(kWorkspaceAlign);
  bool isGood = addTo(end, align - 1, end);
  end -= end % align;
  isGood = isGood && addTo(base, end, address) && info.dtype->bytesOf(elements, bytes) &&
           addTo(end, bytes, end) && addTo(base, end, bytes);
  if (!isGood)
    return fail(state.err, TKC_E_EXTENT, "kernel `%s`: scratch `%s` leaves the address space",
                state.name(), info.name.c_str());
  state.slots[info.pointerSlot] = address;
  return TKC_OK;
}

tkc_status placeScratch(EncodeState &state) {
  uint64_t base = state.options ? reinterpret_cast<uintptr_t>(state.options->workspace) : 0;
  int64_t end = 0;
  if (base > static_cast<uint64_t>(INT64_MAX))
    return fail(state.err, TKC_E_ARG,
                "kernel `%s`: options.workspace is %#llx, which is no address", state.name(),
                static_cast<unsigned long long>(base));
  for (size_t i = 0; i < state.info.args.size(); ++i)
    if (state.isAbsent(i) && state.info.args[i].isScratch())
      if (tkc_status status = placeOne(state, i, static_cast<int64_t>(base), end))
        return status;
  state.workspaceBytes = static_cast<uint64_t>(end);
  return TKC_OK;
}

/// May an expression with this name in it be larger for a smaller launch? Extents and what can't
/// be negative are fine; addresses and strides are not sizes.
static bool growsWith(const KernelInfo &info, int slot) {
  if (slot == kSmsSlot)
    return true;
  for (const RangeSpec &range : info.ranges)
    if (range.slot == slot && range.low >= 0)
      return true;
  const SlotInfo &name = info.slots[static_cast<size_t>(slot)];
  if (name.arg < 0)
    return false;
  const ArgInfo &arg = info.args[static_cast<size_t>(name.arg)];
  bool isExtent = false;
  for (size_t axis = 0; axis < arg.extents.size(); ++axis)
    isExtent |= arg.extents[axis].slot == slot || arg.extentSlot + static_cast<int>(axis) == slot;
  return isExtent || slot == arg.spanSlot ||
         (slot == arg.scalarSlot && arg.dtype->cls != DtypeClass::Signed);
}

/// Only operators that grow with their operands, on operands that are not negative.
static bool isMonotone(const KernelInfo &info, Program program) {
  for (uint32_t at = program.begin; at < program.end; ++at) {
    const Instr &instr = info.code.instrs[at];
    switch (instr.op) {
    case Op::Slot:
      if (!growsWith(info, static_cast<int>(instr.value)))
        return false;
      break;
    case Op::Const:
      if (instr.value < 0)
        return false;
      break;
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::NextPow2:
      break;
    case Op::Div:
    case Op::CDiv:
    case Op::RoundUp: // by a number: what stands before the operator is its second operand
      if (info.code.instrs[at - 1].op != Op::Const)
        return false;
      break;
    default:
      return false;
    }
  }
  return true;
}

/// The bytes that absent scratch arguments of this launch take.
static tkc_status queryBytes(const tkc_kernel *kernel, const tkc_arg *args, uint32_t count,
                             const tkc_options *options, uint64_t *bytes, const char *call,
                             tkc_error *err) {
  if (tkc_status status = checkCall(kernel, options, call, err))
    return status;
  if (!bytes)
    return fail(err, TKC_E_ARG, "%s: bytes is NULL", call);
  EncodeState state(*kernel, args, options, err);
  if (tkc_status status = bindArguments(state, count))
    return status;
  *bytes = state.workspaceBytes;
  return TKC_OK;
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_workspace_query(const tkc_kernel *kernel, const tkc_arg *args, uint32_t n,
                               const tkc_options *options, uint64_t *bytes, uint32_t *align,
                               uint32_t *must_be_zero, tkc_error *err) {
  if (tkc_status status = queryBytes(kernel, args, n, options, bytes, "tkc_workspace_query", err))
    return status;
  bool isZeroed = false;
  for (size_t i = 0; i < kernel->info->args.size(); ++i)
    isZeroed |= args[i].kind == TKC_ABSENT && kernel->info->args[i].isScratch() &&
                kernel->info->args[i].isZeroed;
  if (align)
    *align = static_cast<uint32_t>(kWorkspaceAlign);
  if (must_be_zero)
    *must_be_zero = isZeroed;
  return succeed(err);
}

tkc_status tkc_workspace_bound(const tkc_kernel *kernel, const tkc_arg *args, uint32_t n,
                               const tkc_options *options, uint64_t *bytes, tkc_error *err) {
  if (tkc_status status = queryBytes(kernel, args, n, options, bytes, "tkc_workspace_bound", err))
    return status;
  for (const ArgInfo &arg : kernel->info->args)
    for (const DimSpec &extent : arg.extents)
      if (arg.isScratch() && !isMonotone(*kernel->info, extent.program))
        return fail(err, TKC_E_UNSUPPORTED,
                    "kernel `%s`: scratch `%s`: `%s` need not be largest for the largest extents; "
                    "ask tkc_workspace_query for each launch",
                    kernel->info->name.c_str(), arg.name.c_str(), extent.text.c_str());
  return succeed(err);
}
