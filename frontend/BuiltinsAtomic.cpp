//===- BuiltinsAtomic.cpp - atomic operations -----------------------------------===//
//
// An operation works on addresses and a mask: a place becomes both by tk.locate. All of them need
// `inout` memory, but a store, which `out` memory takes too: `in` memory does not change while the
// kernel runs, and nothing is known of what `out` memory holds.
//
//===----------------------------------------------------------------------===//

#include "frontend/MemoryLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

/// The memory of one atomic operation, and what it orders.
struct MemoryLowerer::AtomicAccess {
  Val pointer;
  Value mask; // null: everywhere
  RunType type;
  MemOrder order = MemOrder::acq_rel;
  MemScope scope = MemScope::gpu;
};

//===----------------------------------------------------------------------===//
// What they work on
//===----------------------------------------------------------------------===//

/// Why memory of a type does not change atomically, or "".
static StringRef whyNotAtomic(Dtype dtype, bool bitsOnly) {
  if (dtype == Dtype::I1 || dtypeBits(dtype) < 16)
    return "no device changes single bytes of memory atomically";
  if (isInteger(dtype) && dtypeBits(dtype) < 32)
    return "integers change atomically in 32 and 64 bits";
  if (bitsOnly && isFloat(dtype))
    return "it combines the bits of integers";
  return "";
}

/// The access rights and the dtype.
bool MemoryLowerer::checkAtomic(const CallArgs &args, bool bitsOnly, bool onlyWrites) {
  const MemoryTarget &target = *args.target;
  StringRef name = args.builtin->name;
  const ast::KernelParam &param = *target.param->decl;
  walk.kernel.written.insert(param.name.text);
  if (target.isTable())
    return mayWrite(target, name);
  bool allowed = param.access == ast::Access::InOut || param.access == ast::Access::Scratch ||
                 (onlyWrites && param.access == ast::Access::Out);
  if (!allowed) {
    bool in = param.access == ast::Access::In;
    error<diag::AtomicRights>(target.range, name, param.name.text, ast::spelling(param.access))
        .note(param.range, "it is declared here")
        .help(in ? "declare it `inout`: `in` says that it does not change while the kernel runs"
                 : "declare it `inout`: what `out` memory holds is never read");
    return false;
  }
  StringRef why = whyNotAtomic(target.type().dtype, bitsOnly);
  if (why.empty())
    return true;
  error<diag::AtomicDtype>(target.range, name, dtypeName(target.type().dtype), why)
      .note(param.range, "it is declared here");
  return false;
}

std::optional<MemoryLowerer::AtomicAccess>
MemoryLowerer::atomicAccess(CallArgs &args, const Val &mask, SourceRange maskRange) {
  MemoryTarget &target = *args.target;
  AtomicAccess access;
  access.type = target.type();
  if (!refuseFill(target, "changed"))
    return std::nullopt;
  if (target.place) {
    if (!addOption(target.place->mask, mask, maskRange, "mask"))
      return std::nullopt;
    Located located = walk.locatePlace(*target.place, args.builtin->name);
    access.pointer = located.pointer;
    access.mask = located.exists;
    return located.exists ? std::optional<AtomicAccess>(access) : std::nullopt;
  }
  bool good = true;
  access.pointer = target.pointer;
  access.mask = walk.maskValue(mask, access.type.shape, maskRange, good);
  if (!good)
    return std::nullopt;
  if (!access.mask)
    walk.warnUnmasked(access.pointer.value, args.range, args.builtin->name);
  return access;
}

/// `sem=`, whose last enumerator is the default, and `scope=`, the argument behind it.
bool MemoryLowerer::readOrder(const CallArgs &args, size_t sem, ArrayRef<StringRef> sems,
                              AtomicAccess &access) {
  std::optional<StringRef> order = enumerator(args, sem, "sem", sems, sems.back());
  std::optional<StringRef> scope =
      enumerator(args, sem + 1, "scope", {"cta", "gpu", "sys"}, "gpu");
  if (!order || !scope)
    return false;
  access.order = *symbolizeMemOrder(*order);
  access.scope = *symbolizeMemScope(*scope);
  return true;
}

static constexpr StringRef kAllOrders[] = {"relaxed", "acquire", "release", "acq_rel"};
static constexpr StringRef kLoadOrders[] = {"relaxed", "acquire"};
static constexpr StringRef kStoreOrders[] = {"relaxed", "release"};

