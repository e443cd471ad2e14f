//===- Ptxas.h - NVIDIA's assembler as a process ------------------------------===//
//
// The assembler is an explicit setting: --ptxas, else the one named when tkc was configured, else
// PATH (which is said, and refused under --hermetic). It runs without a shell and works on memory
// files, so that nothing is left behind whatever happens.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/target/Target.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tk::nvptx {

/// Where the assembler was found.
struct Assembler {
  enum class Origin { Option, Configured, Path };
  std::string path;
  Origin origin = Origin::Option;
};

/// Finds ptxas. `option` is --ptxas, or empty. Reports when there is none.
mlir::FailureOr<Assembler> findPtxas(llvm::StringRef option, bool hermetic, mlir::Location loc);

/// What one entry function needs, as ptxas counted it.
struct Resources {
  int64_t registers = 0;
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  int64_t sharedStaticBytes = 0;
};

struct Assembly {
  std::string cubin;
  std::string version;                  // of ptxas, "13.0.88"; empty when it does not say
  llvm::StringMap<Resources> resources; // by symbol
  std::string log;                      // what ptxas said, for -v
};

/// What of ptxas's answer concerns one entry function; `symbol` is empty when it names none.
struct PtxasNote {
  std::string symbol;
  std::string code; // "C7510"
  std::string text;
};

/// Reads the text that `ptxas -v` prints.
void parsePtxasLog(llvm::StringRef log, llvm::StringMap<Resources> &resources,
                   std::vector<PtxasNote> &notes);

struct AssembleOptions {
  int optLevel = 3;
  bool lineInfo = false;
  llvm::StringMap<int64_t> dynamicShared; // bytes that a launch of each kernel asks for
  std::string inputName; // the PTX file that messages point into; empty when it was generated
};

/// Runs ptxas. `locOf` gives the place of a symbol for what is said about it.
mlir::FailureOr<Assembly> assemble(const Assembler &assembler, llvm::StringRef ptx,
                                   const Target &target, const AssembleOptions &options,
                                   mlir::Location loc,
                                   llvm::function_ref<mlir::Location(llvm::StringRef)> locOf);

/// The machine code of `cubin` as text, by nvdisasm or cuobjdump from beside the assembler or PATH.
mlir::FailureOr<std::string> disassemble(const Assembler &assembler, llvm::StringRef cubin,
                                         bool hermetic, mlir::Location loc);

/// The first `.version` of a PTX text, times ten, and its `.target`; 0 and empty when absent.
int ptxVersionOf(llvm::StringRef ptx);
llvm::StringRef ptxTargetOf(llvm::StringRef ptx);

/// Newest PTX, times ten, of a CUDA release like "12.4"; 0 when it is not in the table.
int newestPtxOf(llvm::StringRef release);

} // namespace tk::nvptx
