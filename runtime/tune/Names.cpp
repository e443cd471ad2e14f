//===- Names.cpp - names of a shape and expressions over them --------------===//
#include "Names.h"

#include "Error.h"

namespace tkctune {

using tkcrt::Code;
using tkcrt::fail;

const int64_t *Names::find(const std::string &name) const {
  auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

tkc_status Names::evaluate(const Json &expr, const std::string &what, int64_t &out,
                           tkc_error *err) const {
  std::vector<int64_t> slots;
  std::string missing;
  tkcrt::Resolver resolve = [&](const std::string &name) {
    const int64_t *value = find(name);
    if (!value) {
      missing = name;
      return -1;
    }
    slots.push_back(*value);
    return static_cast<int>(slots.size()) - 1;
  };
  Code code;
  tkcrt::Program program;
  tkcrt::Reader reader(err);
  if (!parseExpr(reader, expr, resolve, code, program)) {
    if (missing.empty())
      return reader.status();
    return fail(err, TKC_E_ARG, "%s needs a value for `%s`: add %s=NUMBER to the shape",
                what.c_str(), missing.c_str(), missing.c_str());
  }
  Code::Result result = code.evaluate(program, slots.data(), out);
  if (result == Code::Result::Ok)
    return TKC_OK;
  return fail(err, TKC_E_EXTENT, "%s: %s %s", what.c_str(), tkcrt::exprText(expr).c_str(),
              tkcrt::resultText(result));
}

} // namespace tkctune
