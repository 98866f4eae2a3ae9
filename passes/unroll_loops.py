"""`tile-unroll`: loops that say so have several rounds in one."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.attributes import UNROLL, UNROLL_NOW
from tilec.ir.mlir import dialect, ir, scf
from tilec.ir.ops import arith, transform
from tilec.isa import TilecError
from tilec.isa.wording import counted

from .base import walk
from .emit import constant_of
from .kernel_pass import Kernel, KernelPass

MOST = 256
"""Rounds that may become one: more code than that fits no instruction cache."""
_UPPER = 1
"""Number of a loop's operand that is the upper bound, which MLIR's view of it cannot set."""


class UnrollLoops(KernelPass):
    """Unroll each `scf.for` that has the attribute `tile.unroll = N : i64`, inner ones first.

    In and out: any level in which loops are `scf.for`. Upstream's transformation does this, and
    adds a second loop for remaining iterations if there may be any. LLVM would not unroll these
    loops, because matrix instructions are convergent calls.
    """

    name: ClassVar[str] = "tile-unroll"

    def run(self, kernel: Kernel) -> None:
        """Unroll the loops of a kernel."""
        while (loop := _innermost(kernel)) is not None:
            with kernel.at(loop):
                _unroll(loop, kernel)


def _innermost(kernel: Kernel) -> ir.OpView | None:
    """The last loop that is to be unrolled, with none inside it; None if there is none left."""
    found = [op for op in kernel.walk() if UNROLL in op.attributes]
    return found[-1] if found else None


def _unroll(loop: ir.OpView, kernel: Kernel) -> None:
    attributes = loop.attributes
    attribute = attributes[UNROLL]
    del attributes[UNROLL]
    if not isinstance(loop, scf.ForOp):
        raise TilecError(f"{UNROLL} is an attribute of scf.for")
    if not isinstance(attribute, ir.IntegerAttr) or not 1 <= attribute.value <= MOST:
        raise TilecError(f"{UNROLL} must be an integer from 1 to {MOST}, not {attribute}")
    factor = attribute.value
    if factor == 1:
        return
    kernel.remark(loop, f"has {counted(factor, 'round')} in one, as {UNROLL} says")
    _order_bounds(loop)
    attributes[UNROLL_NOW] = ir.UnitAttr.get()
    script = _script(factor)
    interpreter = dialect("transform.interpreter")
    interpreter.apply_named_sequence(kernel.function, script.body.operations[0], script)
    for op in walk(kernel.function):
        if UNROLL_NOW in op.attributes:
            del op.attributes[UNROLL_NOW]


def _script(factor: int) -> ir.Module:
    """What upstream's interpreter does: unroll the loops that are marked."""
    script = ir.Module.create()
    with transform.named_sequence(script, "unroll") as kernel:
        transform.loop_unroll(transform.match(kernel, scf.ForOp, UNROLL_NOW), factor)
    return script


def _order_bounds(loop: scf.ForOp) -> None:
    """Raise the upper bound to the lower one: upstream counts the rounds without a sign."""
    lower, upper = loop.lowerBound, loop.upperBound
    first, last = constant_of(lower), constant_of(upper)
    if first is not None and last is not None and first <= last:
        return
    with ir.InsertionPoint(loop):
        most = arith.maxsi(lower, upper)
    loop.operands[_UPPER] = most
