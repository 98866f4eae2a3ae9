"""`tile-check-program`: what must hold of a program on any target, and no op's verifier sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tilec.dialects.semantics.upstream import FUNCTIONS, LAUNCHES
from tilec.dialects.tile.attributes import (
    DISCARDABLE,
    PREFIX,
    Bearer,
)
from tilec.dialects.tile.ops import DotOp, LoadOp
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.ir.attributes import attribute, signature
from tilec.ir.mlir import gpu, ir, scf
from tilec.isa import UnknownNameError

from .base import Pass, walk
from .emit import constant_of
from .functions import functions, gpu_modules
from .report import Report

_OF_ARGUMENTS = [d.name for d in DISCARDABLE.values() if d.bearer is Bearer.ARGUMENT]


class CheckProgram(Pass):
    """Check the attributes `tile.…` that any op may carry, and the steps of loops.

    In and out: any level; the program does not change. An attribute that is misspelt or on the
    wrong op would have no effect and is rejected. So are an `scf.for` that does not count up,
    and launches inside kernels.
    """

    name: ClassVar[str] = "tile-check-program"

    def apply(self, module: ir.Module) -> None:
        """Check every `gpu.module`."""
        report = Report()
        for gpu_module in gpu_modules(module):
            for op in (gpu_module, *walk(gpu_module)):
                for message in (*_check_attributes(op), *_check_step(op), *_check_place(op)):
                    report.error(op, message)
            for function in functions(gpu_module):
                _check_arguments(function, report)
        report.raise_errors()


def _check_attributes(op: ir.OpView) -> Iterator[str]:
    attributes = op.operation.attributes
    ours = [name for name in attributes if name.startswith(PREFIX)]
    legal = _legal(op) if ours else ()
    for name in ours:
        known = DISCARDABLE.get(name)
        if known is None:
            yield str(UnknownNameError("attribute", name, legal or DISCARDABLE))
        elif name not in legal:
            yield f"does not take {name}, {known.bearer.value}"
        elif not (known.judged or isinstance(attributes[name], getattr(ir, known.kind))):
            yield f"{name} is {known.written}"


def _legal(op: ir.OpView) -> tuple[str, ...]:
    """The attributes that mean something on an op."""
    bearers: set[Bearer] = set()
    if op.operation.name in FUNCTIONS:
        bearers.add(Bearer.FUNCTION)
    elif isinstance(op, scf.ForOp):
        bearers |= {Bearer.LOOP, Bearer.TILE}
    elif isinstance(op, LoadOp):
        bearers |= {Bearer.LOAD, Bearer.TILE}
    elif isinstance(op, IndexedOp) and op.update is None:
        bearers |= {Bearer.GATHER, Bearer.TILE} if len(op.results) else {Bearer.GATHER}
    elif isinstance(op, DotOp):
        bearers |= {Bearer.DOT, Bearer.TILE}
    elif any(isinstance(r.type, ir.RankedTensorType) for r in op.results):
        bearers.add(Bearer.TILE)
    known = (one for one in DISCARDABLE.values() if not one.transient)
    return tuple(one.name for one in known if one.bearer in bearers)


def _check_arguments(function: gpu.GPUFuncOp, report: Report) -> None:
    if "arg_attrs" not in function.attributes:
        return
    types = signature(function).inputs
    for number, (type_, given) in enumerate(
        zip(types, attribute(function, "arg_attrs", ir.ArrayAttr), strict=True)
    ):
        for name in (one.name for one in ir.DictAttr(given)):
            if not name.startswith(PREFIX):
                continue
            if name not in _OF_ARGUMENTS:
                message = str(UnknownNameError("attribute", name, _OF_ARGUMENTS))
            elif not isinstance(type_, ir.MemRefType):
                message = f"{name} applies to memory, but this is of type {type_}"
            else:
                continue
            report.error(function, message, argument=number)


def _check_step(op: ir.OpView) -> Iterator[str]:
    step = constant_of(op.step) if isinstance(op, scf.ForOp) else None
    if step is not None and step < 1:
        yield f"counts up: its step must be positive, not {step}"


def _check_place(op: ir.OpView) -> Iterator[str]:
    if op.operation.name in LAUNCHES:
        yield "is inside a kernel; kernels are launched by the host"
