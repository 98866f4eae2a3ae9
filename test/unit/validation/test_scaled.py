"""Scale factors and elements in bytes, of which the floats that must tell have no NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import ARITHMETICS, interpret
from tilec.interpret.numbers import named
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.passes.functions import functions, gpu_modules
from tilec.report.diagnostics import Source
from tilec.validation.compare import Pair
from tilec.validation.plans import Plan, arguments, for_floats, parameters

PROGRAM = (Path(__file__).parents[3] / "examples/kernels/scaled_gemm.mlir").read_text("utf-8")
PLAN = Plan(((16, 256), (16, 256), (16, 8), (16, 8), (16, 16)), (0,) * 5, (1, 1, 1), 1)
FAULTS = {
    "scales of another block": ("%sa[%row, %block]", "%sa[%row, %c0]"),
    "a step less": ("%k = %c0 to", "%k = %c128 to"),
    "another operand": ("%tb = tile.load %b[", "%tb = tile.load %a["),
}


def kernel(text: str) -> tuple[ir.Module, Op]:
    """The kernel of a program, and what keeps it."""
    module = parse(Source("-", text), new_context())
    ((function,),) = (functions(found) for found in gpu_modules(module))
    return module, function


def difference(before: str, after: str) -> bool:
    (_before, old), (_after, new) = kernel(before), kernel(after)
    return Pair(old, new, parameters(old), "sm_120a").difference(PLAN) is not None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    old, new = FAULTS[fault]
    assert PROGRAM.count(old) == 1
    assert difference(PROGRAM, PROGRAM.replace(old, new))


def test_the_same_formula_is_none() -> None:
    """Which the algebra tells apart: it has no laws of roots."""
    stored = "tile.store %product"
    square = "%s = arith.mulf %product, %product : !C\n    %r = math.sqrt %s : !C\n    "
    size = "%r = math.absf %product : !C\n    "
    roots, sizes = (PROGRAM.replace(stored, f"{ops}tile.store %r") for ops in (square, size))
    assert not difference(roots, sizes)


@pytest.mark.parametrize("name", ["f64", "hardware"])
def test_types_without_a_sign_are_drawn_without_nan(name: str) -> None:
    """A memory of ue8m0, which has no code for numbers below zero but NaN."""
    drawn = ARITHMETICS[name].draw(np.random.default_rng(0), (256,), named("f8E8M0FNU"))
    assert np.isfinite(drawn.astype(np.float64)).all()


def test_bytes_for_floats_give_numbers() -> None:
    _module, function = kernel(PROGRAM)
    known, floats = parameters(function), ARITHMETICS["f64"]
    *_, last = for_floats(PLAN, known)
    left = interpret(function, arguments(last, known, floats), floats, target="sm_120a")
    assert left.memories[4] is not None
    assert np.isfinite(left.memories[4]).all()
