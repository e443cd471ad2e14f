//===- Metadata.h - the JSON description beside a binary -----------------------===//
//
// docs/metadata.md is the contract, schema.json its checked form. The machine passes attach the
// kernels (all but resources, images and producer) as JSON text to the module; it travels as the
// module attribute `tk.description`, as named metadata in LLVM IR and as comment lines in PTX, so
// that a stage read back loses nothing. Here it is completed and written: fields in the order of
// the page, short things on one line, so that equal input gives equal bytes and files compare well.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/nvptx/Ptxas.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace tk {

//===-- attributes and JSON ---------------------------------------------------===//

/// Integers, booleans, floats, strings, arrays, dictionaries; unit is true. Symbols, types and the
/// like become their printed text.
llvm::json::Value attributeToJson(mlir::Attribute attr);

/// Integers become i64 attributes, other numbers f64, null a unit attribute.
mlir::Attribute jsonToAttribute(mlir::MLIRContext &context, const llvm::json::Value &value);

//===-- the description on its way --------------------------------------------===//

/// The kernels' description of a module, of LLVM IR, of PTX; none when it is not there.
std::optional<std::string> descriptionOf(mlir::ModuleOp module);
std::optional<std::string> descriptionOf(const llvm::Module &module);
std::optional<std::string> descriptionOfPtx(llvm::StringRef ptx);

/// The chip that the description's variants are made for, or empty when it does not say.
std::string targetOfDescription(llvm::StringRef description);

/// The comment lines that carry `description` in PTX.
std::string descriptionAsPtxComment(llvm::StringRef description);
void setDescription(llvm::Module &module, llvm::StringRef description);

//===-- the final document ----------------------------------------------------===//

struct InputFile {
  std::string path; // relative to the folder of the main input
  std::string sha256;
};

struct LinkedLibrary {
  std::string name, version, sha256, licence;
};

struct Producer {
  std::string tkc, llvm;
  std::string assemblerName, assemblerVersion, assemblerSha256; // name empty: none
  std::vector<InputFile> inputs;
  std::vector<LinkedLibrary> linked;
};

struct Image {
  std::string kind; // "cubin" or "ptx"
  std::string path; // file name only
  std::string bytes;
};

/// The description for `image`, completed. `resources` may lack symbols (PTX): they become null.
/// Fails with a reason when `kernels` is not the JSON that the machine passes write.
llvm::Expected<std::string> writeDescription(llvm::StringRef kernels, const Image &image,
                                             const llvm::StringMap<nvptx::Resources> &resources,
                                             const Producer &producer);

/// "b3:" and 16 hexadecimal digits over `args` (docs/metadata.md, `abi_hash`).
std::string abiHash(const llvm::json::Array &args);

/// `value` in the page's field order; compact, or laid out for people.
std::string printJson(const llvm::json::Value &value, bool compact);

/// Lower-case hexadecimal SHA-256.
std::string sha256Hex(llvm::StringRef bytes);

} // namespace tk
