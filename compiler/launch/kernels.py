"""The kernels of a lowered module: the ABI of each, by what its function says."""

from __future__ import annotations

from collections.abc import Iterator

from tilec.dialects.tile.attributes import (
    ABI,
    CLUSTER_TILES,
    CTAS_PER_SM,
    DYNAMIC_SHARED,
    GRID,
)
from tilec.ir.aliases import Op
from tilec.ir.attributes import CLUSTER, given_attribute
from tilec.ir.mlir import ir
from tilec.ir.visits import visit
from tilec.isa import TilecError

from .abi import Argument, Extent, KernelEntry, Scalar, described
from .schema import SchemaError


def kernels(gpu_module: Op) -> Iterator[KernelEntry]:
    """The kernels of a lowered `gpu.module`, as its `llvm.func`s describe them.

    `tile-kernel-abi` leaves the arguments in `tile.abi`; a kernel without it takes what its
    parameters say.
    """
    for function in _llvm_functions(gpu_module):
        attributes = function.attributes
        if "nvvm.kernel" not in attributes:
            continue
        name = ir.StringAttr(attributes["sym_name"]).value
        if ABI in attributes:
            arguments = described_arguments(function)
        else:
            types = [str(argument.type) for argument in function.regions[0].blocks[0].arguments]
            arguments = tuple(
                Scalar(f"arg{i}", "ptr" if "ptr" in type_ else type_)
                for i, type_ in enumerate(types)
            )
        shared = given_attribute(function, DYNAMIC_SHARED, ir.IntegerAttr)
        bytes_ = 0 if shared is None else shared.value
        of_sm = given_attribute(function, CTAS_PER_SM, ir.IntegerAttr)
        yield KernelEntry(
            name,
            arguments,
            _block(function),
            bytes_,
            _grid_of(function),
            _extents(function, CLUSTER),
            None if of_sm is None else of_sm.value,
            _tiles(function),
        )


def described_arguments(function: Op) -> tuple[Argument, ...]:
    """The arguments of an `llvm.func` by its `tile.abi`.

    Raises:
        TilecError: if they are not as `tile-kernel-abi` writes them.
    """
    text = given_attribute(function, ABI, ir.StringAttr)
    try:
        return described("[]" if text is None else text.value, ABI)
    except SchemaError as error:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        raise TilecError(
            f"{ABI} of kernel '{name}' is not what tile-kernel-abi writes: {error}"
        ) from None


def _llvm_functions(gpu_module: Op) -> list[Op]:
    # By a walk: an iteration over the block would import the whole LLVM dialect for its classes.
    found: list[Op] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "llvm.func":
            found.append(op)
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    visit(gpu_module.operation, look, ir.WalkOrder.PRE_ORDER)
    return found


def _grid_of(function: Op) -> tuple[tuple[Extent, ...], ...] | None:
    given = given_attribute(function, GRID, ir.ArrayAttr)
    if given is None:
        return None
    try:
        axes = [[*ir.DenseI64ArrayAttr(axis)] for axis in given]
    except ValueError:
        axes = [[0]]
    if any(len(numbers) % 3 for numbers in axes):
        raise TilecError(f"{GRID} does not have the form that tile-from-linalg writes: {given}")
    return tuple(
        tuple(Extent(*numbers[at : at + 3]) for at in range(0, len(numbers), 3)) for numbers in axes
    )


def _block(function: Op) -> tuple[int, int, int] | None:
    names = ("nvvm.reqntid", "gpu.known_block_size", "nvvm.maxntid")
    given = (_extents(function, name) for name in names)
    return next((one for one in given if one is not None), None)


def _tiles(function: Op) -> tuple[int, int, int] | None:
    """The tiles that a cluster takes at a time; None where CTAs are those of the grid."""
    given = given_attribute(function, CLUSTER_TILES, ir.DenseI64ArrayAttr)
    if given is None:
        return None
    x, y, z = given
    return x, y, z


def _extents(function: Op, name: str) -> tuple[int, int, int] | None:
    """Three extents, those that an attribute leaves out being 1; None without it."""
    given = given_attribute(function, name, ir.DenseI32ArrayAttr)
    if given is None:
        return None
    sizes = [*given, 1, 1, 1]
    return sizes[0], sizes[1], sizes[2]
