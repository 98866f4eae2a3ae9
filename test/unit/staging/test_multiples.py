"""What is said to divide an index divides it: programs of random arithmetic, evaluated."""

from __future__ import annotations

import random

import pytest
from tilec.dialects import load
from tilec.ir.mlir import ir
from tilec.passes.analysis.multiples import ANY, multiple_of
from tilec.passes.analysis.possible_bits import possible_bits
from tilec.passes.base import walk

OPS = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "minui": min,
}


def _programs(seed):
    """Text of a function of one argument, a multiple of 32, and the value of each result."""
    rng = random.Random(seed)
    lines, values = [], []
    argument = 32 * rng.randrange(1, 50)
    names = ["%x"]
    known = [argument]
    for number in range(12):
        op = rng.choice(list(OPS))
        left = rng.randrange(len(names))
        constant = rng.choice([1, 2, 3, 4, 6, 8, 16, 24, 64])
        lines.append(f"%c{number} = arith.constant {constant} : index")
        if op in ("divui", "remui") or rng.random() < 0.5:
            right, value = f"%c{number}", constant
        else:
            at = rng.randrange(len(names))
            right, value = names[at], known[at]
        lines.append(f"%v{number} = arith.{op} {names[left]}, {right} : index")
        known.append(OPS[op](known[left], value))
        names.append(f"%v{number}")
        values.append(known[-1])
    return argument, "\n".join(lines), values


@pytest.mark.parametrize("seed", range(60))
def test_multiples_and_bits(seed) -> None:
    argument, text, values = _programs(seed)
    source = f"""gpu.module @m {{ gpu.func @f(%n: index) kernel {{
        %c32 = arith.constant 32 : index
        %x = arith.muli %n, %c32 : index
        {text}
        gpu.return }} }}"""
    with ir.Context():
        load()
        module = ir.Module.parse(source)
        found = [op.results[0] for op in walk(module.operation) if op.operation.results]
        results = [r for r in found if r.owner.operation.name != "arith.constant"][1:]
        for result, value in zip(results, values, strict=True):
            multiple = multiple_of(result)
            assert multiple == ANY or value % multiple == 0, (argument, str(result))
            assert multiple != ANY or value == 0
            if value < 1 << 31:
                assert value & ~possible_bits(result) == 0, (argument, str(result))


def test_what_a_loop_carries() -> None:
    """From 48 in steps of 16, and halved each round: 16 divides one, nothing the other."""
    source = """gpu.module @m { gpu.func @f(%n: index) kernel {
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %c16 = arith.constant 16 : index
        %c48 = arith.constant 48 : index
        %r:2 = scf.for %i = %c48 to %n step %c16 iter_args(%a = %c48, %b = %c48) -> (index, index) {
          %a1 = arith.addi %a, %c16 : index
          %b1 = arith.divui %b, %c2 : index
          %all = arith.addi %i, %a : index
          scf.yield %a1, %b1 : index, index
        }
        gpu.return } }"""
    with ir.Context():
        load()
        module = ir.Module.parse(source)
        (loop,) = (op for op in walk(module.operation) if op.operation.name == "scf.for")
        counter, carried, halved = loop.regions[0].blocks[0].arguments
        assert [multiple_of(v) for v in (counter, carried, halved)] == [16, 16, 1]
