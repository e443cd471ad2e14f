//===- Json.cpp - guarded parsing, and reading with a path for errors ------===//
#include "Json.h"

#include "Error.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>

namespace tkcrt {

namespace {
/// First pass over the text: bounds the nesting and finds duplicate keys, building nothing but
/// the sets of keys on the way down.
class Guard : public nlohmann::json_sax<Json> {
public:
  std::string reason;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return false; }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool start_object(std::size_t) override { return deeper(); }
  bool end_object() override { return shallower(); }

  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    reason = "key \"" + name.substr(0, 80) + "\" occurs twice in one object";
    return false;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::json::exception &) override {
    reason = "it is not JSON at byte " + std::to_string(position);
    return false;
  }

private:
  bool deeper() {
    keys.emplace_back();
    if (keys.size() <= static_cast<size_t>(kMaxJsonDepth))
      return true;
    reason = "it nests deeper than " + std::to_string(kMaxJsonDepth);
    return false;
  }
  bool shallower() {
    keys.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys; // one per open array or object
};
} // namespace

tkc_status parseJson(const char *text, size_t bytes, Json &out, tkc_error *err) {
  // The parser takes a NUL for the end of the text, whatever follows; only a C string's is good.
  if (bytes && text[bytes - 1] == 0)
    --bytes;
  if (const void *nul = memchr(text, 0, bytes))
    return fail(err, TKC_E_CORRUPT, "metadata: it is not JSON: a NUL at byte %zu",
                static_cast<size_t>(static_cast<const char *>(nul) - text));
  Guard guard;
  if (!Json::sax_parse(text, text + bytes, &guard))
    return fail(err, TKC_E_CORRUPT, "metadata: %s (of %zu bytes)",
                guard.reason.empty() ? "it is not JSON" : guard.reason.c_str(), bytes);
  out = Json::parse(text, text + bytes, nullptr, /*allow_exceptions=*/false);
  if (out.is_discarded())
    return fail(err, TKC_E_CORRUPT, "metadata: it is not JSON");
  return TKC_OK;
}

std::string Reader::where() const {
  std::string text;
  for (const Step &step : path) {
    if (step.index >= 0)
      text += "[" + std::to_string(step.index) + "]";
    else
      text += (text.empty() ? "" : ".") + step.key.substr(0, 64);
  }
  return text.empty() ? "top level" : text;
}

bool Reader::refuse(tkc_status status, const std::string &text) {
  failed = fail(err, status, "metadata: %s: %s", where().c_str(), text.c_str());
  return false;
}

bool Reader::corrupt(const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return refuse(TKC_E_CORRUPT, text);
}

const Json *Reader::find(const Json &object, const char *key) const {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json *Reader::need(const Json &object, const char *key) {
  const Json *value = find(object, key);
  if (!value)
    corrupt("no field \"%s\", which is needed", key);
  return value;
}

bool Reader::integer(const Json &value, int64_t low, int64_t high, int64_t &out) {
  if (!value.is_number_integer())
    return corrupt("found %s, needed an integer", kindName(value));
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return corrupt("found %llu, needed an integer below 2^63",
                   static_cast<unsigned long long>(value.get<uint64_t>()));
  out = value.get<int64_t>();
  if (out < low || out > high)
    return corrupt("found %lld, needed %lld to %lld", static_cast<long long>(out),
                   static_cast<long long>(low), static_cast<long long>(high));
  return true;
}

bool Reader::integer(const Json &object, const char *key, int64_t low, int64_t high, int64_t &out) {
  const Json *value = need(object, key);
  if (!value)
    return false;
  Scope scope(*this, key);
  return integer(*value, low, high, out);
}

bool Reader::boolean(const Json &object, const char *key, bool &out) {
  const Json *value = find(object, key);
  if (!value)
    return true;
  Scope scope(*this, key);
  if (!value->is_boolean())
    return corrupt("found %s, needed true or false", kindName(*value));
  out = value->get<bool>();
  return true;
}

bool Reader::text(const Json &value, size_t minBytes, size_t maxBytes, std::string &out) {
  const std::string *found = value.get_ptr<const std::string *>();
  if (!found)
    return corrupt("found %s, needed a string", kindName(value));
  if (found->size() < minBytes || found->size() > maxBytes)
    return corrupt("found a string of %zu bytes, needed %zu to %zu", found->size(), minBytes,
                   maxBytes);
  if (found->find('\0') != std::string::npos)
    return corrupt("the string has a NUL in it");
  out = *found;
  return true;
}

bool Reader::text(const Json &object, const char *key, size_t minBytes, size_t maxBytes,
                  std::string &out) {
  const Json *value = need(object, key);
  if (!value)
    return false;
  Scope scope(*this, key);
  return text(*value, minBytes, maxBytes, out);
}

bool Reader::isArray(const Json &value, size_t minCount, size_t maxCount) {
  if (!value.is_array())
    return corrupt("found %s, needed an array", kindName(value));
  if (value.size() < minCount || value.size() > maxCount)
    return corrupt("found %zu elements, needed %zu to %zu", value.size(), minCount, maxCount);
  return true;
}

bool Reader::isObject(const Json &value) {
  return value.is_object() || corrupt("found %s, needed an object", kindName(value));
}

bool isIdentifier(const std::string &text) {
  if (text.empty() || text.size() > 128 || (text[0] >= '0' && text[0] <= '9'))
    return false;
  for (char c : text)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return false;
  return true;
}

const char *kindName(const Json &value) {
  switch (value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "an array";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a boolean";
  case Json::value_t::number_float:
    return "a floating-point number";
  default:
    return "an integer";
  }
}

} // namespace tkcrt
