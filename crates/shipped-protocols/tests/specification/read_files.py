"""Reads files with PyYAML and validates them with jsonschema: JSON on standard input and output."""

import json
import sys

import jsonschema
import yaml

request = json.load(sys.stdin)
answers = []
for file in request["files"]:
    value, errors = None, []
    try:
        value = json.loads(file["text"]) if file["path"].endswith(".json") else yaml.safe_load(file["text"])
    except yaml.YAMLError as error:
        errors.append(str(error))
    if file["schema"] and not errors:
        schema = request["schemas"][file["schema"]]
        found = jsonschema.Draft7Validator(schema).iter_errors(value)
        errors = [f"/{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in found]
    answers.append({"value": value, "errors": errors})
json.dump(answers, sys.stdout)
