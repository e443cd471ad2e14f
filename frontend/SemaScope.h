//===- SemaScope.h - names and what they stand for ----------------------------===//
#pragma once

#include "frontend/SemaValue.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tk {

/// What a name stands for.
struct Binding {
  Val val;
  bool isVar = false;
  SourceRange declared;         // the name where it is introduced
  std::optional<RunType> fixed; // of a `var` that holds, or once held, a run-time number
  bool captured = false;        // a closure's copy of a name outside of it
};

struct NameUse;

/// The nested blocks of one function. A copy is a snapshot: branches start from the same one.
class Scopes {
public:
  Scopes() { push(); }

  void push() { blocks.emplace_back(); }
  void pop() { blocks.pop_back(); }
  size_t depth() const { return blocks.size(); }
  /// Leaves the blocks above `depth`.
  void truncate(size_t depth) { blocks.resize(depth); }

  /// The innermost meaning of a name, or null.
  Binding *find(llvm::StringRef name);
  /// The same, in the innermost block only.
  Binding *findInBlock(llvm::StringRef name);
  void bind(llvm::StringRef name, Binding binding) { blocks.back()[name] = std::move(binding); }
  /// All names in sight, for suggestions.
  void collectNames(std::vector<llvm::StringRef> &names) const;
  /// Copies of the names that `use` mentions, as a closure keeps them.
  Scopes capture(const NameUse &use) const;

private:
  std::vector<llvm::MapVector<llvm::StringRef, Binding>> blocks;
};

/// What a closure keeps of the place where it was written: copies of the names its body mentions.
struct Capture {
  Scopes scopes;
  bool seesExtents = false; // of the kernel
};

/// The candidate nearest to a misspelt name; empty when none is near.
llvm::StringRef nearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// The names a piece of syntax mentions and assigns, found without elaborating it.
struct NameUse {
  llvm::StringMap<SourceRange> mentioned;
  llvm::MapVector<llvm::StringRef, SourceRange> assigned;
  llvm::StringSet<> reassigned; // at more than one place
};

void collectNames(const ast::Expr *expr, NameUse &use);
void collectNames(const ast::Type *type, NameUse &use);
void collectNames(const ast::Stmt *stmt, NameUse &use);
void collectNames(const ast::Block *block, NameUse &use);

} // namespace tk
