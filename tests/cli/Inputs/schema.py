"""The part of JSON Schema that backends/metadata/schema.json uses."""

import re

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}

KNOWN = {"$ref", "$schema", "$defs", "title", "description", "type", "const", "enum", "pattern", "minimum",
         "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
         "prefixItems", "items", "required", "properties", "additionalProperties", "propertyNames",
         "anyOf", "oneOf", "not"}


def of_number(value, schema, path):
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        yield "%s: %r is out of bounds" % (path, value)
    if value % schema.get("multipleOf", 1):
        yield "%s: %r is no multiple of %d" % (path, value, schema["multipleOf"])


def of_text(value, schema, path):
    if not re.search(schema.get("pattern", ""), value):
        yield "%s: %r does not match %s" % (path, value, schema["pattern"])
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield "%s: %r has %d characters" % (path, value, len(value))


def of_list(value, schema, root, path):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield "%s: has %d entries" % (path, len(value))
    first = schema.get("prefixItems", [])
    for i, part in enumerate(value):
        rule = first[i] if i < len(first) else schema.get("items", True)
        yield from faults(part, rule, root, "%s[%d]" % (path, i))


def of_object(value, schema, root, path):
    yield from ("%s: lacks %s" % (path, name) for name in schema.get("required", []) if name not in value)
    for name, part in value.items():
        yield from faults(name, schema.get("propertyNames", True), root, path + " (name)")
        rule = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
        yield from faults(part, rule, root, path + "." + name)


def faults(value, schema, root=None, path="$"):
    root = root or schema
    if isinstance(schema, bool):
        return [] if schema else ["%s: is not in the schema" % path]
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].split("/")[-1]], root, path)
    found = []
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[name](value) for name in types):
        return ["%s: %r is no %s" % (path, value, " or ".join(types))]
    if ("const" in schema and value != schema["const"]) or value not in schema.get("enum", [value]):
        found.append("%s: %r is none of those that may be" % (path, value))
    for word in ("anyOf", "oneOf"):
        each = [faults(value, option, root, path) for option in schema.get(word, [])]
        good = sum(not option for option in each)
        if each and (good == 0 or (word == "oneOf" and good > 1)):
            found.append("%s: %d of %d ways fit: %s" % (path, good, len(each), min(each, key=len)))
    if "not" in schema and not faults(value, schema["not"], root, path):
        found.append("%s: %r is excluded" % (path, value))
    if TYPES["number"](value):
        found += of_number(value, schema, path)
    elif isinstance(value, str):
        found += of_text(value, schema, path)
    elif isinstance(value, list):
        found += of_list(value, schema, root, path)
    elif isinstance(value, dict):
        found += of_object(value, schema, root, path)
    return found
