//===- MachineKernel.cpp - signature, entry and control flow of a kernel -----------===//

#include "backends/nvptx/Machine.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/Launch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

Machine::Machine(KernelOp kernel, const Target &target)
    : kernel(kernel), known(kernel), target(target), context(kernel.getContext()), builder(kernel),
      loc(kernel.getLoc()) {
  auto numerics = kernel.getContract().getFields().getAs<DictionaryAttr>("numerics");
  if (auto flag = numerics ? numerics.getAs<BoolAttr>("contract") : BoolAttr())
    contract = flag.getValue();
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static StringRef accessName(DictionaryAttr argument, StringRef field) {
  return argument.getAs<StringAttr>(field).getValue();
}

static std::string viewPointer(KernelOp kernel, Value view) {
  unsigned index = cast<BlockArgument>(view).getArgNumber();
  return (accessName(kernel.getArgContract(index), "name") + ".ptr").str();
}

/// What the host computes for an extent or stride. An extent of `_` has no name but its place's.
static Attribute entryOf(KernelOp kernel, Value view, StringRef list, int64_t axis) {
  unsigned index = cast<BlockArgument>(view).getArgNumber();
  Attribute entry = kernel.getArgContract(index).getAs<ArrayAttr>(list)[axis];
  auto any = StringAttr::get(kernel.getContext(), "_");
  if (entry != any)
    return entry;
  StringRef name = accessName(kernel.getArgContract(index), "name");
  return StringAttr::get(kernel.getContext(), (name + ".e" + Twine(axis)).str());
}

static std::string keyOf(Attribute value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

unsigned Machine::paramFor(Attribute value, Type type, StringRef dtype) {
  auto [it, isNew] = paramIndex.try_emplace(keyOf(value), deviceParams.size());
  if (isNew) {
    unsigned bits = isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
    deviceParams.push_back({value, type, dtype.str(), bits / 8});
  }
  return it->second;
}

/// What the body uses, pointers first, each thing once.
void Machine::collectParams() {
  Type pointerType = LLVM::LLVMPointerType::get(context, 1), i64 = builder.getI64Type();
  SmallVector<std::pair<unsigned, Attribute>> pointers;
  kernel.walk([&](Operation *op) {
    if (!isa<BaseOp, PresentOp>(op) || !isa<ViewType>(op->getOperand(0).getType()))
      return;
    Value view = op->getOperand(0);
    pointers.push_back({cast<BlockArgument>(view).getArgNumber(),
                        builder.getStringAttr(viewPointer(kernel, view))});
  });
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<PtrType>(argument.getType()) && !argument.use_empty())
      pointers.push_back(
          {argument.getArgNumber(),
           builder.getStringAttr(
               accessName(kernel.getArgContract(argument.getArgNumber()), "name") + ".ptr")});
  llvm::stable_sort(pointers, llvm::less_first());
  for (auto &[index, name] : pointers)
    paramFor(name, pointerType, "ptr");
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<PtrType, ViewType>(argument.getType()) || argument.use_empty())
      continue;
    DictionaryAttr entry = kernel.getArgContract(argument.getArgNumber());
    Type type = argument.getType().isInteger(1) ? builder.getI8Type() : argument.getType();
    paramFor(entry.get("name"), type, accessName(entry, "dtype"));
  }
  kernel.walk([&](Operation *op) {
    Attribute value;
    if (auto extent = dyn_cast<ExtentOp>(op))
      value = entryOf(kernel, extent.getView(), "extents", extent.getAxis());
    if (auto stride = dyn_cast<StrideOp>(op))
      value = entryOf(kernel, stride.getView(), "strides", stride.getAxis());
    if (value && !isa<IntegerAttr>(value))
      paramFor(value, i64, "i64");
  });
}

Value Machine::viewAddress(Value view) {
  Attribute name = builder.getStringAttr(viewPointer(kernel, view));
  return function.getArgument(paramIndex.at(keyOf(name)));
}

/// The divisor that the variant's facts promise for a parameter, 1 when none.
static int64_t promised(KernelOp kernel, Attribute value) {
  auto facts = kernel->getAttrOfType<ArrayAttr>("facts");
  if (!facts)
    return 1;
  for (Attribute fact : facts) {
    auto term = cast<ArrayAttr>(fact);
    if (cast<StringAttr>(term[0]).getValue() == "divides" && term[2] == value)
      return cast<IntegerAttr>(term[1]).getInt();
  }
  return 1;
}

