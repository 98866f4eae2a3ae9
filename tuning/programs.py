"""Tunable kernels from files: Python that declares them, or JSON beside a template of MLIR."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilec.isa import TilecError, nearest

from .declared import Tunable, declare
from .errors import TuningError
from .sources import TemplateProgram

_KEYS = {
    "template": str,
    "kernel": str,
    "parameters": dict,
    "where": list,
    "pins": dict,
    "problem": dict,
    "arguments": dict,
    "grid": str,
    "table": str,
}
_NEEDED = ("template", "kernel", "parameters", "problem", "arguments")


def load(path: str | Path, name: str | None = None) -> Tunable:
    """The tunable kernel of a file.

    Args:
        path: a Python file, which is executed, or a JSON file.
        name: the name of the kernel, if the file has several.

    Raises:
        TuningError: if the file has no tunable kernel, or several and no name is given.
    """
    path = Path(path)
    if not path.is_file():
        raise TuningError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    found = _from_json(path) if path.suffix == ".json" else _from_python(path)
    if not found:
        raise TuningError("the file declares no kernel by @tilec.tunable", f"{path}:1:1")
    if name is None and len(found) > 1:
        raise TuningError(f"{path} has {', '.join(found)}; --kernel NAME says which")
    if name is not None and name not in found:
        raise TuningError(
            f"{path} has no tunable kernel '{name}'; nearest: {', '.join(nearest(name, found))}"
        )
    return found[name] if name is not None else next(iter(found.values()))


def _from_python(path: Path) -> dict[str, Tunable]:
    try:
        variables = runpy.run_path(str(path))
    except TilecError:
        raise
    except Exception as error:
        line = _line(error, str(path))
        raise TuningError(f"{type(error).__name__}: {error}", f"{path}:{line}:1") from error
    return {one.name: one for one in variables.values() if isinstance(one, Tunable)}


def _line(error: BaseException, file: str) -> int:
    """The last line of a file that an error came through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 1
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _from_json(path: Path) -> dict[str, Tunable]:
    try:
        text = path.read_text(encoding="utf-8")
        said = json.loads(text)
    except UnicodeDecodeError as error:
        raise TuningError(f"it is not UTF-8 text: {error.reason}", f"{path}:1:1") from None
    except json.JSONDecodeError as error:
        raise TuningError(error.msg, f"{path}:{error.lineno}:{error.colno}") from None
    except RecursionError:
        raise TuningError("it nests too deeply", f"{path}:1:1") from None

    def find(part: str, name: str) -> str:
        start = _after(text, part, 0) if part else 0
        at = _after(text, name, start) if name else start
        line = text.count("\n", 0, at) + 1
        return f"{path}:{line}:{at - text.rfind(chr(10), 0, at)}"

    _check(said, find)
    file = path.parent / said["template"]
    try:
        template = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise TuningError(f"template {file}: {what}", find("", "template")) from None
    parameters: dict[str, Any] = dict(said["parameters"])
    defaults: dict[str, int] = {}
    for name, given in parameters.items():
        if isinstance(given, Mapping) and "values" in given:
            if given.keys() - {"values", "default"}:
                raise TuningError(
                    f"parameter '{name}' has {', '.join(given)}; legal: values and default",
                    find("parameters", name),
                )
            parameters[name] = given["values"]
            if isinstance(given.get("default"), int):
                defaults[name] = given["default"]
    program = TemplateProgram(template, str(file), said["kernel"])
    program.check(tuple(parameters))
    made = declare(
        program,
        parameters=parameters,
        default=defaults.get,
        where=said.get("where", []),
        pins=said.get("pins", {}),
        problem=said["problem"],
        arguments=said["arguments"],
        grid=said.get("grid"),
        find=find,
        table=said.get("table", ""),
    )
    return {made.name: made}


def _after(text: str, name: str, start: int) -> int:
    """Where a string of JSON stands."""
    found = re.compile(re.escape(json.dumps(name))).search(text, start)
    return start if found is None else found.start()


def _check(said: Any, find: Any) -> None:
    """See that a declaration has what it needs, each of its type."""
    if not isinstance(said, dict):
        raise TuningError("a declaration is an object", find("", ""))
    for key, value in said.items():
        if key not in _KEYS:
            hint = ", ".join(nearest(key, _KEYS))
            raise TuningError(f"unknown key '{key}'; nearest: {hint}", find("", key))
        if not isinstance(value, _KEYS[key]):
            what = {str: "a string", dict: "an object", list: "a list"}[_KEYS[key]]
            raise TuningError(f"'{key}' is {what}", find("", key))
    for key in _NEEDED:
        if key not in said:
            raise TuningError(f"there is no '{key}'", find("", ""))
    for one in said.get("where", []):
        if not isinstance(one, str):
            raise TuningError(f"a constraint is a string, not {one!r}", find("", "where"))
