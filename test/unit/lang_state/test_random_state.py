"""A launch gives what a kernel without any cache gives, however its Python comes to its values.

Random programs read values in more than a hundred ways, and change them between launches, between
processes, or not at all; then nothing is built again. `TILEC_RANDOM_PROGRAMS` says how many there
are.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tilec.lang import compilations, specialization
from tilec.lang.snapshot import (
    Snapshot,
    bytecode,
    code,
    contents,
    exact,
    resolve,
    scan,
    take,
    values,
)
from tilec.lang.snapshot.guards import Guards
from tilec.lang.snapshot.record import Members, Record

pytestmark = pytest.mark.usefixtures("scanned_anew")
COUNT = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "24"))
AT_ONCE = 500
"""Programs that a process runs, one after the other."""


@pytest.mark.parametrize("first", range(0, COUNT, AT_ONCE))
def test_in_one_process_after_the_other(programs: ModuleType, tmp_path: Path, first: int) -> None:
    script, count = str(Path(programs.__file__ or "")), min(AT_ONCE, COUNT - first)
    problems = ""
    for number, (edited, lines, found) in enumerate(programs.RUNS):
        folder = str(tmp_path / str(number))
        arguments = [folder, str(edited), str(lines), str(first), str(count)]
        done = subprocess.run(
            [sys.executable, script, *arguments, *(["found"] if found else [])],
            env=os.environ | {"PYTHONHASHSEED": str(number + 1)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        problems += done.stdout
    assert not problems, problems


def problems_of_ways(programs: ModuleType, folder: Path, name: str = "") -> Iterator[str]:
    """What is wrong with programs that read one value each, in each way, or in the one named."""
    for number, way in enumerate(programs.WAYS):
        if name not in ("", way.name):
            continue
        program = programs.Program(number, (way,), most=1)
        for problem in programs.run_everywhere(folder, number, program):
            yield f"{way.name}: {problem}"


def test_every_way(programs: ModuleType, tmp_path: Path) -> None:
    assert list(problems_of_ways(programs, tmp_path)) == []


@pytest.mark.parametrize("seed", range(max(2, COUNT // 1000)))
def test_on_the_simulator(programs: ModuleType, tmp_path: Path, seed: int) -> None:
    program = programs.Program(seed)
    assert programs.run_everywhere(tmp_path, seed, program, real=True) == []


def nothing(*arguments: Any, **options: Any) -> None:
    """Take no notice."""


def equal(value: object) -> str:
    """A text that is the same for values that are equal."""
    return repr(float(value)) if isinstance(value, int | float) else repr(value)


def unsigned(value: object) -> str | None:
    """The text of a value but for the sign of zero."""
    found = exact(value)
    return found and found.replace("-0.0", "0.0")


def without_defaults(function: Any) -> dict[str, object]:
    return {}


Patch = Callable[[pytest.MonkeyPatch], None]


def patches(*targets: tuple[Any, str, Any]) -> Patch:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for owner, name, value in targets:
            monkeypatch.setattr(owner, name, value, raising=False)

    return patch


def first_of_code(record: Record, label: str, function: Any) -> None:
    """Look at one function of each code alone, whatever the others enclose."""
    if record.first(label, function.__code__):
        code.look_at_function(record, label, function)


def no_step(record: Record, label: str, value: object, step: Any) -> object:
    """Have it that whatever is taken of a value never changes."""
    return resolve.DONE


REMOVED: dict[str, Patch] = {
    "changes within a process": patches((Guards, "hold", lambda self: True)),
    "types and signs of zero": patches(
        *((module, "exact", equal) for module in (values, contents, specialization))
    ),
    "the sign of zero": patches(
        *((module, "exact", unsigned) for module in (values, contents, specialization))
    ),
    "the second closure of a code": patches(
        (values, "_KINDS", values._KINDS | {type(nothing): first_of_code})
    ),
    "variables of enclosing functions": patches((code, "_cells", without_defaults)),
    "defaults": patches((code, "_defaults", without_defaults)),
    "the environment": patches((resolve, "_variable", lambda *_: resolve.DONE)),
    "attributes and items of globals": patches((resolve, "_taken", no_step)),
    "attributes of what is held": patches((Members, "look", nothing)),
    "what is imported in helpers": patches((scan.Scan, "_import", nothing)),
    "names that are computed": patches(
        (scan.Scan, "_by_name", lambda self, at, path, after: at + 1)
    ),
    "objects that are constants": patches(
        (compilations, "take", lambda source, objects: take(source, {}))
    ),
    "the code of helpers": patches((bytecode, "code_text", nothing)),
    "what cannot be recorded": patches((Snapshot, "reason", property(lambda self: None, nothing))),
}
"""What each takes out of what makes the caches sound."""
FOUND_BY = {
    "changes within a process": "global",
    "types and signs of zero": "global of a helper",
    "the sign of zero": "instance as an argument",
    "the second closure of a code": "two closures of one code",
    "variables of enclosing functions": "enclosed variable",
    "defaults": "default",
    "the environment": "os.environ",
    "attributes and items of globals": "helper of a helper",
    "attributes of what is held": "instance as an argument",
    "what is imported in helpers": "an import in a helper of os",
    "names that are computed": "getattr by a name that is computed",
    "objects that are constants": "method of a constant",
    "the code of helpers": "code that is replaced",
    "what cannot be recorded": "result that is kept",
}
"""A way that each is found by."""


@pytest.mark.parametrize("what", REMOVED)
def test_what_is_left_out_is_found(
    programs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    REMOVED[what](monkeypatch)
    problems = problems_of_ways(programs, tmp_path, FOUND_BY[what])
    assert any("gives" in problem for problem in problems)
