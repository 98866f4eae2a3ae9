"""Whether data is as a JSON schema says: the keywords that the ABI's schema uses.

JSON Schema, draft 2020-12. `abi.schema.json` is what others read, and what tilec itself checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tilec.isa import TilecError
from tilec.isa.wording import counted

_TYPES: Mapping[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "null": lambda value: value is None,
}
_SHOWN = 40


class SchemaError(TilecError):
    """Data that a schema does not allow; the message begins with its place in the data."""


@cache
def abi_schema() -> Mapping[str, Any]:
    """The schema of the JSON beside the PTX."""
    text = Path(__file__).with_name("abi.schema.json").read_text(encoding="utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema


def check(value: object, part: str = "", at: str = "") -> None:
    """Check data against the ABI's schema.

    Args:
        value: what `json.loads` gave.
        part: the definition in the schema that it is to fit; the whole if empty.
        at: what messages call the data.

    Raises:
        SchemaError: for the first thing that does not fit.
    """
    schema = abi_schema()
    for problem in _problems(value, schema["$defs"][part] if part else schema, at):
        raise SchemaError(problem)


def _problems(value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:
    """What of `value` is not as `schema` says, each with its place."""
    if reference := schema.get("$ref"):
        schema = abi_schema()["$defs"][reference.rpartition("/")[2]]
    if options := schema.get("oneOf"):
        yield from _of_one_kind(value, options, at)
        return
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    if types and not any(_TYPES[type_](value) for type_ in types):
        yield f"{at or 'the document'}: {_shown(value)} is not of type {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {_shown(value)} is not {schema['const']!r}"
    if "enum" in schema and (isinstance(value, bool) or value not in schema["enum"]):
        yield f"{at}: {_shown(value)} is not one of {', '.join(map(str, schema['enum']))}"
    match value:
        case dict():
            yield from _of_object(value, schema, at)
        case list():
            yield from _of_array(value, schema, at)
        case str():
            if len(value) < schema.get("minLength", 0):
                yield f"{at}: is empty"
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{at}: {_shown(value)} is not as {schema['pattern']}"
        case int():
            least, most = schema.get("minimum", value), schema.get("maximum", value)
            if not least <= value <= most:
                yield f"{at}: {_shown(value)} is not from {least} to {most}"


def _of_one_kind(value: Any, options: list[Mapping[str, Any]], at: str) -> Iterator[str]:
    """Of objects that their `kind` tells apart."""
    kinds = {one["$ref"].rpartition("/")[2]: one for one in options}
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        yield f"{at}: its kind is {_shown(kind)}; legal: {', '.join(kinds)}"
    else:
        yield from _problems(value, kinds[kind], at)


def _of_object(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at or 'the document'}: '{name}' is missing"
    for name, inside in value.items():
        if name in known:
            yield from _problems(inside, known[name], f"{at}.{name}" if at else name)
        elif not schema.get("additionalProperties", True):
            yield f"{at or 'the document'}: unknown key {_shown(name)}; legal: {', '.join(known)}"


def _of_array(value: list[Any], schema: Mapping[str, Any], at: str) -> Iterator[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        yield f"{at}: has {counted(len(value), 'element')}, not {least} to {most}"
    if "items" in schema:
        for number, item in enumerate(value):
            yield from _problems(item, schema["items"], f"{at}[{number}]")


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value) if not isinstance(value, dict | list) else json.dumps(value)[: _SHOWN + 1]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
