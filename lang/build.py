"""A kernel's Python as a module of tile IR."""

from __future__ import annotations

from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.dialects.tile.attributes import ALIGNED, SIZES, STRIDES
from tilec.frontend.inputs import Built
from tilec.ir import mlir, ops
from tilec.ir.state import holding
from tilec.report.diagnostics import Place

from . import operators  # noqa: F401 (tiles need theirs)
from .array import Array, Assumption, Facts
from .emit import emit, i64, i64s, located
from .errors import KernelError
from .interpreter import call
from .old_values import drop_old_values
from .pins import attributes_of
from .settings import NO_PINS, Pins
from .shared_arrays import noted
from .source import FunctionSource
from .specialization import ArrayType, ConstantValue, ScalarType, Specialization
from .structures import assembled
from .tile import Tile

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


class BuiltKernel(NamedTuple):
    """A kernel's program.

    Attributes:
        module: an `ir.Module` with one kernel.
        written: the arrays that it changes.
        assumptions: what it assumes of them.
    """

    module: Any
    written: tuple[str, ...]
    assumptions: tuple[Assumption, ...]

    def built(self) -> Built:
        """It, and what a launch has to know of it."""
        return Built(self.module, {"written": list(self.written)})

    def digest(self) -> str:
        """A digest of the program and of the places that it is from."""
        code = BytesIO()
        self.module.operation.write_bytecode(code)
        return blake2b(code.getvalue(), digest_size=20).hexdigest()


def build(
    source: FunctionSource,
    specialization: Specialization,
    *,
    warps: int,
    pins: Pins = NO_PINS,
    context: ir.Context | None = None,
) -> BuiltKernel:
    """The program of a kernel, on tiles without layouts.

    Args:
        source: of the kernel.
        specialization: what it is compiled for.
        warps: of a CTA.
        pins: what it asks of passes.
        context: where to build it; a new one if None.

    Returns:
        The program, verified.

    Raises:
        KernelError: for what is wrong in the kernel, at its place.
    """
    from tilec.frontend.contexts import new_context  # noqa: PLC0415 (imports MLIR)

    place = source.place
    name = source.tree.name
    context = context or new_context()
    with context, holding(context), mlir.ir.Location.unknown(), located(place):
        whole = mlir.ir.Module.create(loc=_location(place))
        entry, function = _empty(whole, name, specialization, warps, place)
        arguments = arguments_of(specialization, list(entry.arguments))
        with mlir.ir.InsertionPoint(entry):
            given = {name: assembled(form, arguments) for name, form in specialization.forms}
            with noted(entry) as shared:
                returned = call(source, given)
            if returned is not None:
                raise KernelError(place, f"a kernel returns nothing, not {returned!r}: tl.store it")
            emit(ops.gpu.return_)
        if any(isinstance(a, Array) and a.updated for a in (*arguments.values(), *shared)):
            drop_old_values(function)
        function.attributes["arg_attrs"] = _facts(arguments, specialization)
        for pinned, value in attributes_of(pins).items():
            function.attributes[pinned] = value
        _verify(whole, place)
    arrays = [value for value in arguments.values() if isinstance(value, Array)]
    return BuiltKernel(
        whole,
        tuple(array.name for array in arrays if array.written),
        tuple(assumption for array in arrays for assumption in array.assumptions),
    )


def empty_kernel(
    source: FunctionSource, specialization: Specialization, warps: int
) -> tuple[Any, Any]:
    """The block of a kernel without ops, in the current context, and its module."""
    place = source.place
    with located(place):
        whole = mlir.ir.Module.create(loc=_location(place))
        entry, _ = _empty(whole, source.tree.name, specialization, warps, place)
    return entry, whole


def _empty(
    whole: Any, name: str, specialization: Specialization, warps: int, place: Place
) -> tuple[Any, Any]:
    """The block of a kernel without ops, and its function."""
    with mlir.ir.InsertionPoint(whole.body):
        body = emit(ops.gpu.module, name).regions[0].blocks[0]
    function = _function(name, specialization, warps, body, place)
    return function.regions[0].blocks[0], function


def _location(place: Place) -> Any:
    return mlir.ir.Location.file(place.file, place.line, place.column)


def _function(
    name: str, specialization: Specialization, warps: int, body: Any, place: Place
) -> Any:
    """The empty kernel."""
    passed = {
        argument: mlir.ir.Type.parse(value.mlir)
        for argument, value in specialization.arguments
        if not isinstance(value, ConstantValue)
    }
    types = list(passed.values())
    attributes = {
        "sym_name": mlir.ir.StringAttr.get(name),
        "function_type": mlir.ir.TypeAttr.get(mlir.ir.FunctionType.get(types, [])),
        "kernel": mlir.ir.UnitAttr.get(),
        "known_block_size": mlir.ir.DenseI32ArrayAttr.get([32 * warps, 1, 1]),
    }
    with mlir.ir.InsertionPoint(body):
        function = emit(ops.gpu.func, attributes)
    names = [mlir.ir.Location.name(argument, _location(place)) for argument in passed]
    function.regions[0].blocks.append(*types, arg_locs=names)
    return function


def arguments_of(specialization: Specialization, values: list[Any]) -> dict[str, Any]:
    """What the arguments are in the kernel, those made of others taken apart."""
    found: dict[str, Any] = {}
    for name, known in specialization.arguments:
        if isinstance(known, ArrayType):
            found[name] = Array(name, values.pop(0), known.dtype, known.shape, known.facts)
        elif isinstance(known, ScalarType):
            found[name] = Tile(values.pop(0), known.dtype, natural=known.natural)
        else:
            found[name] = known.value
    return found


def _facts(arguments: dict[str, Any], specialization: Specialization) -> Any:
    """What is known of each argument, as attributes for the passes."""
    alone = {n for n, known in specialization.arguments if getattr(known, "alone", False)}
    passed = {n: v for n, v in arguments.items() if isinstance(v, Array | Tile)}
    found = [
        _of_array(v.facts, alone=name in alone) if isinstance(v, Array) else {}
        for name, v in passed.items()
    ]
    return mlir.ir.ArrayAttr.get([mlir.ir.DictAttr.get(facts) for facts in found])


def _of_array(facts: Facts, *, alone: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"llvm.noalias": mlir.ir.UnitAttr.get()} if alone else {}
    if facts.aligned > 1:
        found[ALIGNED] = i64(facts.aligned)
    for name, known in ((SIZES, facts.sizes), (STRIDES, facts.strides)):
        if any(number > 1 for number in known):
            found[name] = i64s(known)
    return found


def _verify(whole: Any, place: Place) -> None:
    from tilec.report.diagnostics import place as place_of  # noqa: PLC0415 (imports MLIR)

    try:
        whole.operation.verify()
    except mlir.ir.MLIRError as error:
        first = error.error_diagnostics[0]
        location = first.location
        at = place_of(mlir.ir.Location.from_attr(location.attr, location.context))
        raise KernelError(Place(*at) if at else place, _explained(first.message)) from None


def _explained(message: str) -> str:
    if "does not dominate" in message:
        return (
            "a tile made in a loop or a branch of the kernel is used outside of it, kept in an "
            "object: pass it out through a variable"
        )
    return message
