//===- MetadataTest.cpp - the JSON description ----------------------------------===//

#include "backends/metadata/Metadata.h"
#include "llvm/IR/LLVMContext.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include <catch2/catch.hpp>

using namespace tk;
using llvm::json::Object;

static llvm::json::Value parse(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  REQUIRE(bool(value));
  return *value;
}

static const char *const kKernels = R"([{"kernel": "k", "args": [
    {"align": 4, "kind": "pointer", "name": "p", "dtype": "f32", "access": "in"}],
  "variants": [{"id": "sm_90a/any", "symbol": "k_any", "block": [128, 1, 1], "grid": [1, 1, 1],
    "target": {"match": "exact", "arch": "sm_90a", "vendor": "nvidia"},
    "resources": {"shared_dynamic": 4096},
    "params": {"bytes": 8, "align": 8, "hidden": 0,
               "list": [{"value": "p.ptr", "type": "ptr", "size": 8, "at": 0}]}}]}])";

TEST_CASE("attributes become JSON and come back", "[metadata]") {
  mlir::MLIRContext context;
  const char *text = R"({a = 1 : i64, b = true, c = "x", d = [1, ["cdiv", "N", 4]], e = 2.5 : f64})";
  mlir::Attribute attr = mlir::parseAttribute(text, &context);
  REQUIRE(attr);
  llvm::json::Value value = attributeToJson(attr);
  CHECK(printJson(value, true) == R"({"a":1,"b":true,"c":"x","d":[1,["cdiv","N",4]],"e":2.5})");
  CHECK(jsonToAttribute(context, value) == attr);
}

TEST_CASE("fields stand in the page's order, names of the author by alphabet", "[metadata]") {
  CHECK(printJson(parse(R"({"align": 4, "dtype": "f32", "name": "x", "kind": "pointer"})"), true) ==
        R"({"name":"x","kind":"pointer","dtype":"f32","align":4})");
  CHECK(printJson(parse(R"({"instance": {"kind": 1, "a": 2, "name": 3}, "kernel": "k"})"), true) ==
        R"({"kernel":"k","instance":{"a":2,"kind":1,"name":3}})");
}

TEST_CASE("the layout breaks what is longer than a line and nothing else", "[metadata]") {
  CHECK(printJson(parse(R"({"when": [1, 2]})"), false) == R"({"when": [1, 2]})");
  std::string laidOut = printJson(
      parse("{\"when\": [\"" + std::string(80, 'a') + "\", \"" + std::string(60, 'b') + "\"]}"),
      false);
  CHECK(llvm::StringRef(laidOut).count('\n') == 5);
}

TEST_CASE("the hash of the arguments depends on them and on nothing else", "[metadata]") {
  llvm::json::Array a = *parse(R"([{"name": "x", "kind": "scalar", "dtype": "i32"}])").getAsArray();
  llvm::json::Array b = *parse(R"([{"dtype":"i32","kind":"scalar","name":"x"}])").getAsArray();
  llvm::json::Array c = *parse(R"([{"dtype":"i64","kind":"scalar","name":"x"}])").getAsArray();
  CHECK(abiHash(a) == abiHash(b));
  CHECK(abiHash(a) != abiHash(c));
  CHECK(abiHash(a).size() == 19);
  CHECK(llvm::StringRef(abiHash(a)).starts_with("b3:"));
}

TEST_CASE("the document is completed", "[metadata]") {
  llvm::StringMap<nvptx::Resources> resources;
  resources["k_any"] = {32, 8, 4, 12, 16};
  Producer producer;
  producer.tkc = "0";
  Image image{"cubin", "k.cubin", "bytes"};
  llvm::Expected<std::string> text = writeDescription(kKernels, image, resources, producer);
  REQUIRE(bool(text));
  llvm::json::Value document = parse(*text);
  const Object &root = *document.getAsObject();
  CHECK(root.getString("schema") == llvm::StringRef("tkc.kernel/1.0"));
  const Object &written = *(*root.getArray("images"))[0].getAsObject();
  CHECK(written.getInteger("size") == 5);
  CHECK(written.getString("sha256") == llvm::StringRef(sha256Hex("bytes")));
  const Object &kernel = *(*root.getArray("kernels"))[0].getAsObject();
  const Object &variant = *(*kernel.getArray("variants"))[0].getAsObject();
  const Object &counted = *variant.getObject("resources");
  CHECK(counted.getInteger("registers") == 32);
  CHECK(counted.getInteger("local_bytes") == 8);
  CHECK(counted.getInteger("spill_store_bytes") == 4);
  CHECK(counted.getInteger("spill_load_bytes") == 12);
  CHECK(counted.getInteger("shared_static") == 16);
  CHECK(counted.getInteger("shared_dynamic") == 4096);
  CHECK(variant.getArray("when"));
  CHECK(variant.getObject("launch"));
}

TEST_CASE("PTX is described as what the driver compiles", "[metadata]") {
  Image image{"ptx", "k.ptx", ".version 8.0\n.target sm_90a\n"};
  llvm::Expected<std::string> text = writeDescription(kKernels, image, {}, Producer());
  REQUIRE(bool(text));
  CHECK(llvm::StringRef(*text).contains(R"("arch": "compute_90a")"));
  CHECK(llvm::StringRef(*text).contains(R"("id": "compute_90a/any")"));
  CHECK(llvm::StringRef(*text).contains(R"("ptx_isa": "8.0")"));
  CHECK(llvm::StringRef(*text).contains(R"("registers": null)"));
}

TEST_CASE("what is no description is refused", "[metadata]") {
  Image image{"cubin", "k.cubin", "bytes"};
  for (const char *bad : {"", "{", "[]", "{}", "[1]", "[{}]", R"([{"kernel": "k", "args": []}])",
                          R"([{"kernel": "k", "args": [], "variants": [{}]}])",
                          R"([{"kernel": "k", "args": [], "variants": []}])",
                          R"([{"kernel": 1, "args": [], "variants": [{"symbol": "s"}]}])",
                          R"([{"kernel": "k", "args": [],
                               "variants": [{"symbol": "s", "resources": 1}]}])"}) {
    INFO(bad);
    llvm::Expected<std::string> text = writeDescription(bad, image, {}, Producer());
    CHECK(!text);
    llvm::consumeError(text.takeError());
  }
}

TEST_CASE("the description travels through LLVM IR and PTX", "[metadata]") {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  CHECK(!descriptionOf(module));
  setDescription(module, "[1]");
  setDescription(module, "[2]");
  CHECK(descriptionOf(module) == "[2]");
  CHECK(!descriptionOfPtx(".version 8.0\n"));
  std::string text(10000, 'x');
  std::string ptx = "// before\n" + descriptionAsPtxComment(text) + ".version 8.0\n";
  CHECK(descriptionOfPtx(ptx) == text);
}
