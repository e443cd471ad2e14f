//===- Ast.cpp - spellings and literal values of the syntax tree -------------===//

#include "frontend/Ast.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tk::ast;

llvm::StringRef tk::ast::spelling(UnaryOp op) {
  switch (op) {
  case UnaryOp::Neg:
    return "-";
  case UnaryOp::Not:
    return "!";
  case UnaryOp::BitNot:
    return "~";
  }
  llvm_unreachable("a UnaryOp outside its enumeration");
}

llvm::StringRef tk::ast::spelling(BinaryOp op) {
  static constexpr llvm::StringLiteral kTexts[] = {"*", "/",  "//", "%", "@", "+",
                                                   "-", "<<", ">>", "&", "^", "|"};
  static_assert(std::size(kTexts) == size_t(BinaryOp::BitOr) + 1);
  return kTexts[size_t(op)];
}

llvm::StringRef tk::ast::spelling(CompareOp op) {
  static constexpr llvm::StringLiteral kTexts[] = {"<", ">", "<=", ">=", "==", "!="};
  static_assert(std::size(kTexts) == size_t(CompareOp::Ne) + 1);
  return kTexts[size_t(op)];
}

llvm::StringRef tk::ast::spelling(LogicalOp op) {
  return op == LogicalOp::And ? "&&" : "||";
}

llvm::StringRef tk::ast::spelling(Access access) {
  static constexpr llvm::StringLiteral kTexts[] = {"", "in", "out", "inout", "scratch"};
  static_assert(std::size(kTexts) == size_t(Access::Scratch) + 1);
  return kTexts[size_t(access)];
}

llvm::APInt IntLit::getValue() const {
  // The estimate may be a few bits too wide for radix 10, never too narrow.
  unsigned bits = llvm::APInt::getSufficientBitsNeeded(digits, uint8_t(radix)) + 1;
  return llvm::APInt(bits, digits, uint8_t(radix));
}
