"""`tile-check-program`: what must hold of a program on any target, and no op's verifier sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.semantics import control_flow
from tilec.dialects.semantics.control import Counted
from tilec.dialects.semantics.upstream import FUNCTIONS, LAUNCHES
from tilec.dialects.tile.attributes import (
    ABI,
    AUTOMATIC,
    DIRECT,
    DISCARDABLE,
    DYNAMIC_SHARED,
    GRID,
    PREFIX,
    WRITTEN,
    Bearer,
)
from tilec.dialects.tile.ops import LoadOp
from tilec.ir.attributes import attribute, signature
from tilec.ir.mlir import ir
from tilec.isa import UnknownNameError

from .base import Diagnostic, Pass, PassError, walk
from .emit import constant_of
from .functions import functions, gpu_modules

_OF_ARGUMENTS = [d.name for d in DISCARDABLE.values() if d.bearer is Bearer.ARGUMENT]
_CHECKED = frozenset({ABI, AUTOMATIC, DIRECT, DYNAMIC_SHARED, GRID, WRITTEN})
"""Those whose values no other pass looks at closely."""


@dataclass(frozen=True)
class CheckProgram(Pass):
    """Check the attributes `tile.…` that any op may carry, and the steps of loops.

    In and out: any level; the program stays. An attribute that is misspelt or stands on another op
    than it speaks of would have no effect: it is refused. So are an `scf.for` that does not go up,
    and launches inside of kernels.
    """

    name: ClassVar[str] = "tile-check-program"

    def apply(self, module: Any) -> None:
        """Check every `gpu.module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for op in (gpu_module, *walk(gpu_module)):
                errors += _errors(op, _check_attributes(op))
                if op.operation.name == "scf.for":
                    errors += _errors(op, _check_step(op))
                elif op.operation.name in LAUNCHES:
                    errors += _errors(op, ["stands in a kernel; kernels are launched by the host"])
            for function in functions(gpu_module):
                errors += _errors(function, _check_arguments(function))
        if errors:
            raise PassError(errors)


def _errors(op: Any, found: Iterable[str]) -> list[Diagnostic]:
    return [Diagnostic(op.location, f"'{op.operation.name}' op {message}") for message in found]


def _check_attributes(op: ir.OpView) -> Iterator[str]:
    attributes = op.operation.attributes
    legal = _legal(op)
    for name in attributes:
        if not name.startswith(PREFIX):
            continue
        known = DISCARDABLE.get(name)
        if known is None:
            yield str(UnknownNameError("attribute", name, legal or DISCARDABLE))
        elif name not in legal:
            yield f"does not take {name}, {known.bearer.value}"
        elif name in _CHECKED and not isinstance(attributes[name], getattr(ir, known.kind)):
            yield f"{name} is {known.written}"


def _legal(op: ir.OpView) -> tuple[str, ...]:
    """The attributes that mean something on an op."""
    bearers: set[Bearer] = set()
    if op.operation.name in FUNCTIONS:
        bearers.add(Bearer.FUNCTION)
    elif isinstance(control_flow(op), Counted):
        bearers |= {Bearer.LOOP, Bearer.TILE}
    elif isinstance(op, LoadOp):
        bearers |= {Bearer.LOAD, Bearer.TILE}
    elif any(isinstance(r.type, ir.RankedTensorType) for r in op.results):
        bearers.add(Bearer.TILE)
    known = (one for one in DISCARDABLE.values() if not one.transient)
    return tuple(one.name for one in known if one.bearer in bearers)


def _check_arguments(function: Any) -> Iterator[str]:
    attributes = function.operation.attributes
    if "arg_attrs" not in attributes:
        return
    types = signature(function.operation).inputs
    for number, (type_, given) in enumerate(
        zip(types, attribute(function, "arg_attrs", ir.ArrayAttr), strict=True)
    ):
        for name in (one.name for one in ir.DictAttr(given)):
            if not name.startswith(PREFIX):
                continue
            if name not in _OF_ARGUMENTS:
                yield f"argument {number}: {UnknownNameError('attribute', name, _OF_ARGUMENTS)}"
            elif not isinstance(type_, ir.MemRefType):
                yield f"argument {number}: {name} speaks of memory, and this is of type {type_}"


def _check_step(loop: Any) -> Iterator[str]:
    step = constant_of(loop.operation.operands[2])
    if step is not None and step < 1:
        yield f"goes up: its step must be positive, not {step}"
