//===- TunePrint.h - what tkc tune and tkc bench print -------------------------------------===//
#pragma once

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tk {

/// The shapes of a tuner's report, for people. `title` is the kernel's name.
void printTuning(const llvm::json::Value &report, llvm::StringRef title, llvm::raw_ostream &os);
void printBench(const llvm::json::Value &report, llvm::StringRef title, llvm::raw_ostream &os);

/// Which record of a table a shape gets, from tkc_table_why.
void printWhy(const llvm::json::Value &why, llvm::StringRef shape, llvm::raw_ostream &os);

/// How each candidate's launches spread, one panel a shape.
std::string benchPlot(const llvm::json::Value &report, llvm::StringRef title);

/// "M=4096 N=4096"
std::string shapeText(const llvm::json::Object &shape);

} // namespace tk