/// Whether LLVM may be told that nothing else leads to the pointer's memory: it is the only one of its
/// alias class (classes never overlap where one of them is written; the loader checks that), and
/// no barrier hands on what other threads wrote there. LLVM takes a barrier for a call, which cannot
/// change memory that is `noalias`, and would keep a thread's own view of it.
static bool isNoalias(KernelOp kernel, Attribute pointer) {
  bool meets = kernel.walk([](tkg::BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
  std::optional<int64_t> own;
  llvm::SmallVector<int64_t> classes;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto view = dyn_cast<ViewType>(type);
    auto plain = dyn_cast<PtrType>(type);
    if (!view && !plain)
      continue;
    classes.push_back(view ? view.getAliasClass() : plain.getAliasClass());
    DictionaryAttr entry = kernel.getArgContract(index);
    std::string name = (accessName(entry, "name") + ".ptr").str();
    if (cast<StringAttr>(pointer).getValue() != name)
      continue;
    own = classes.back();
    if (meets && accessName(entry, "access") != "in")
      return false;
  }
  return own && llvm::count(classes, *own) == 1;
}

int32_t Machine::blockThreads() { return int32_t(warpsOf(kernel) * target.warpSize); }

void Machine::attachAttributes(LLVM::LLVMFuncOp function) {
  function->setAttr("nvvm.kernel", builder.getUnitAttr());
  function->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({blockThreads(), 1, 1}));
  if (std::optional<int64_t> most = launchOption(kernel, "maxregs"))
    function->setAttr("nvvm.maxnreg", builder.getI32IntegerAttr(*most));
  for (auto [i, param] : llvm::enumerate(deviceParams)) {
    if (!isa<LLVM::LLVMPointerType>(param.type))
      continue;
    if (int64_t align = promised(kernel, param.value); align > 1)
      function.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(align));
    if (isNoalias(kernel, param.value))
      function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
}

void Machine::makeFunction() {
  SmallVector<Type> types;
  for (const DeviceParam &param : deviceParams)
    types.push_back(param.type);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  // The symbol is the kernel's; the kernel goes away in the end.
  function = LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  attachAttributes(function);
}

void Machine::makeEntry() {
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Type i32 = builder.getI32Type();
  thread = NVVM::ThreadIdXOp::create(builder, loc, i32);
  lane = LLVM::AndOp::create(builder, loc, thread, integer(target.warpSize - 1, 32));
  warp = LLVM::LShrOp::create(builder, loc, thread, integer(llvm::Log2_64(target.warpSize), 32));
}

void Machine::bindArguments() {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<ViewType>(argument.getType()) || argument.use_empty())
      continue;
    DictionaryAttr entry = kernel.getArgContract(argument.getArgNumber());
    Attribute name = entry.get("name");
    if (isa<PtrType>(argument.getType()))
      name = builder.getStringAttr(accessName(entry, "name") + ".ptr");
    Value param = function.getArgument(paramIndex.at(keyOf(name)));
    if (argument.getType().isInteger(1))
      param = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, param, integer(0, 8));
    scalars[argument] = param;
  }
}

/// The passes give an access i32 offsets only when their range, and so that of every sum and
/// product they are made of, is known to fit. LLVM must be told: without `nsw` its strength reduction
/// takes `sext(a + c)` apart as if it could not wrap, and other passes cannot.
void Machine::collectExactOffsets() {
  SmallVector<Value> work;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tkg::LoadOp>(op))
      work.push_back(load.getOffset());
    if (auto store = dyn_cast<tkg::StoreOp>(op))
      work.push_back(store.getOffset());
    if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(op))
      work.push_back(atomic.getOffset());
    if (auto copy = dyn_cast<tkg::AsyncCopyOp>(op))
      work.push_back(copy.getOffset());
  });
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, ExpandDimsOp, BroadcastOp>(op) ||
        !elementTypeOf(op->getResult(0).getType()).isInteger(32) || !exactOffsets.insert(op).second)
      continue;
    llvm::append_range(work, op->getOperands());
  }
}

/// Words are taken apart and put together again (MachineWords.cpp), and then nobody asks for the parts.
void Machine::eraseUnused() {
  for (Block &block : llvm::reverse(function.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op) && isMemoryEffectFree(&op))
        op.erase();
}