/// Sums of floats depend on their order, which nothing fixes here.
bool MemoryLowerer::checkSumOrder(const CallArgs &args) {
  Dtype dtype = args.target->type().dtype;
  if (!walk.kernel.isDeterministic || !isFloat(dtype))
    return true;
  error<diag::UnorderedSum>(args.range, args.builtin->name, dtypeName(dtype), walk.kernel.decl->name.text)
      .help("let each instance write its part to an element of its own, and sum those afterwards");
  return false;
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

Val MemoryLowerer::buildAtomicRmw(CallArgs &args) {
  enum { Target, Operand, Mask, Sem };
  StringRef name = args.builtin->name.drop_front(StringRef("atomic_").size());
  AtomicKind kind = *symbolizeAtomicKind(name == "xchg" ? "exchange" : name);
  bool bitsOnly =
      kind == AtomicKind::And || kind == AtomicKind::Or || kind == AtomicKind::Xor;
  if (args.poisoned() || !checkAtomic(args, bitsOnly, /*onlyWrites=*/false) ||
      (kind == AtomicKind::add && !checkSumOrder(args)))
    return Val::poison();
  std::optional<AtomicAccess> access = atomicAccess(args, args.values[Mask], args.rangeOf(Mask));
  if (!access || !readOrder(args, Sem, kAllOrders, *access))
    return Val::poison();
  Value value = walk.coerce(args.values[Operand], access->type, args.rangeOf(Operand),
                            args.builtin->name);
  if (!value)
    return Val::poison();
  bool ordered = kind == AtomicKind::max || kind == AtomicKind::min;
  bool isUnsigned = ordered && isUnsignedLike(access->type.dtype);
  auto op = AtomicRmwOp::create(builder, walk.loc(args.range), value.getType(), kind, value,
                                access->pointer.value, access->mask,
                                isUnsigned, access->order, access->scope);
  return Val::run(op.getResult(), access->type);
}

Val MemoryLowerer::buildAtomicCas(CallArgs &args) {
  enum { Target, Expected, Desired, Mask, Sem };
  if (args.poisoned() || !checkAtomic(args, /*bitsOnly=*/false, /*onlyWrites=*/false))
    return Val::poison();
  std::optional<AtomicAccess> access = atomicAccess(args, args.values[Mask], args.rangeOf(Mask));
  if (!access || !readOrder(args, Sem, kAllOrders, *access))
    return Val::poison();
  Value expected = walk.coerce(args.values[Expected], access->type, args.rangeOf(Expected),
                               "the expected value");
  Value desired = walk.coerce(args.values[Desired], access->type, args.rangeOf(Desired),
                              "the desired value");
  if (!expected || !desired)
    return Val::poison();
  auto op = AtomicCasOp::create(builder, walk.loc(args.range), expected.getType(), expected,
                                desired, access->pointer.value, access->mask, access->order,
                                access->scope);
  return Val::run(op.getResult(), access->type);
}

Val MemoryLowerer::buildAtomicLoad(CallArgs &args) {
  enum { Source, Mask, Sem };
  if (args.poisoned() || !checkAtomic(args, /*bitsOnly=*/false, /*onlyWrites=*/false))
    return Val::poison();
  std::optional<AtomicAccess> access = atomicAccess(args, args.values[Mask], args.rangeOf(Mask));
  if (!access || !readOrder(args, Sem, kLoadOrders, *access))
    return Val::poison();
  Value result = AtomicLoadOp::create(builder, walk.loc(args.range), walk.mlirType(access->type),
                                      access->pointer.value, access->mask, access->order,
                                      access->scope);
  return Val::run(result, access->type);
}

Val MemoryLowerer::buildAtomicStore(CallArgs &args) {
  enum { Target, Stored, Mask, Sem };
  if (args.poisoned() || !checkAtomic(args, /*bitsOnly=*/false, /*onlyWrites=*/true))
    return Val::unit();
  std::optional<AtomicAccess> access = atomicAccess(args, args.values[Mask], args.rangeOf(Mask));
  if (!access || !readOrder(args, Sem, kStoreOrders, *access))
    return Val::unit();
  Value value =
      walk.coerce(args.values[Stored], access->type, args.rangeOf(Stored), args.builtin->name);
  if (value)
    AtomicStoreOp::create(builder, walk.loc(args.range), value, access->pointer.value,
                          access->mask, access->order, access->scope);
  return Val::unit();
}

/// Loads until memory holds what is expected; an element outside of its tensor is not waited for.
Val MemoryLowerer::buildAtomicPoll(CallArgs &args) {
  enum { Source, Expected, Sem };
  if (args.poisoned() || !checkAtomic(args, /*bitsOnly=*/true, /*onlyWrites=*/false))
    return Val::unit();
  RunType type = args.target->type();
  if (!type.isScalar()) {
    error<diag::TypeMismatch>(args.rangeOf(Source), "what `atomic_poll` waits for",
                              "one element", "a tile of shape " + describeShape(type.shape))
        .help("wait for one after the other, or count arrivals in one element");
    return Val::unit();
  }
  std::optional<AtomicAccess> access = atomicAccess(args, Val::none(), args.range);
  if (!access || !readOrder(args, Sem, kLoadOrders, *access) || !walk.enterRegion(args.range))
    return Val::unit();
  Value expected = walk.coerce(args.values[Expected], type, args.rangeOf(Expected),
                               "the expected value");
  if (!expected)
    return Val::unit();
  Location at = walk.loc(args.range);
  auto loop = scf::WhileOp::create(builder, at, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Value found = AtomicLoadOp::create(builder, at, walk.mlirType(type), access->pointer.value,
                                     access->mask, access->order, access->scope);
  Value waits = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, found, expected);
  if (access->mask)
    waits = arith::AndIOp::create(builder, at, waits, access->mask);
  scf::ConditionOp::create(builder, at, waits, ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, at);
  return Val::unit();
}
