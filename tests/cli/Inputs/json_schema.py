"""Validates lines of JSON on standard input against the schema in docs/diagnostics.md, and says which
of its properties occurred. A property that the schema does not have is a fault: it is not documented.

    tkc k.tk --diagnostics=json 2>&1 | python3 json_schema.py docs/diagnostics.md
"""

import json
import pathlib
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int}


def faults(value, schema, root, path):
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].split("/")[-1]]
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        return ["%s: %r is no %s" % (path, value, schema["type"])]
    if "enum" in schema and value not in schema["enum"]:
        return ["%s: %r is none of %s" % (path, value, schema["enum"])]
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return ["%s: %r does not match %s" % (path, value, schema["pattern"])]
    if "minimum" in schema and value < schema["minimum"]:
        return ["%s: %r is below %d" % (path, value, schema["minimum"])]
    found = []
    if isinstance(value, dict):
        found += ["%s: lacks %s" % (path, name) for name in schema["required"] if name not in value]
        for name, part in value.items():
            if name in schema["properties"]:
                found += faults(part, schema["properties"][name], root, path + "." + name)
            else:
                found.append("%s: %s is not in the schema" % (path, name))
    if isinstance(value, list):
        for i, part in enumerate(value):
            found += faults(part, schema["items"], root, "%s[%d]" % (path, i))
    return found


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    schema = json.loads(re.search(r"^```json\n(.*?)^```", page, re.M | re.S).group(1))
    lines = sys.stdin.read().splitlines()
    seen, wrong = set(), []
    for number, line in enumerate(lines, 1):
        record = json.loads(line)
        wrong += faults(record, schema, schema, "line %d" % number)
        seen |= {name for name, part in record.items() if part not in ([], "")}
    print("\n".join(wrong) or "%d lines good: %s" % (len(lines), " ".join(sorted(seen))))
    sys.exit(1 if wrong or not lines else 0)


main()