FailureOr<LLVM::LLVMFuncOp> Machine::lower() {
  collectExactOffsets();
  collectParams();
  makeFunction();
  makeEntry();
  bindArguments();
  MadeScope all(made);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  eraseUnused();
  return function;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// program_id and num_programs: 32 bits of hardware, never negative.
static Value gridRegister(OpBuilder &builder, Location loc, int64_t axis, bool count) {
  Type i32 = builder.getI32Type();
  Value value;
  switch (axis) {
  case 0:
    value = count ? NVVM::GridDimXOp::create(builder, loc, i32).getResult()
                  : NVVM::BlockIdXOp::create(builder, loc, i32).getResult();
    break;
  case 1:
    value = count ? NVVM::GridDimYOp::create(builder, loc, i32).getResult()
                  : NVVM::BlockIdYOp::create(builder, loc, i32).getResult();
    break;
  default:
    value = count ? NVVM::GridDimZOp::create(builder, loc, i32).getResult()
                  : NVVM::BlockIdZOp::create(builder, loc, i32).getResult();
  }
  return LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), value);
}

LogicalResult Machine::lowerBlock(Block &block) {
  MadeScope inner(made);
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
  }
  if (isa<ReturnOp>(block.getTerminator()))
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  return success();
}

/// For cases that cannot fail.
static constexpr auto done = [](auto &&...) { return success(); };

LogicalResult Machine::lowerOp(Operation *op) {
  if (isa<tkg::TkgDialect>(op->getDialect()))
    return lowerTileOp(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ConstantOp>([&](Operation *op) { return done((lowerConstant(op), 0)); })
      .Case<ArangeOp, SplatOp, ExpandDimsOp, BroadcastOp>(
          [&](Operation *op) { return done((lowerShape(op), 0)); })
      .Case<ReshapeOp, PermuteOp, FlipOp, SliceOp, CatOp, InsertOp>(
          [&](Operation *op) { return done((lowerRegisterMove(op), 0)); })
      .Case([&](arith::ExtSIOp ext) {
        return extendRange(ext) ? success() : lowerElementwise(ext);
      })
      .Case([&](PtrAddOp add) { return done((lowerPtrAdd(add), 0)); })
      .Case([&](PrefetchOp prefetch) { return done((lowerPrefetch(prefetch), 0)); })
      .Case<AtomicRmwOp, AtomicCasOp, AtomicLoadOp, AtomicStoreOp>(
          [&](Operation *op) { return done((lowerAtomic(op), 0)); })
      .Case([&](LoadOp load) { return lowerPointerLoad(load); })
      .Case([&](StoreOp store) { return lowerPointerStore(store); })
      .Case([&](MapOp map) { return lowerMap(map); })
      .Case([&](AsmOp assembly) { return lowerAsm(assembly); })
      .Case([&](ExternOp external) { return lowerExtern(external); })
      .Case([&](BitcastOp bitcast) { return done((lowerBitcast(bitcast), 0)); })
      .Case([&](HintOp hint) { return done((lowerHint(hint), 0)); })
      .Default([&](Operation *op) { return lowerScalarOp(op); });
}

/// Control flow, and what an instance knows of itself and its arguments.
LogicalResult Machine::lowerScalarOp(Operation *op) {
  auto viewEntry = [&](Value view, StringRef list, int64_t axis) -> Value {
    Attribute value = entryOf(kernel, view, list, axis);
    if (auto number = dyn_cast<IntegerAttr>(value))
      return integer(number.getInt(), 64);
    return function.getArgument(paramIndex.at(keyOf(value)));
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return lowerFor(loop); })
      .Case([&](scf::WhileOp loop) { return lowerWhile(loop); })
      .Case([&](scf::IfOp branch) { return lowerIf(branch); })
      .Case([&](ProgramIdOp id) {
        return done(scalars[id] = gridRegister(builder, loc, id.getAxis(), false));
      })
      .Case([&](NumProgramsOp count) {
        return done(scalars[count] = gridRegister(builder, loc, count.getAxis(), true));
      })
      .Case([&](ExtentOp e) { return done(scalars[e] = viewEntry(e.getView(), "extents", e.getAxis())); })
      .Case([&](StrideOp s) { return done(scalars[s] = viewEntry(s.getView(), "strides", s.getAxis())); })
      .Case([&](BaseOp base) {
        return done(scalars[base] = viewAddress(base.getView()));
      })
      .Case([&](PresentOp present) { return done((lowerPresent(present), 0)); })
      .Case<ClockOp, SmIdOp, GridDependencyOp, PrintOp, AssertOp>(
          [&](Operation *op) { return lowerInstance(op); })
      .Case([&](AssumeOp assume) {
        return done(LLVM::AssumeOp::create(builder, loc, scalar(assume.getCondition())));
      })
      .Case([&](NumWarpsOp warps) { return done(scalars[warps] = integer(warpsOf(kernel), 64)); })
      .Default([&](Operation *op) {
        return op->getNumResults() == 1 ? lowerElementwise(op) : unsupported(op);
      });
}

