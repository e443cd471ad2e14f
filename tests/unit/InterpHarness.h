//===- InterpHarness.h - kernels as text, run and looked at --------------------------===//
//
// For the interpreter's unit tests: parses a module of stage `tk`, runs its one kernel, and keeps
// every diagnostic as "line: message" (notes indented by two blanks).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Interp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <cstring>

namespace tk::interp::test {

class Harness {
public:
  Harness() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<TkDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
      messages.push_back(lineOf(diag.getLocation()) + ": " + diag.str());
      for (mlir::Diagnostic &note : diag.getNotes())
        messages.push_back("  " + note.str());
    });
  }

  KernelOp parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    for (const std::string &message : messages)
      UNSCOPED_INFO(message);
    REQUIRE(module);
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    return kernel;
  }

  mlir::FailureOr<RunReport> run(const std::string &text, const std::vector<Argument> &args,
                                 const Options &options = {}) {
    return interp::run(parse(text), args, options);
  }

  bool said(llvm::StringRef part) const {
    for (const std::string &message : messages)
      if (llvm::StringRef(message).contains(part))
        return true;
    UNSCOPED_INFO("not said: " << part.str());
    for (const std::string &message : messages)
      UNSCOPED_INFO("said: " << message);
    return false;
  }

  mlir::MLIRContext context;
  std::vector<std::string> messages;

private:
  static std::string lineOf(mlir::Location loc) {
    auto place = mlir::dyn_cast<mlir::FileLineColLoc>(loc);
    return place ? std::to_string(place.getLine()) : "?";
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The element type as MLIR writes it: without the sign, floats in capitals.
inline std::string signless(DType type) {
  std::string name = nameOf(signlessOf(type));
  if (name.rfind("f8", 0) == 0)
    return "f8" + llvm::StringRef(name).drop_front(2).upper();
  if (name == "f4e2m1")
    return "f4E2M1FN";
  return name == "e8m0" ? "f8E8M0FNU" : name;
}

/// One entry of a contract's `args`.
inline std::string tensorEntry(const std::string &name, DType type, const std::string &access,
                               const std::string &extents, const std::string &strides) {
  return "{name = \"" + name + "\", kind = \"tensor\", dtype = \"" + nameOf(type) +
         "\", access = \"" + access + "\", extents = [" + extents + "], strides = [" + strides +
         "], align = " + std::to_string(byteSize(type)) + "}";
}

inline std::string kernelText(const std::string &params, const std::string &entries,
                              const std::string &grid, const std::string &body,
                              const std::string &more = "") {
  return "tk.kernel @k(" + params +
         ") attributes {contract = #tk.contract<{kernel = \"k\", instance = {}, args = [" +
         entries + "], grid = [" + grid + "], require = [], disjoint = [], options = {warps = 4}" +
         more + "}>} {\n" + body + "\n  tk.return\n}\n";
}

/// The bytes of a vector as a buffer of rank 1.
template <class T>
Buffer bufferOf(const std::string &name, DType type, const std::vector<T> &values) {
  Buffer buffer = Buffer::make(name, type, {int64_t(values.size())});
  REQUIRE(byteSize(type) == sizeof(T));
  std::memcpy(buffer.data(), values.data(), values.size() * sizeof(T));
  return buffer;
}

template <class T> std::vector<T> valuesOf(const Buffer &buffer) {
  std::vector<T> values(size_t(buffer.elements));
  std::memcpy(values.data(), buffer.data(), values.size() * sizeof(T));
  return values;
}

/// The inputs of an elementwise operation.
template <class T, class... Rest>
std::vector<std::vector<T>> in(const std::vector<T> &first, const Rest &...rest) {
  return {first, rest...};
}

/// Runs `op`, an elementwise operation on `%a`, `%b`, `%c` (tiles of type `$in`) that gives `%r` (a
/// tile of type `$out`), over all elements of the inputs.
template <class Out, class In>
std::vector<Out> elementwise(std::string op, DType from, DType to,
                             const std::vector<std::vector<In>> &inputs, Options options = {},
                             std::vector<std::string> *messages = nullptr,
                             std::vector<double> *bounds = nullptr) {
  Harness harness;
  const std::string n = std::to_string(inputs[0].size());
  const std::string tileIn = "tensor<" + n + "x" + signless(from) + ">";
  const std::string tileOut = "tensor<" + n + "x" + signless(to) + ">";
  auto replace = [&](const std::string &key, const std::string &value) {
    for (size_t at; (at = op.find(key)) != std::string::npos;)
      op.replace(at, key.size(), value);
  };
  replace("$in", tileIn);
  replace("$out", tileOut);
  std::string params, entries, body = "  %zero = arith.constant 0 : i64\n";
  std::vector<Buffer> buffers;
  std::vector<Argument> args;
  buffers.reserve(4);
  const char *names[] = {"a", "b", "c"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string view = "!tk.view<" + signless(from) + ", 1, " + std::to_string(i) + ">";
    params += "%p" + std::string(names[i]) + ": " + view + ", ";
    entries += tensorEntry(names[i], from, "in", n, "1") + ", ";
    body += "  %" + std::string(names[i]) + " = tk.read %p" + names[i] + "[%zero] widths [" + n +
            "] : " + view + " -> " + tileIn + "\n";
    buffers.push_back(bufferOf(names[i], from, inputs[i]));
    args.push_back(Argument::tensor(names[i], buffers.back()));
  }
  std::string view = "!tk.view<" + signless(to) + ", 1, 7>";
  params += "%pr: " + view;
  entries += tensorEntry("r", to, "out", n, "1");
  body += "  " + op + "\n  tk.write %r, %pr[%zero] widths [" + n + "] : " + tileOut + ", " + view;
  buffers.push_back(Buffer::makeEmpty("r", to, {int64_t(inputs[0].size())}));
  args.push_back(Argument::tensor("r", buffers.back()));
  auto report = harness.run(kernelText(params, entries, "1, 1, 1", body), args, options);
  for (const std::string &message : harness.messages)
    UNSCOPED_INFO(message);
  REQUIRE(mlir::succeeded(report));
  if (messages)
    *messages = harness.messages;
  if (bounds)
    *bounds = buffers.back().bounds;
  return valuesOf<Out>(buffers.back());
}

} // namespace tk::interp::test
