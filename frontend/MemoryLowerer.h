//===- MemoryLowerer.h - the functions that touch memory or say something of the run ----===//
//
// Loads, stores, views, atomic operations, printing, hints: what stands in the table of built-in
// functions and takes places and pointers, or has an effect beside its value.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Lowerer.h"

namespace tk {

/// What a function works on: a place, a pointer, or a tile of pointers.
struct MemoryTarget {
  std::optional<Place> place;
  Val pointer;                        // when there is no place
  const TensorParam *param = nullptr; // that it came from
  SourceRange range;

  /// The type of what is read or written through it.
  RunType type() const;
  /// It holds addresses: memory that is read by every `**T` and never written.
  bool isTable() const { return !place && pointer.type.indirections != 0; }
};

class MemoryLowerer {
public:
  explicit MemoryLowerer(Lowerer &walk) : walk(walk), builder(walk.builder) {}

  /// Evaluates the place or pointer of an argument; false after an error.
  bool evalTarget(CallArgs &args, const ast::Expr *expr);

  // --- BuiltinsAccess.cpp -------------------------------------------------------
  Val buildLoad(CallArgs &args);
  Val buildStore(CallArgs &args);
  Val buildPrefetch(CallArgs &args);

  // --- BuiltinsView.cpp ---------------------------------------------------------
  Val buildView(CallArgs &args);

  // --- BuiltinsAtomic.cpp -------------------------------------------------------
  Val buildAtomicRmw(CallArgs &args);
  Val buildAtomicCas(CallArgs &args);
  Val buildAtomicLoad(CallArgs &args);
  Val buildAtomicStore(CallArgs &args);
  Val buildAtomicPoll(CallArgs &args);

  // --- BuiltinsDebug.cpp --------------------------------------------------------
  Val buildPrint(CallArgs &args);
  Val buildStaticPrint(CallArgs &args);
  Val buildAssert(CallArgs &args);
  Val buildAssume(CallArgs &args);
  Val buildHint(CallArgs &args);
  Val buildBarrier(CallArgs &args);
  Val buildMachineNumber(CallArgs &args);
  Val buildGridDependency(CallArgs &args);

private:
  template <const DiagSpec &Spec, class... Args> Report error(SourceRange range, Args &&...args) {
    return walk.error<Spec>(range, std::forward<Args>(args)...);
  }

  // --- MemoryLowerer.cpp: targets and options -----------------------------------
  bool mayRead(const MemoryTarget &target);
  bool mayWrite(const MemoryTarget &target, llvm::StringRef what);
  bool refuseFill(const MemoryTarget &target, llvm::StringRef what);
  /// A mask or fill given beside a place is the place's own.
  bool addOption(Val &slot, const Val &given, SourceRange range, llvm::StringRef name);
  /// The enumerator that an argument gives; `otherwise` when it is not given.
  std::optional<llvm::StringRef> enumerator(const CallArgs &args, size_t slot, llvm::StringRef name,
                                            llvm::ArrayRef<llvm::StringRef> allowed,
                                            llvm::StringRef otherwise);
  std::optional<bool> truth(const CallArgs &args, size_t slot, llvm::StringRef name);
  std::optional<EvictHintAttr> evictHint(const CallArgs &args, size_t slot);
  std::optional<AccessHints> hints(const CallArgs &args, size_t cache, size_t evict,
                                   llvm::ArrayRef<llvm::StringRef> caches);

  // --- BuiltinsView.cpp ---------------------------------------------------------
  struct ViewAxis;
  Val viewOfTensor(CallArgs &args, const ast::Subscript *part, const TensorParam &tensor);
  Val viewOfPointer(CallArgs &args, const Val &pointer);
  std::optional<ViewAxis> viewAxis(const ast::Index &index, unsigned axis,
                                   const TensorParam &tensor);
  Val viewNumber(const Val &number, SourceRange range, llvm::StringRef what);
  bool viewNumbers(const CallArgs &args, size_t slot, llvm::StringRef what,
                   std::vector<Val> &numbers);
  std::vector<Val> rowStrides(llvm::ArrayRef<Val> extents, SourceRange range);
  bool viewSides(const CallArgs &args, std::vector<Val> &extents,
                 std::vector<Val> &strides);
  Val makeView(const TensorParam &from, mlir::Value value,
               llvm::ArrayRef<std::optional<int64_t>> extents, SourceRange range);

  // --- BuiltinsAtomic.cpp -------------------------------------------------------
  struct AtomicAccess;
  bool checkSumOrder(const CallArgs &args);
  bool checkAtomic(const CallArgs &args, bool bitsOnly, bool onlyWrites);
  std::optional<AtomicAccess> atomicAccess(CallArgs &args, const Val &mask, SourceRange maskRange);
  bool readOrder(const CallArgs &args, size_t sem, llvm::ArrayRef<llvm::StringRef> sems,
                 AtomicAccess &access);

  // --- BuiltinsDebug.cpp --------------------------------------------------------
  bool collectPrinted(const Val &value, SourceRange range, std::vector<Val> &values);
  std::optional<llvm::SmallVector<int64_t>> hintNumbers(CallArgs &args, size_t axes);

  Lowerer &walk;
  mlir::OpBuilder &builder;
};

} // namespace tk
