#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges JSON documents by JSON Schemas: reads lines `SCHEMA-FILE<tab>DOCUMENT`, prints `good` or `bad ...` for each."""
import json
import re
import sys

from jsonschema import Draft7Validator, validators
from jsonschema.exceptions import ValidationError


def pattern(_validator, expression, instance, _schema):
    """JSON Schema's `$` is the end of the text (ECMA 262); Python's also stands before a line break at the end."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", expression), instance):
        yield ValidationError(f"{instance!r} does not match {expression}")


Validator = validators.extend(Draft7Validator, {"pattern": pattern})
validator_of = {}
for line in sys.stdin:
    schema_file, document = line.rstrip("\n").split("\t", 1)
    if schema_file not in validator_of:
        with open(schema_file, encoding="utf-8") as file:
            schema = json.load(file)
        Validator.check_schema(schema)
        validator_of[schema_file] = Validator(schema)
    error = next(validator_of[schema_file].iter_errors(json.loads(document)), None)
    print("good" if error is None else f"bad {error.json_path}: {error.message}".replace("\n", " "))
