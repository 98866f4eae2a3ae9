"""Tables and sentences with figures, and where the figures come from."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from generated import ROOT

BENCHMARKS = ROOT / "benchmarks"
UNIT = ROOT / "test" / "unit"


@dataclass(frozen=True)
class Table:
    """A table: the name of its place on the page, and the lines."""

    name: str
    rows: str


class Sentence:
    """A part of a sentence, with the names of figures in braces, and the figures."""

    def __init__(self, text: str, /, **figures: object) -> None:
        self.name = self.text = text
        self.names = re.findall(r"\{(\w+)\}", text)
        self.figures = {name: str(figure) for name, figure in figures.items()}


def results(name: str) -> tuple[str, Any]:
    """The newest results of a name, in front of the date: the file's name, and what it has."""
    file = max((BENCHMARKS / "results").glob(f"{name}-20??-??-??.json"))
    return file.name, json.loads(file.read_text(encoding="utf-8"))


def entries(file: str, *names: str) -> int:
    """How many entries lists or dictionaries of a file of tests have, without importing it."""
    module = ast.parse((UNIT / file).read_text(encoding="utf-8"))
    found = {
        statement.targets[0].id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    values = [found[name] for name in names]
    return sum(len(v.keys if isinstance(v, ast.Dict) else v.elts) for v in values)  # type: ignore[attr-defined]


def benchmark(name: str) -> ModuleType:
    """A module of the benchmarks."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return importlib.import_module(name)
