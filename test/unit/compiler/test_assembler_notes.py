"""What ptxas notes of a module, told at the ops of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.backend import cubin
from tilec.isa import target
from tilec.pipelines import pipeline
from tilec.report.diagnostics import place
from tilec.tools import tilec as command

SOURCE = Path(__file__).parents[3] / "examples" / "hopper" / "gemm.mlir"
HOPPER = target("sm_90a")
UNCHECKED = pipeline(HOPPER).replaced("tile-check-wgmma")
NO_FENCE = (("%d0 = tile.wgmma_fence %sum : !D", ""), ("%d0 if", "%sum if"))
NO_WAIT = (("%done = tile.wgmma_wait 0 %d4 : !D", ""), ("yield %done", "yield %d4"))


def _program(changes: tuple[tuple[str, str], ...]) -> str:
    text = SOURCE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def _line(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("changes", "code", "parts"),
    [
        (NO_FENCE, "C7519", ("%d1 = tile.wgmma",)),
        # The loop hands its result on.
        (NO_WAIT, "C7517", ("%d:3 = scf.for",)),
    ],
)
@pytest.mark.parametrize("lineinfo", [False, True])
def test_a_note_of_a_line_is_told_at_the_op(
    changes: Any,
    code: str,
    parts: tuple[str, ...],
    lineinfo: bool,
    monkeypatch: pytest.MonkeyPatch,
    assemblers_for: Callable[..., list[Any]],
) -> None:
    assemblers_for(HOPPER)
    text = _program(changes)
    told = []
    for tool in cubin.tools("ptxas"):
        monkeypatch.setattr(cubin, "tools", lambda _, tool=tool: (tool,))
        compiled = tilec.compile(text, emit="cubin", pipeline=UNCHECKED, lineinfo=lineinfo)
        told += [one for one in compiled.remarks if code in one.message]
    if not told:
        pytest.skip(f"no ptxas at hand notes {code}")
    for one in told:
        at = place(one.location)
        assert at is not None
        assert at.line in {_line(text, part) for part in parts}, (at, one.message)
        assert one.severity == "remark"


REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : (C7519) warpgroup.arrive is injected in around line 78 by compiler to allow use of \
registers in GMMA in function 'k'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized \
due to function call in the function 'gemm_2'
ptxas module.ptx, line 33; warning : Instruction 'x' without '.y' is deprecated
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers
ptxas info    : Compile time = 56.818 ms
"""


def test_reports_are_read() -> None:
    found = list(cubin._notes(REPORT))
    assert [(one.severity, one.line, one.function) for one in found] == [
        ("remark", 78, "k"),
        ("remark", 0, "gemm_2"),
        ("warning", 33, ""),
    ]
    assert found[0].message.startswith("(C7519) warpgroup.arrive is injected")


def test_the_command_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the kernel where ptxas names a function alone, quoted as any remark is."""
    source = tmp_path / "k.mlir"
    source.write_text(
        'gpu.module @m [#nvvm.target<chip = "sm_80">] {\n'
        "  gpu.func @k(%a: memref<4xf32>) kernel { gpu.return }\n"
        "}\n"
    )
    note = cubin.Note("(C7510) serialised in function 'k'", "remark", 0, "k")
    made = cubin.Assembled(b"", {}, cubin.Tool("ptxas", (13, 0)), (note,))
    monkeypatch.setattr(cubin, "assemble", lambda *_, **__: made)
    assert command.main([str(source), "--emit", "cubin", "-o", str(tmp_path / "k.cubin")]) == 0
    shown = capsys.readouterr().err
    assert f"{source}:2:3: remark: ptxas: (C7510) serialised in function 'k'" in shown
    assert "  gpu.func @k(" in shown
