"""Operations found by name are those that a walk in Python finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import dialect
from tilec.passes import lower_math, walk
from tilec.passes.search import named
from tilec.report.diagnostics import Source

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "kernels"


def _walked(module: Any, names: set[str]) -> Iterator[Any]:
    return (op.operation for op in walk(module.operation) if op.operation.name in names)


@pytest.mark.parametrize("name", ["attention", "gemm", "softmax"])
def test_as_by_a_walk(name: str) -> None:
    text = (EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")
    module = parse(Source(name, text), new_context())
    every = {op.operation.name for op in walk(module.operation)}
    for names in (every, {"scf.for"}, {"tile.load", "arith.constant"}, {"math.atan"}, set[str]()):
        found = named(module.operation, names)
        assert set(found) == set(_walked(module, names))
        assert len(found) == len(set(found))
    assert len(named(module.operation, ["gpu.module", "gpu.module"])) == 1


def test_nothing_changes() -> None:
    text = (EXAMPLES / "gemm.mlir").read_text(encoding="utf-8")
    module = parse(Source("gemm", text), new_context())
    before = str(module)
    assert named(module.operation, ["scf.for", "tile.dot"])
    assert str(module) == before


def test_blocks_that_nothing_reaches() -> None:
    text = "func.func @f() {\nub.unreachable\n^bb1:\n%0 = arith.constant 1.0 : f32\nreturn\n}"
    module = parse(Source("f", text), new_context())
    assert named(module.operation, ["arith.constant"]) == []
    assert len(named(module.operation, ["func.func"])) == 1


def test_every_op_of_upstream_is_looked_for() -> None:
    """One that `tile-lower-math` overlooks would become a call of a library that is not there."""
    ops = {getattr(one, "OPERATION_NAME", "") for one in vars(dialect("math")).values()}
    upstream = {name for name in ops if name.startswith("math.")}
    assert len(upstream) > 40
    assert upstream <= set(lower_math.LOOKED_FOR)
