//===- Program.h - one kernel of an image, ready to run ---------------------------===//
#pragma once

#include "backends/interp/Interp.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tkc/cpu.h"

/// Threads may launch it at the same time: after loading nothing of it changes, and its context is
/// one that threads may share.
struct tkc_cpu_program {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tk::interp::Prepared prepared;
};

namespace tk::cpu {

/// Reads the image and prepares the kernel; gives a status of <tkc/cpu.h> and, unless it is good,
/// the reason. Needs a stack for text that nests as deep as stage files may.
int32_t loadProgram(llvm::StringRef image, llvm::StringRef symbol,
                    std::unique_ptr<tkc_cpu_program> &program, std::string &problem);

int32_t launchProgram(const tkc_cpu_program &program, const uint32_t (&grid)[3],
                      llvm::ArrayRef<uint8_t> params, std::string &problem);

} // namespace tk::cpu
