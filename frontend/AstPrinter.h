//===- AstPrinter.h - the syntax tree as text --------------------------------===//
//
// printAst writes canonical source: four spaces a level, one attribute of a kernel or loop a line,
// parentheses only where the tree needs them, no comments. Parsing it again gives an equal tree,
// printing that the same text. dumpAst writes the shape of a tree as nested lists, for tests of
// the parser; two trees are equal when their dumps are (places and spacing do not count).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "llvm/Support/raw_ostream.h"

namespace tk {

void printAst(const ast::File &file, llvm::raw_ostream &os);
/// On one line, but for closures with several statements.
void printAst(const ast::Expr &expr, llvm::raw_ostream &os);
void printAst(const ast::Type &type, llvm::raw_ostream &os);

void dumpAst(const ast::File &file, llvm::raw_ostream &os);
void dumpAst(const ast::Expr &expr, llvm::raw_ostream &os);

} // namespace tk
