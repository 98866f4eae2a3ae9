"""An index of which `not_negative` says so is not negative, whatever the block numbers are."""

from __future__ import annotations

import random

import pytest
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ir
from tilec.passes.analysis.contiguity import not_negative

BITS = 1 << 64
KERNEL = """
gpu.module @m {{
  gpu.func @k() kernel {{
    %x = gpu.block_id x
    %y = gpu.block_id y
{lines}
    gpu.return
  }}
}}
"""


def _signed(value: int) -> int:
    value %= BITS
    return value - BITS if value >= BITS // 2 else value


EVALUATE = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divui": lambda a, b: a % BITS // (b % BITS) if b else 0,
    "remui": lambda a, b: a % BITS % (b % BITS) if b else 0,
    "minui": lambda a, b: min(a % BITS, b % BITS),
    "andi": lambda a, b: a & b,
}


def _said(lines: list[str]) -> list[bool]:
    """What is said of the value of each line."""
    module = ir.Module.parse(KERNEL.format(lines="\n".join(lines)), new_context())
    function = module.body.operations[0].regions[0].blocks[0].operations[0]
    ops = list(function.regions[0].blocks[0].operations)[2:-1]
    return [not_negative(op.results[0]) for op in ops]


@pytest.mark.parametrize("seed", range(60))
def test_random_indices(seed: int) -> None:
    rng = random.Random(seed)
    names, lines, values = ["%x", "%y"], [], []
    ids = [(rng.randrange(100), rng.randrange(100)) for _ in range(50)]
    rows = [[x, y] for x, y in ids]
    for number in range(8):
        name = f"%v{number}"
        if rng.random() < 0.3:
            constant = rng.choice([-3, 0, 1, 2, 7, 32])
            lines.append(f"{name} = arith.constant {constant} : index")
            values.append([constant] * len(rows))
        else:
            op = rng.choice(sorted(EVALUATE))
            a, b = rng.randrange(len(names)), rng.randrange(len(names))
            lines.append(f"{name} = arith.{op} {names[a]}, {names[b]} : index")
            values.append([_signed(EVALUATE[op](row[a], row[b])) for row in rows])
        names.append(name)
        for row, value in zip(rows, values[-1], strict=True):
            row.append(value)
    for line, said, found in zip(lines, _said(lines), values, strict=True):
        assert not said or min(found) >= 0, line


def test_parts_of_block_numbers() -> None:
    lines = [
        "%c = arith.constant 8 : index",
        "%n = arith.constant -1 : index",
        "%0 = arith.divui %x, %c : index",
        "%1 = arith.remui %0, %c : index",
        "%2 = arith.minui %n, %1 : index",
        "%3 = arith.divui %n, %c : index",
        "%4 = arith.remui %n, %n : index",
    ]
    assert _said(lines) == [True, False, True, True, True, False, False]


def test_what_wraps_in_32_bits() -> None:
    """Twice 2^31 - 1, and 5, is 3 there, of which 5 less is negative; once it does not wrap."""
    lines = [
        "%m = arith.constant 2147483647 : i32",
        "%f = arith.constant 5 : i32",
        "%w = arith.index_castui %x : index to i32",
        "%s = arith.andi %w, %m : i32",
        "%d = arith.addi %s, %s : i32",
        "%t = arith.addi %d, %f : i32",
        "%u = arith.index_castui %t : i32 to index",
        "%l = arith.constant -5 : index",
        "%0 = arith.addi %u, %l : index",
        "%v = arith.addi %s, %f : i32",
        "%1 = arith.index_castui %v : i32 to index",
        "%2 = arith.addi %1, %l : index",
    ]
    said = _said(lines)
    assert (said[6], said[8], said[11]) == (True, False, True)
