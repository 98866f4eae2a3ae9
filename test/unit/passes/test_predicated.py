"""Masked tiles move by one predicated instruction an access, of every width and without a branch.

A row is copied whose end lies within the tile; on the simulator, which checks bounds, numpy says
what must arrive, and ptxas takes the same program for targets of every generation.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import tilec
from tilec.isa import TARGETS
from tilec.sim import launch

WIDTHS = {
    ("i8", 1): "b8",
    ("i8", 2): "b16",
    ("i8", 4): "b32",
    ("i8", 8): "v2.b32",
    ("i8", 16): "v4.b32",
    ("f16", 1): "b16",
    ("f16", 2): "b32",
    ("f16", 8): "v4.b32",
    ("bf16", 4): "v2.b32",
    ("f32", 1): "b32",
    ("f32", 2): "v2.b32",
    ("f32", 4): "v4.b32",
    ("f64", 1): "b64",
    ("f64", 2): "v2.b64",
}
"""Type and number of elements side by side, and how PTX moves so many bits."""
BITS = {"i8": np.uint8, "f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def kernel(element: str, vector: int) -> str:
    """Each lane copies two vectors of a row, the second 32 vectors further."""
    elements = 2 * 32 * vector
    places = [f"[{1 << bit}]" for bit in range(elements.bit_length() - 1)]
    low = vector.bit_length() - 1
    registers, lanes = [*places[:low], places[-1]], places[low:-1]
    layout = f"register {' '.join(registers)}; lane {' '.join(lanes)} -> row {elements}"
    tile = f'tensor<{elements}x{element}, #tile.layout<"{layout}">>'
    how = f"{{masked, vector = {vector} : i64}}"
    return f"""
  gpu.func @{element}_{vector}(%x: memref<?x{element}>, %y: memref<?x{element}>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %t = "tile.load"(%x, %z) {how} : (memref<?x{element}>, index) -> {tile}
    "tile.store"(%t, %y, %z) {how} : ({tile}, memref<?x{element}>, index) -> ()
    gpu.return
  }}
"""


def program(target: str) -> str:
    """A kernel of each width."""
    kernels = "".join(kernel(*width) for width in WIDTHS)
    return f'gpu.module @m [#nvvm.target<chip = "{target}">] {{{kernels}}}'


@cache
def _compiled(target: str) -> tilec.Compiled:
    return tilec.compile(program(target))


def body(ptx: str, name: str) -> str:
    """A kernel's PTX."""
    (found,) = re.findall(rf"\.entry {name}\(.*?\n\}}", ptx, re.DOTALL)
    return str(found)


@pytest.mark.parametrize(("element", "vector"), WIDTHS)
def test_what_arrives(element: str, vector: int) -> None:
    ptx, name = _compiled("sm_80").ptx, f"{element}_{vector}"
    width = WIDTHS[element, vector]
    text = body(ptx, name)
    assert "bra" not in text
    step = 32 * vector * np.dtype(BITS[element]).itemsize
    for access in ("ld", "st"):
        found = re.findall(
            rf"@%p\d+ {access}\.global\.{re.escape(width)} .*\[%rd\d+(\+\d+)?\]", text
        )
        assert found == ["", f"+{step}"]
    random = np.random.default_rng(0)
    for count in (0, vector, 31 * vector, 32 * vector, 45 * vector, 64 * vector):
        source = random.integers(1, 200, count).astype(BITS[element])
        # Elements behind the end of the result are those of nobody's.
        result = np.zeros(count, BITS[element])
        report = launch(ptx, name, 1, 32, [source, count, result, count])
        assert not report.findings
        np.testing.assert_array_equal(result, source)


def test_zeros_come_from_outside() -> None:
    """Of a row that ends earlier than the one that is written."""
    ptx = _compiled("sm_80").ptx
    for (element, vector), _ in WIDTHS.items():
        source = np.arange(1, 1 + 7 * vector).astype(BITS[element])
        result = np.full(40 * vector, 77, BITS[element])
        report = launch(
            ptx, f"{element}_{vector}", 1, 32, [source, source.size, result, result.size]
        )
        assert not report.findings
        np.testing.assert_array_equal(result[: source.size], source)
        assert not result[source.size :].any()


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_assembles(target: str, assemblers_for) -> None:
    ptx = _compiled(target).ptx
    for assembler in assemblers_for(TARGETS[target]):
        status, report = assembler.run(ptx, target)
        assert status == 0, report


def test_lines_are_kept() -> None:
    """A predicated store says from which line it comes, as any instruction does."""
    text = program("sm_80")
    ptx = tilec.compile(text, lineinfo=True).ptx
    lines = [at for at, line in enumerate(text.splitlines(), 1) if '"tile.store"' in line]
    said: list[int] = []
    line = 0
    for instruction in ptx.splitlines():
        if loc := re.match(r"\s*\.loc\s+\d+ (\d+)", instruction):
            line = int(loc[1])
        if re.search(r"@%p\d+ st\.global", instruction):
            said.append(line)
    assert said == [line for line in lines for _ in range(2)]
