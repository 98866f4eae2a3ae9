"""What a kernel says of itself while it runs: `device_print` and `device_assert`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.ir import mlir, ops
from tilec.isa import TilecError

from .arithmetic import binary
from .casts import astype, view
from .dtypes import DType, bool_, float32, float64, int32, int64, intp, uint64
from .elementwise import where
from .emit import constant, emit, i64, place, result, text, type_of
from .errors import KernelError
from .reductions import all as all_of
from .shapes import broadcast_to
from .takes import as_bits, from_bits, numbers
from .tile import Operand, Shape, Tile, reading
from .yielded import as_scalar

_SPECIFIERS = {"float": "%g", "int": "%lld", "index": "%lld", "uint": "%llu", "bool": "%lld"}


def device_print(prefix: str, *values: Operand, hex: bool = False) -> None:  # noqa: A002
    """Print values while the kernel runs, once a CTA, a line an element.

    A line says the CTA, the element's indices, the prefix, and the element. It takes a reduction of
    the CTA for each element, so it is for tiles of which one wants to read all.

    Args:
        prefix: what stands before each, known when the kernel is compiled.
        values: tiles, scalars, numbers.
        hex: whether integers are printed in base 16.

    Raises:
        TilecError: for a prefix that is not text, and what is not a value.
    """
    if not isinstance(prefix, str):
        raise TilecError(f"device_print takes a string first, not {prefix!r}")
    for value in values:
        if not isinstance(value, Tile | bool | int | float):
            raise TilecError(f"device_print prints tiles, scalars and numbers, not {value!r}")
    if (read := reading.get()) is not None:
        _print_now(prefix, [np.asarray(read(as_scalar(value))) for value in values], hex_=hex)
        return
    if not values:
        _print_line(prefix, [], None, hex_=hex)
    for number, value in enumerate(values):
        label = f"{prefix} [{number}]" if len(values) > 1 else prefix
        tile = as_scalar(value)
        if tile.shape:
            _print_elements(label, tile, hex_=hex)
        else:
            _print_line(label, [], tile, hex_=hex)


def device_assert(
    condition: Tile | bool, message: str = "", mask: Tile | bool | None = None
) -> None:
    """Stop the kernel where a condition does not hold when it runs, for any element of a tile.

    On a GPU the launch fails, and the driver prints the message and the line; the simulator raises
    an error that names both.

    Args:
        condition: truth values.
        message: what the error says, known when the kernel is compiled.
        mask: for which elements it must hold, truth values that broadcast to the condition's shape.

    Raises:
        TilecError: for a condition that is not a truth value, and a message that is not text.
    """
    if not isinstance(message, str):
        raise TilecError(f"the message of device_assert is a string, not {message!r}")
    held = as_scalar(condition) if isinstance(condition, bool) else condition
    if not isinstance(held, Tile) or held.dtype is not bool_:
        raise TilecError(f"device_assert takes truth values, such as x > 0, not {condition!r}")
    if mask is not None:
        wide = mask if isinstance(mask, Tile) else as_scalar(mask, bool_)
        held = held | ~(broadcast_to(wide, held.shape) if held.shape else wide)
    if held.shape:
        held = all_of(held)
    if (read := reading.get()) is not None:
        if not read(held):
            raise KernelError(place(), f"assertion failed: {message or 'device_assert'}")
        return
    emit(ops.cf.assert_, held.value, message or "device_assert")


def _print_now(prefix: str, values: Sequence[np.ndarray[Any, Any]], *, hex_: bool) -> None:
    """Print what is known, a line an element, as the kernel prints it."""
    from .stepping import stepper  # noqa: PLC0415 (of use in stepped kernels only)

    found = stepper()
    assert found is not None
    begun = f"pid {found.cta.at}"
    if not values:
        print(f"{begun} {prefix}")
    for number, value in enumerate(values):
        label = f"{prefix} [{number}]" if len(values) > 1 else prefix
        for at, one in np.ndenumerate(value):
            where = f" idx ({', '.join(map(str, at))})" if at else ""
            print(f"{begun}{where} {label}: {_written(one, hex_=hex_)}")


def _written(one: Any, *, hex_: bool) -> str:
    if np.asarray(one).dtype.kind in "iub":
        number = int(one)
        return f"0x{number & 0xFFFFFFFFFFFFFFFF:x}" if hex_ else str(number)
    return f"{float(one):g}"


def _print_elements(prefix: str, tile: Tile, *, hex_: bool) -> None:
    """Print a tile, in row-major order, by a loop over its elements."""
    dtype = tile.dtype
    if dtype.kind == "float" and dtype is not float64:
        tile, dtype = astype(tile, float32), float32
    bits = as_bits(tile)
    bounds = [constant(number, intp) for number in (0, tile.size, 1)]
    loop = emit(ops.scf.for_, bounds, [])
    unknown = mlir.ir.Location.unknown()
    block = loop.regions[0].blocks.append(mlir.ir.IndexType.get(), arg_locs=[unknown])
    with mlir.ir.InsertionPoint(block):
        at = Tile(block.arguments[0], intp, natural=True)
        indices = _indices(at, tile.shape)
        element = _element(_at(bits, indices), dtype)
        _print_line(prefix, indices, element, hex_=hex_)
        emit(ops.scf.yield_, [])


def _at(bits: Tile, indices: list[Tile]) -> Tile:
    """The element at indices, of unsigned integers, as a scalar."""
    for axis, index in enumerate(indices):
        bits = where(numbers(bits, axis) == astype(index, int32), bits, 0)
    while bits.shape:
        shape = bits.shape[1:]
        attributes = {"axis": i64(0), "fn": text("arith.ori")}
        value = result("tile.reduce", [bits.value], type_of(bits.dtype, shape), attributes)
        bits = Tile(value, bits.dtype, shape)
    return bits


def _element(bits: Tile, dtype: type[DType]) -> Tile:
    """A scalar of its bits."""
    if dtype is bool_:
        return bits
    return from_bits(bits, dtype) if dtype.bits < 8 else view(bits, dtype)


def _indices(at: Tile, shape: Shape) -> list[Tile]:
    """The indices of an element by its number in row-major order."""
    found: list[Tile] = []
    for extent in reversed(shape):
        found.insert(0, binary("remainder", at, extent))
        at = binary("floor_divide", at, extent)
    return found


def _print_line(prefix: str, indices: list[Tile], value: Tile | None, *, hex_: bool) -> None:
    """Print one line, by the first thread of the CTA."""
    dimensions = [ops.gpu.Dimension(axis) for axis in "xyz"]
    numbers = [Tile(emit(ops.gpu.block_id, axis), intp, natural=True) for axis in dimensions]
    form = "pid (%lld, %lld, %lld)"
    if indices:
        form += f" idx ({', '.join(['%lld'] * len(indices))})"
    form += f" {prefix.replace('%', '%%')}"
    arguments = [*numbers, *indices]
    if value is not None:
        is_hex = hex_ and value.dtype.kind != "float"
        form += f": {'0x%llx' if is_hex else _SPECIFIERS[value.dtype.kind]}"
        arguments.append(value)
    wide = [_widest(argument) for argument in arguments]
    thread = Tile(emit(ops.gpu.thread_id, dimensions[0]), intp, natural=True)
    first = emit(ops.scf.branch, binary("equal", thread, 0).value)
    for at, region in enumerate(first.regions):
        with mlir.ir.InsertionPoint(region.blocks.append()):
            if at == 0:
                emit(ops.gpu.printf, f"{form}\n", [one.value for one in wide])
            emit(ops.scf.yield_, [])


def _widest(value: Tile) -> Tile:
    """A scalar as printf takes it."""
    if value.dtype.kind == "float":
        return astype(value, float64)
    return astype(value, uint64 if value.dtype.kind in ("uint", "bool") else int64)