/// Operations of `tkg`: memory, and what threads do together.
LogicalResult Machine::lowerTileOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tkg::LoadOp load) { return done((lowerLoad(load), 0)); })
      .Case([&](tkg::StoreOp store) { return done((lowerStore(store), 0)); })
      .Case([&](tkg::AtomicRmwOp atomic) { return done((lowerPlacedAtomic(atomic), 0)); })
      .Case([&](tkg::ReduceOp reduce) { return done((lowerReduce(reduce), 0)); })
      .Case([&](tkg::ScanOp scan) { return done((lowerScan(scan), 0)); })
      .Case([&](tkg::ScanCarryOp carry) { return done((lowerScanCarry(carry), 0)); })
      .Case([&](tkg::DotOp dot) { return done((lowerDot(dot), 0)); })
      .Case([&](tkg::MmaOp mma) { return done((lowerMma(mma), 0)); })
      .Case<tkg::AllocOp, tkg::BufViewOp>([](auto) { return success(); })
      .Case([&](tkg::AsyncCopyOp copy) { return done((lowerAsyncCopy(copy), 0)); })
      .Case([&](tkg::RingSlotOp slot) { return done((lowerRingSlot(slot), 0)); })
      .Case([&](tkg::AsyncCommitOp) { return done(NVVM::CpAsyncCommitGroupOp::create(builder, loc)); })
      .Case([&](tkg::AsyncWaitOp wait) {
        return done(NVVM::CpAsyncWaitGroupOp::create(builder, loc, uint32_t(wait.getPending())));
      })
      .Case([&](tkg::BufGatherOp gather) { return done((lowerBufGather(gather), 0)); })
      .Case([&](tkg::BufCountOp count) { return done((lowerBufCount(count), 0)); })
      .Case([&](tkg::BufSortOp sort) { return done((lowerBufSort(sort), 0)); })
      .Case([&](tkg::BufStoreOp store) { return done((lowerBufStore(store), 0)); })
      .Case([&](tkg::BufLoadOp load) { return done((lowerBufLoad(load), 0)); })
      .Case([&](tkg::ConvertOp convert) { return done((lowerConvert(convert), 0)); })
      .Case([&](tkg::BarrierOp) { return done(NVVM::Barrier0Op::create(builder, loc)); })
      .Default([&](Operation *op) { return unsupported(op); });
}

LogicalResult Machine::unsupported(Operation *op) {
  return emit<diag::MachineUnsupported>(op->getLoc(), op->getName().getStringRef(), target.name);
}

//===----------------------------------------------------------------------===//
// Control flow: blocks with one argument for each register
//===----------------------------------------------------------------------===//

/// Elements of 8 and 16 bits travel in words of 32: a register of its own for each would double
/// what a loop keeps alive.
unsigned Machine::elementsPerWord(Value tile) {
  Type type = machineType(elementTypeOf(tile.getType()));
  if (isa<LLVM::LLVMPointerType>(type) || type.isInteger(1) || type.getIntOrFloatBitWidth() >= 32)
    return 1;
  unsigned count = 32 / type.getIntOrFloatBitWidth();
  return layoutOf(tile).numRegisters() % count == 0 ? count : 1;
}

SmallVector<Value> Machine::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) {
      flat.push_back(scalar(value));
      continue;
    }
    unsigned perWord = elementsPerWord(value);
    for (unsigned i = 0; i < tiles[value].size(); i += perWord) {
      SmallVector<Value> elements;
      for (unsigned k = 0; k < perWord; ++k)
        elements.push_back(reg(value, i + k));
      flat.push_back(perWord == 1 ? elements[0] : toWords(elements)[0]);
    }
  }
  return flat;
}

