"""What answers are made of, as `spaa help --json` declares it, and what of an answer is not declared."""

import decimal
import re

NUMBER = (int, decimal.Decimal)
TYPES = {"text": str, "handle": str, "weight": NUMBER, "percent": NUMBER, "count": int, "ns": int, "number": NUMBER,
         "true or false": bool, "list of texts": list}
DIAGNOSTIC = ("code", "severity", "file", "line", "offset", "path", "message", "hint")


def members(part):
    """Paths of members, lists left out of them: {"rows.self": types}."""
    found = {}
    for prefix, columns in [("", part["facts"])] + [(t["name"] + ".", t["columns"]) for t in part["tables"]]:
        for c in columns:
            found[re.sub(r"\.\d+", "", prefix + c["name"])] = TYPES[c["type"]]
            if c["short"]:
                found[prefix + c["name"].rpartition("function")[0] + "short"] = str
    return found


def of_all(answer):
    """{schema: {path: types}}"""
    common = members(answer["common"])
    out = {}
    for q in answer["questions"]:
        mine = {**common, **members(q), "schema": str, "next": list, **{"diagnostics." + d: (str, int) for d in DIAGNOSTIC}}
        for t in q["tables"]:
            mine["omitted." + t["name"]] = int
            mine.update({"omitted." + c["name"]: TYPES[c["type"]] for c in t["columns"]})
        out[q["schema"]] = mine
    return out


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, path + "." + key if path else key)
    elif isinstance(value, list) and value and not isinstance(value[0], str):
        for inner in value:
            yield from leaves(inner, path)
    else:
        yield path, value


def undeclared(answer, declared):
    known = declared.get(answer.get("schema"))
    if known is None:
        return []
    wrong = []
    for path, value in leaves(answer):
        if path not in known and not (value in ([], None) and any(k.startswith(path + ".") for k in known)):
            wrong.append(path + " is not declared")
        elif value is not None and value != [] and not isinstance(value, known[path]):
            wrong.append("%s is no %s: %r" % (path, known[path], value))
    return wrong
