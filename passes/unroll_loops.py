"""`tile-unroll`: loops that say so have several rounds in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.attributes import UNROLL, UNROLL_NOW
from tilec.ir.mlir import dialect, ir
from tilec.isa import TilecError

from .base import Diagnostic, Pass, PassError, remark, walk
from .emit import constant_of, create
from .functions import functions, gpu_modules

MOST = 256
"""Rounds that may become one: more code than that fits no instruction cache."""
_SCRIPT = f"""
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @unroll(%root: !transform.any_op {{transform.readonly}}) {{
    %loop = transform.structured.match ops{{["scf.for"]}} attributes {{{UNROLL_NOW}}} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %loop {{factor = FACTOR}} : !transform.any_op
    transform.yield
  }}
}}
"""


@dataclass(frozen=True)
class UnrollLoops(Pass):
    """Unroll each `scf.for` that has the attribute `tile.unroll = N : i64`, inner ones first.

    In and out: any level in which loops are `scf.for`. Upstream's transformation does it, and
    leaves a second loop for the rounds that are left, if there may be any. LLVM would
    not: matrix instructions are called convergently.
    """

    name: ClassVar[str] = "tile-unroll"

    def apply(self, module: Any) -> None:
        """Unroll the loops of every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                while (loop := _innermost(function)) is not None:
                    try:
                        _unroll(function, loop)
                    except TilecError as error:
                        name = loop.operation.name
                        errors.append(Diagnostic(loop.location, f"'{name}' op {error}"))
        if errors:
            raise PassError(errors)


def _innermost(function: Any) -> Any:
    """The last loop that is to be unrolled, with none inside it; None if there is none left."""
    found = [op for op in walk(function) if UNROLL in op.operation.attributes]
    return found[-1] if found else None


def _unroll(function: Any, loop: Any) -> None:
    attributes = loop.operation.attributes
    attribute = attributes[UNROLL]
    del attributes[UNROLL]
    if loop.operation.name != "scf.for":
        raise TilecError(f"{UNROLL} is an attribute of scf.for")
    if not isinstance(attribute, ir.IntegerAttr) or not 1 <= int(attribute.value) <= MOST:
        raise TilecError(f"{UNROLL} must be an integer from 1 to {MOST}, not {attribute}")
    factor = int(attribute.value)
    if factor == 1:
        return
    remark(loop.location, f"'scf.for' op: {factor} rounds become one, as {UNROLL} says")
    _order_bounds(loop)
    attributes[UNROLL_NOW] = ir.UnitAttr.get()
    script = ir.Module.parse(_SCRIPT.replace("FACTOR", str(factor)))
    interpreter = dialect("transform.interpreter")
    interpreter.apply_named_sequence(function, script.body.operations[0], script)
    for op in walk(function):
        if UNROLL_NOW in op.operation.attributes:
            del op.operation.attributes[UNROLL_NOW]


def _order_bounds(loop: Any) -> None:
    """Raise the upper bound to the lower one: upstream counts the rounds without a sign."""
    lower, upper, _ = list(loop.operation.operands)[:3]
    first, last = constant_of(lower), constant_of(upper)
    if first is not None and last is not None and first <= last:
        return
    with ir.InsertionPoint(loop), loop.location:
        most = create("arith.maxsi", [lower, upper], upper.type)
    loop.operation.operands[1] = most
