"""`tile-check-program`: what must hold of a program on any target, and no op's verifier sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from tilec.ir.mlir import ir
from tilec.isa import UnknownNameError

from .analysis.written_arguments import WRITTEN
from .base import Diagnostic, Pass, PassError, walk
from .emit import constant_of
from .functions import AUTOMATIC, functions, gpu_modules
from .layouts.layout_ways import PIN
from .pipeline_loops import STAGES
from .rasterize import ATTRIBUTE as RASTERIZE
from .staging.operand_loads import DIRECT
from .unroll_loops import UNROLL

_PREFIX = "tile."
_OF_ARGUMENTS = ("tile.aligned", "tile.sizes", "tile.strides")
_OF_FUNCTIONS = (RASTERIZE, AUTOMATIC, "tile.abi", "tile.dynamic_shared", "tile.grid", WRITTEN)
_OF_LOOPS = (STAGES, UNROLL)
_ALL = (*_OF_ARGUMENTS, *_OF_FUNCTIONS, *_OF_LOOPS, DIRECT, PIN)
_KINDS: Mapping[str, tuple[type, str]] = MappingProxyType(
    {
        AUTOMATIC: (ir.UnitAttr, "a unit attribute: it has no value; leave it out for no"),
        DIRECT: (ir.UnitAttr, "a unit attribute: it has no value; leave it out for no"),
        "tile.abi": (ir.StringAttr, "a string, as tile-kernel-abi writes it"),
        "tile.dynamic_shared": (ir.IntegerAttr, "a number of bytes"),
        "tile.grid": (ir.ArrayAttr, "an array, as tile-from-linalg writes it"),
        WRITTEN: (ir.DenseI64ArrayAttr, "array<i64: …>, as tile-order-memory writes it"),
    }
)
_LAUNCHES = ("gpu.launch", "gpu.launch_func")


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
                elif op.operation.name in _LAUNCHES:
                    errors += _errors(op, ["stands in a kernel; kernels are launched by the host"])
            for function in functions(gpu_module):
                errors += _errors(function, _check_arguments(function))
        if errors:
            raise PassError(errors)


def _errors(op: Any, found: Iterable[str]) -> list[Diagnostic]:
    return [Diagnostic(op.location, f"'{op.operation.name}' op {message}") for message in found]


def _check_attributes(op: Any) -> Iterator[str]:
    attributes = op.operation.attributes
    for name in attributes:
        if not name.startswith(_PREFIX):
            continue
        if name not in _ALL:
            yield str(UnknownNameError("attribute", name, _legal(op) or _ALL))
        elif name not in _legal(op):
            yield f"does not take {name}, {_belongs(name)}"
        elif name in _KINDS and not isinstance(attributes[name], _KINDS[name][0]):
            yield f"{name} is {_KINDS[name][1]}"


def _legal(op: Any) -> tuple[str, ...]:
    """The attributes that mean something on an op."""
    name = op.operation.name
    if name in ("gpu.func", "llvm.func"):
        return _OF_FUNCTIONS
    if name == "scf.for":
        return (*_OF_LOOPS, PIN)
    if name == "tile.load":
        return (DIRECT, PIN)
    tiles = [r for r in op.results if isinstance(r.type, ir.RankedTensorType)]
    return (PIN,) if tiles else ()


def _belongs(name: str) -> str:
    if name in _OF_ARGUMENTS:
        return "an attribute of a memref argument of gpu.func"
    if name in _OF_FUNCTIONS:
        return "an attribute of gpu.func"
    if name in _OF_LOOPS:
        return "an attribute of scf.for"
    return "an attribute of tile.load" if name == DIRECT else "an attribute of ops that give a tile"


def _check_arguments(function: Any) -> Iterator[str]:
    attributes = function.operation.attributes
    if "arg_attrs" not in attributes:
        return
    types = attributes["function_type"].value.inputs
    for number, (type_, given) in enumerate(
        zip(types, ir.ArrayAttr(attributes["arg_attrs"]), strict=True)
    ):
        for name in (one.name for one in given):
            if not name.startswith(_PREFIX):
                continue
            if name not in _OF_ARGUMENTS:
                yield f"argument {number}: {UnknownNameError('attribute', name, _OF_ARGUMENTS)}"
            elif not isinstance(type_, ir.MemRefType):
                yield f"argument {number}: {name} speaks of memory, and this is of type {type_}"


def _check_step(loop: Any) -> Iterator[str]:
    step = constant_of(loop.operation.operands[2])
    if step is not None and step < 1:
        yield f"goes up: its step must be positive, not {step}"
