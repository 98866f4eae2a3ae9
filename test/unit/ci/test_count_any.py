"""`.ci/count_any.py` counts what resolves to `Any`, however it is written, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "count_any.py"

ALIASES = """
from typing import Any
from triton.language import tensor as Foreign
Anything = Any
Table = dict[str, "Foreign"]
Number = int | float
Nested = list["Nested"] | int
"""
COUNTED = """
from __future__ import annotations
from collections.abc import Callable
from typing import Any
from .aliases import Anything, Foreign, Nested, Number, Table

def bare(any_: Any) -> None: ...
def told(any_alias: Anything, any_foreign: Foreign, any_table: Table) -> None: ...
def inside(any_dict: dict[str, Any], any_optional: Any | None) -> None: ...
def pair(any_tuple: tuple[int, Any]) -> None: ...
def calls(any_taken: Callable[[Any], int], any_given: Callable[[int], Any]) -> None: ...
def variadic(*any_args: Any, **any_kwargs: Any) -> None: ...
def fine(a: int, b: Number, c: object, d: Callable[..., int], e: Nested, f: list[str]) -> None: ...

class Holder:
    field: Any
    other: int
    def method(self, any_: Any, b: str) -> Any:
        return b
    @staticmethod
    def static(any_first: Any, b: str) -> None: ...
    @classmethod
    def of(cls, b: str) -> int:
        def nested(any_nested: Any, b: int) -> int:
            return b
        return nested(b, 1)
    @property
    def seen(self) -> int:
        if self.other:
            def branch(any_branch: Any) -> None: ...
        return 1
"""


def _counted(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    package = tmp_path / "acme"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "aliases.py").write_text(ALIASES)
    (package / "counted.py").write_text(COUNTED)
    command = [sys.executable, str(SCRIPT), str(tmp_path), "acme", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_counts(tmp_path: Path) -> None:
    done = _counted(tmp_path, "--list", "--limit", "64")
    *listed, _, row, last = done.stdout.splitlines()
    names = [line.split(" ")[1] for line in listed]
    assert all("(any_" in name for name in names), names
    assert len(names) == COUNTED.count("any_")
    total = len(names) + 6 + 4
    assert row.split()[:3] == ["acme", str(total), str(len(names))]
    assert last.split()[:3] == ["all", str(total), str(len(names))]
    assert row.split()[4] == "50.0"  # fields
    assert done.returncode == 0, done.stdout + done.stderr


def test_fails_above_the_limit(tmp_path: Path) -> None:
    assert _counted(tmp_path, "--limit", "20").returncode == 1


def test_what_cannot_be_imported_is_any(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "broken.py").write_text("from .nowhere import X\ndef f(a: X) -> None: ...")
    done = _counted(tmp_path)
    assert done.returncode == 1
    assert "nowhere" in done.stderr