void Machine::unflatten(ValueRange values, ValueRange flat) {
  size_t next = 0;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) {
      scalars[value] = flat[next++];
      continue;
    }
    Tile tile;
    unsigned perWord = elementsPerWord(value);
    Type type = machineType(elementTypeOf(value.getType()));
    for (int32_t i = 0; i < layoutOf(value).numRegisters(); i += perWord) {
      Value word = flat[next++];
      SmallVector<Value> elements{word};
      if (perWord > 1)
        elements = fromWords(word, type, perWord);
      for (Value element : elements)
        tile.push_back({element, 0});
    }
    tiles[value] = std::move(tile);
  }
}

SmallVector<Type> Machine::flatTypes(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values) {
    Type type = machineType(elementTypeOf(value.getType()));
    if (!isa<RankedTensorType>(value.getType())) {
      types.push_back(type);
      continue;
    }
    unsigned perWord = elementsPerWord(value);
    types.append(layoutOf(value).numRegisters() / perWord,
                 perWord == 1 ? type : builder.getI32Type());
  }
  return types;
}

Block *Machine::newBlock(ArrayRef<Type> types) {
  Block *block = new Block();
  function.getBody().push_back(block);
  for (Type type : types)
    block->addArgument(type, loc);
  return block;
}

LogicalResult Machine::lowerFor(scf::ForOp op) {
  SmallVector<Type> types = flatTypes(op.getResults());
  SmallVector<Value> start{integer(0, 64)};
  llvm::append_range(start, flatten(op.getInitArgs()));
  types.insert(types.begin(), builder.getI64Type());
  Value trips = scalar(op.getUpperBound());
  Block *header = newBlock(types), *body = newBlock({}), *exit = newBlock({});
  LLVM::BrOp::create(builder, loc, start, header);
  builder.setInsertionPointToEnd(header);
  Value index = header->getArgument(0);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, index, trips);
  LLVM::CondBrOp::create(builder, loc, more, body, ValueRange(), exit, ValueRange());
  builder.setInsertionPointToEnd(body);
  {
    MadeScope inside(made);
    scalars[op.getInductionVar()] = index;
    unflatten(op.getRegionIterArgs(), header->getArguments().drop_front());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> next{LLVM::AddOp::create(builder, loc, index, integer(1, 64),
                                                LLVM::IntegerOverflowFlags::nsw)};
    llvm::append_range(next, flatten(op.getBody()->getTerminator()->getOperands()));
    LLVM::BrOp::create(builder, loc, next, header);
  }
  builder.setInsertionPointToEnd(exit);
  unflatten(op.getResults(), header->getArguments().drop_front());
  return success();
}

LogicalResult Machine::lowerWhile(scf::WhileOp op) {
  Block *header = newBlock(flatTypes(op.getBeforeArguments()));
  LLVM::BrOp::create(builder, loc, flatten(op.getInits()), header);
  builder.setInsertionPointToEnd(header);
  unflatten(op.getBeforeArguments(), header->getArguments());
  if (failed(lowerBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Value> passed = flatten(condition.getArgs());
  Block *body = newBlock({}), *exit = newBlock({});
  LLVM::CondBrOp::create(builder, loc, scalar(condition.getCondition()), body, ValueRange(), exit,
                         ValueRange());
  builder.setInsertionPointToEnd(body);
  {
    MadeScope inside(made);
    unflatten(op.getAfterArguments(), passed);
    if (failed(lowerBlock(*op.getAfterBody())))
      return failure();
    LLVM::BrOp::create(builder, loc, flatten(op.getYieldOp().getOperands()), header);
  }
  builder.setInsertionPointToEnd(exit);
  unflatten(op.getResults(), passed);
  return success();
}

LogicalResult Machine::lowerIf(scf::IfOp op) {
  Block *thenBlock = newBlock({}), *elseBlock = newBlock({});
  Block *merge = newBlock(flatTypes(op.getResults()));
  LLVM::CondBrOp::create(builder, loc, scalar(op.getCondition()), thenBlock, ValueRange(), elseBlock,
                         ValueRange());
  for (auto [region, block] : {std::pair(&op.getThenRegion(), thenBlock),
                               std::pair(&op.getElseRegion(), elseBlock)}) {
    builder.setInsertionPointToEnd(block);
    MadeScope inside(made);
    SmallVector<Value> results;
    if (!region->empty()) {
      if (failed(lowerBlock(region->front())))
        return failure();
      results = flatten(region->front().getTerminator()->getOperands());
    }
    LLVM::BrOp::create(builder, loc, results, merge);
  }
  builder.setInsertionPointToEnd(merge);
  unflatten(op.getResults(), merge->getArguments());
  return success();
}
