"""Reads a file of JSON strings, one per line; writes one answer per line: {"value": …}, {"refused": …} or {"unusable": …}."""

import importlib.metadata
import json
import sys

import json_repair

print(json.dumps({"version": importlib.metadata.version("json_repair")}))
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        value = json_repair.loads(json.loads(line))
    except Exception as error:
        print(json.dumps({"refused": type(error).__name__}))
        continue
    try:
        # According to its documentation, an empty string means that nothing was found.
        print(json.dumps({"refused": "empty"} if value == "" else {"value": value}, allow_nan=False))
    except Exception as error:
        print(json.dumps({"unusable": type(error).__name__}))
