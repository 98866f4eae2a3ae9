"""`tile-check-divergence`: no op under control flow that may keep some of its threads away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tilec.dialects.semantics import Scope, Spread, scope_of, uniform_operands
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from .analysis.uniformity import Uniformity, control_of
from .base import Diagnostic
from .kernel_pass import Kernel, KernelPass

_LIMITS = {
    Scope.WARP: Spread.WARP,
    Scope.WARPGROUP: Spread.WARPGROUP,
    Scope.CTA: Spread.CTA,
    Scope.CLUSTER: Spread.CTA,
}
"""How far what decides the way to an op of some scope may vary."""


class CheckDivergence(KernelPass):
    """Reject ops that threads execute together where threads may have diverged.

    The position of a CTA's tile in memory must also be the same in all threads. The declaration
    of an op says which threads execute it together; for an op without one, all threads do.

    In and out: levels 1 to 3, before `scf` is lowered; the program does not change.
    """

    name: ClassVar[str] = "tile-check-divergence"

    def run(self, kernel: Kernel) -> None:
        """Check a kernel."""
        uniformity: Uniformity | None = None
        for op in kernel.walk():
            scope = scope_of(op)
            limit = _LIMITS.get(scope)
            if limit is not None:
                uniformity = uniformity or Uniformity(kernel.function)
                control = control_of(uniformity, op, limit)
                if control is not None:
                    _refuse(kernel, op, control, scope)
            if uniform := uniform_operands(op):
                uniformity = uniformity or Uniformity(kernel.function)
                _check_uniform(kernel, uniformity, op, uniform)


def _check_uniform(
    kernel: Kernel, uniformity: Uniformity, op: ir.OpView, operands: Sequence[Value]
) -> None:
    """Refuse an op whose operands, a tile's place in memory, threads disagree about."""
    for number, operand in enumerate(operands):
        if uniformity.of(operand) is not Spread.CTA:
            kernel.error(
                op,
                f"moves a tile of the whole CTA, but index {number} may differ between threads; "
                "legal: indices that are the same in all threads, such as those made of block "
                "numbers",
            )


def _refuse(kernel: Kernel, op: ir.OpView, control: Op, scope: Scope) -> None:
    who, which = f"all warps of a {_GROUPS.get(scope)}", "them"
    legal = "in all threads, such as those of block numbers"
    if scope is Scope.WARP:
        who, which = "whole warps", "lanes of one warp"
        legal = "in all lanes, such as those of block and warp numbers"
    kernel.error(
        op,
        f"is executed by {who}, but is nested in a '{control.operation.name}' that may send "
        f"{which} different ways; legal: conditions and bounds that are the same {legal}",
        notes=(Diagnostic(control.location, "the divergent control flow is here", "note"),),
    )


_GROUPS = {Scope.WARPGROUP: "warpgroup", Scope.CTA: "CTA", Scope.CLUSTER: "cluster"}
