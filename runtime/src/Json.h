//===- Json.h - guarded parsing, and reading with a path for errors --------===//
// The JSON is not trusted. parseJson bounds nesting and refuses duplicate keys before a document
// is built; Reader fetches typed, bounded values and reports what it misses under the field's path.
#ifndef TKC_RUNTIME_JSON_H
#define TKC_RUNTIME_JSON_H

#include "tkc/runtime.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tkcrt {

using Json = nlohmann::json;

/// Deepest nesting of arrays and objects in a document.
constexpr int kMaxJsonDepth = 64;

tkc_status parseJson(const char *text, size_t bytes, Json &out, tkc_error *err);

class Reader {
public:
  explicit Reader(tkc_error *err) : err(err) {}

  /// Fails with TKC_E_CORRUPT, the path, and the text. Always false, for `return`.
  bool corrupt(const char *format, ...) __attribute__((format(printf, 2, 3)));
  /// The same with another status.
  bool refuse(tkc_status status, const std::string &text);
  tkc_status status() const { return failed; }

  /// The member `key` of `object`, or nullptr. Null counts as missing.
  const Json *find(const Json &object, const char *key) const;
  /// The member, which must be there.
  const Json *need(const Json &object, const char *key);

  bool integer(const Json &value, int64_t low, int64_t high, int64_t &out);
  bool integer(const Json &object, const char *key, int64_t low, int64_t high, int64_t &out);
  bool boolean(const Json &object, const char *key, bool &out);
  bool text(const Json &value, size_t minBytes, size_t maxBytes, std::string &out);
  bool text(const Json &object, const char *key, size_t minBytes, size_t maxBytes,
            std::string &out);
  bool isArray(const Json &value, size_t minCount, size_t maxCount);
  bool isObject(const Json &value);

  /// Adds a step to the path for as long as it lives.
  class Scope {
  public:
    Scope(Reader &reader, const char *key) : reader(reader) { reader.path.push_back({key, -1}); }
    Scope(Reader &reader, size_t index) : reader(reader) {
      reader.path.push_back({std::string(), static_cast<int64_t>(index)});
    }
    ~Scope() { reader.path.pop_back(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Reader &reader;
  };

private:
  struct Step {
    std::string key;
    int64_t index;
  };
  std::string where() const;

  tkc_error *err;
  tkc_status failed = TKC_OK;
  std::vector<Step> path;
};

/// An identifier of the language: a letter or _, then letters, digits, _; at most 128.
bool isIdentifier(const std::string &text);

/// What a person would call the value's kind, for "found a string".
const char *kindName(const Json &value);

} // namespace tkcrt

#endif
