"""The validator on products of pairs of CTAs: of the pass that makes them, and of wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from tilec.dialects.tile.ops import BarrierArriveOp
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes import Kernel, KernelPass, PassError, walk
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

GEMM = Path(__file__).parents[3] / "examples" / "kernels" / "gemm.mlir"
PASSES = [*map(str, pipeline(target("sm_100a")).tile)]
FIRST = next(i for i, name in enumerate(PASSES) if name.startswith("tile-specialize-warps"))


@dataclass(frozen=True)
class Spoil(KernelPass):
    """Does to each kernel what a test asks for.

    In and out: any level.
    """

    name: ClassVar[str] = "test-spoil"

    do: Callable[[Kernel], None] = field(default=lambda _: None)

    def run(self, kernel: Kernel) -> None:
        """Do it."""
        self.do(kernel)


@pytest.fixture(scope="module")
def before() -> str:
    """The example behind the passes that decide that pairs compute its product."""
    text = GEMM.read_text(encoding="utf-8").replace("sm_80", "sm_100a")
    module = parse(Source("-", text), new_context())
    run_pipeline(module, PASSES[:FIRST])
    return str(module)


def release_early(kernel: Kernel) -> None:
    """Release a stage before the product has read it."""
    for dot in kernel.named(TensorDot):
        ops = [op.operation for op in dot.operation.block.operations]
        for op in ops[ops.index(dot.operation) :]:
            if isinstance(op.opview, BarrierArriveOp):
                op.move_before(dot.operation)


def take_other_half(kernel: Kernel) -> None:
    """Let each CTA load the first half of the columns of B."""
    for op in [one.operation for one in walk(kernel.function)]:
        if op.name == "nvvm.read.ptx.sreg.cluster.ctarank":
            with ir.InsertionPoint(op), op.location:
                zero = ir.Operation.create(
                    "arith.constant",
                    results=[op.results[0].type],
                    attributes={"value": ir.IntegerAttr.get(op.results[0].type, 0)},
                )
            op.results[0].replace_all_uses_with(zero.results[0])


WRONG = {
    release_early: "copies to shared memory that asynchronous work is reading",
    take_other_half: "argument 2 holds",
}


@pytest.mark.parametrize(
    "do",
    [release_early, pytest.param(take_other_half, marks=pytest.mark.slow)],
    ids=lambda do: do.__name__,
)
def test_what_is_wrong(before: str, do: Callable[[Kernel], None]) -> None:
    """The pass that makes the product of a pair is validated; one that spoils it is named."""
    found = Validator(shrinks=False)
    watched = Instrumentation(watchers=(found.around,))
    module = parse(Source("-", before), new_context())
    run_pipeline(module, PASSES[FIRST], instrumentation=watched)
    assert "cta_group::2" in str(module)
    assert found.validated == ["tile-specialize-warps"]
    assert not found.left
    with pytest.raises(PassError, match=f"pass 'test-spoil' changed the meaning.*{WRONG[do]}"):
        run_pipeline(module, [Spoil(do)], instrumentation=watched)
