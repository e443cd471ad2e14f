//===- Oversized.h - the kernel that is too large for the chip --------------------===//
//
// A pass that refuses a kernel because the chip has too few registers or too little shared memory
// says on the module which one it was, so that the driver can try another configuration.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace tk {

struct Oversized {
  std::string kernel, configId; // of its contract
  bool isTuned = false;         // it has @tune
};

inline constexpr llvm::StringLiteral kOversized = "tk.oversized";

inline void markOversized(KernelOp kernel) {
  kernel->getParentOfType<mlir::ModuleOp>()->setAttr(kOversized, kernel.getContract());
}

inline std::optional<Oversized> oversizedOf(mlir::ModuleOp module) {
  auto contract = module->getAttrOfType<ContractAttr>(kOversized);
  if (!contract)
    return std::nullopt;
  mlir::DictionaryAttr fields = contract.getFields();
  auto text = [&](llvm::StringRef name) {
    auto value = fields.getAs<mlir::StringAttr>(name);
    return value ? value.str() : "";
  };
  return Oversized{text("kernel"), text("config_id"), fields.contains("tune")};
}

} // namespace tk
