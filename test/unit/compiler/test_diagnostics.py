"""Diagnostics as text: places inside locations of every kind, source lines, carets, notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tilec.ir.mlir import ir
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import Source, place, places, render

SOURCE = Source("prog.mlir", "first\n\tsecond line\nthird\n")


@pytest.fixture
def context() -> Any:
    with ir.Context() as context:
        yield context


def at(line: int, column: int, file: str = "-") -> Any:
    return ir.Location.file(file, line, column)


@pytest.mark.usefixtures("context")
def test_line_and_caret() -> None:
    assert render([Diagnostic(at(3, 2), "bad")], SOURCE) == (
        "prog.mlir:3:2: error: bad\nthird\n ^\n"
    )
    assert render([Diagnostic(at(2, 9), "odd", "warning")], SOURCE) == (
        "prog.mlir:2:9: warning: odd\n\tsecond line\n\t       ^\n"
    )


@pytest.mark.usefixtures("context")
def test_notes_follow() -> None:
    note = Diagnostic(at(1, 1), "because", "note")
    assert render([Diagnostic(at(3, 1), "bad", notes=(note,))], SOURCE) == (
        "prog.mlir:3:1: error: bad\nthird\n^\nprog.mlir:1:1: note: because\nfirst\n^\n"
    )


@pytest.mark.usefixtures("context")
def test_without_a_place() -> None:
    assert render([Diagnostic(ir.Location.unknown(), "bad")], SOURCE) == "error: bad\n"
    assert render([Diagnostic(at(0, 0), "bad")], SOURCE) == "prog.mlir: error: bad\n"
    assert render([Diagnostic(at(99, 1), "bad")], SOURCE) == "prog.mlir:99:1: error: bad\n"
    assert render([], SOURCE) == ""


@pytest.mark.usefixtures("context")
def test_line_of_another_file(tmp_path: Path) -> None:
    """A program built from Python points into the script that built it."""
    script = tmp_path / "build.py"
    script.write_text("import tilec\ntile.mma(a, b)\n")
    assert render([Diagnostic(at(2, 1, str(script)), "bad")]) == (
        f"{script}:2:1: error: bad\ntile.mma(a, b)\n^\n"
    )
    assert render([Diagnostic(at(2, 1, "gone.py"), "bad")]) == "gone.py:2:1: error: bad\n"


@pytest.mark.usefixtures("context")
def test_locations_of_every_kind() -> None:
    inner, outer = at(1, 2, "inner.py"), at(3, 4, "outer.py")
    call = ir.Location.callsite(inner, [outer])
    assert [p.file for p in places(call)] == ["inner.py", "outer.py"]
    assert place(ir.Location.name("x", inner)) == ("inner.py", 1, 2)
    assert place(ir.Location.fused([ir.Location.unknown(), outer, inner])) == ("outer.py", 3, 4)
    assert place(ir.Location.unknown()) is None
    nested = ir.Location.name("y", ir.Location.fused([call, outer]))
    assert place(nested) == ("inner.py", 1, 2)


def test_a_long_word_is_cut() -> None:
    from tilec.frontend.contexts import new_context
    from tilec.frontend.parsing import parse
    from tilec.passes.base import ProgramError

    with pytest.raises(ProgramError) as caught:
        parse(Source("-", f"func.func @f(%a: !{'h' * 5000})"), new_context())
    (error,) = caught.value.diagnostics
    assert f"'{'h' * 99}..." in error.message
    assert len(error.message) < 200
