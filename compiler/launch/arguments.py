"""Arguments of the kernels that tilec compiles, as the launch passes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.isa import LaunchError, element_type
from tilec.isa.dtypes import numpy_type
from tilec.isa.host_memory import HostBlock, host_blocks
from tilec.isa.overlap import Extent, extent, overlap
from tilec.isa.wording import counted
from tilec.runtime.cuda.streams import handle
from tilec.runtime.cuda.views import View, is_shared, view
from tilec.runtime.tensor_maps import BoxedArray

from .abi import Extents, Given, GridExtent, KernelEntry, MemRef, TensorMap, bytes_of


def passed(
    kernel: KernelEntry, values: Sequence[Any], stream: Any = None, *, grid: Extents | None = None
) -> list[Any]:
    """The values of a kernel's parameters: of an array itself, then what extents it takes.

    Args:
        kernel: the kernel.
        values: numpy arrays, arrays on a GPU, and scalars.
        stream: the stream that the kernel will be launched on.
        grid: the CTAs that the launch names, for a kernel whose CTAs take several tiles.

    Raises:
        LaunchError: naming the argument that does not fit.
    """
    taken = kernel.given
    if len(values) != len(taken):
        listed = ", ".join(f"{a.name}: {_written(a)}" for a in taken)
        raise LaunchError(
            f"kernel '{kernel.name}' takes {counted(len(taken), 'argument')} ({listed}), not "
            f"{len(values)}"
        )
    blocks = [block for block in host_blocks(values) if block.is_shared]
    given = [
        _passed(argument, value, number, blocks, stream)
        for number, (argument, value) in enumerate(zip(taken, values, strict=True))
    ]
    _check_disjoint(kernel, [first for first, *_ in given])
    axes = [one.axis for one in kernel.arguments if isinstance(one, GridExtent)]
    if axes and grid is None:
        raise LaunchError(f"kernel '{kernel.name}' takes the extents of the grid; there is none")
    extents = [grid[axis] for axis in axes if grid is not None]
    boxed = [_boxed(one, given[one.array][0], blocks) for one in kernel.maps]
    return [*(parameter for parameters in given for parameter in parameters), *extents, *boxed]


def _boxed(map_: TensorMap, array: Any, blocks: Sequence[HostBlock]) -> BoxedArray:
    """The array of a tensor map, which fits it.

    Raises:
        LaunchError: naming the dimension that does not.
    """
    if isinstance(array, np.ndarray):
        size, strides, address = array.itemsize, array.strides, _copied_to(array, blocks)
    else:
        size = bytes_of(map_.type)
        strides = tuple(step * size for step in array.strides)
        address = array.pointer
    walk = map_.element_strides, map_.im2col
    found = BoxedArray(array, map_.type, size, array.shape, strides, map_.box, map_.swizzle, *walk)
    found.check(f"argument {map_.array}", address)
    return found


def _written(argument: Given) -> str:
    if not isinstance(argument, MemRef):
        return argument.type
    extents = "x".join("?" if n is None else str(n) for n in argument.shape)
    return f"{extents}x{argument.type}"


def _passed(
    argument: Given, value: Any, number: int, blocks: Sequence[HostBlock], stream: Any
) -> list[Any]:
    is_array = isinstance(value, np.ndarray) or is_shared(value)
    if not isinstance(argument, MemRef):
        if is_array and argument.type != "ptr":
            raise LaunchError(f"argument {number} is an array; the kernel takes {argument.type}")
        if value is None and argument.type != "ptr":
            raise LaunchError(f"argument {number} is None; the kernel takes {argument.type}")
        return [value]
    if not is_array:
        raise LaunchError(
            f"argument {number} is not an array; the kernel takes {_written(argument)}"
        )
    if isinstance(value, np.ndarray):
        if not value.itemsize:
            raise LaunchError(f"argument {number} has elements of {value.dtype!r}, of no bytes")
        strides = tuple(step // value.itemsize for step in value.strides)
    else:
        value = view(value, f"argument {number}", handle(stream))
        strides = value.strides
    strides = _counting(argument, value.shape, strides)
    _check(argument, value.shape, strides, value.dtype, number)
    address = _copied_to(value, blocks) if isinstance(value, np.ndarray) else value.pointer
    _check_promises(argument, value.shape, strides, address, number)
    given = (*value.shape, *strides, 0)
    known = (*argument.shape, *argument.strides, argument.offset)
    dynamic = [n for n, fixed in zip(given, known, strict=True) if fixed is None]
    return [value, *dynamic]


def _copied_to(array: np.ndarray[Any, Any], blocks: Sequence[HostBlock]) -> int:
    """An address that is aligned as the array's copy will be: 0 where as a kernel may ask for."""
    is_part = any(block.place(array) is not None for block in blocks)
    return array.ctypes.data if is_part else 0


def _counting(
    argument: MemRef, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides, those wanted where no two elements tell: of extents of 1, and of no elements."""
    if len(strides) != len(argument.strides):
        return strides
    empty = 0 in shape
    return tuple(
        wanted if wanted is not None and (empty or extent == 1) else given
        for wanted, given, extent in zip(argument.strides, strides, shape, strict=True)
    )


def _check(
    argument: MemRef,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: np.dtype[Any] | None,
    number: int,
) -> None:
    fits = (
        len(shape) == len(argument.shape)
        and all(k in (None, n) for n, k in zip(shape, argument.shape, strict=True))
        and all(k in (None, n) for n, k in zip(strides, argument.strides, strict=True))
        and argument.offset in (None, 0)
    )
    if not fits:
        raise LaunchError(
            f"argument {number} is {'x'.join(map(str, shape))} with strides {list(strides)}; the "
            f"kernel takes {_written(argument)} "
            f"with strides {['?' if n is None else n for n in argument.strides]}"
        )
    if dtype is not None and not _holds(argument.type, dtype):
        raise LaunchError(
            f"argument {number} has elements of {dtype}; the kernel takes {argument.type}"
        )


def _check_promises(
    argument: MemRef, shape: tuple[int, ...], strides: tuple[int, ...], address: int, number: int
) -> None:
    """Check what the kernel relies on; raises LaunchError saying which promise is broken."""
    promised = argument.promised
    if address % promised.aligned:
        raise LaunchError(
            f"argument {number} is at {address:#x}; the kernel was compiled for a multiple of "
            f"{counted(promised.aligned, 'byte')} (tile.aligned)"
        )
    # Of an extent of 1 no second element tells the stride.
    told = [0 if extent <= 1 else stride for extent, stride in zip(shape, strides, strict=True)]
    for what, values, multiples in (
        ("sizes", shape, promised.sizes),
        ("strides", told, promised.strides),
    ):
        if any(value % multiple for value, multiple in zip(values, multiples, strict=False)):
            raise LaunchError(
                f"argument {number} has {what} {list(values)}; the kernel was compiled for "
                "multiples of "
                f"{list(multiples)} (tile.{what})"
            )


def _check_disjoint(
    kernel: KernelEntry, arrays: Sequence[np.ndarray[Any, Any] | View | Any]
) -> None:
    """Check that arguments that share no memory do not; raises LaunchError naming those that do."""
    for number, argument in enumerate(kernel.arguments):
        for other in argument.promised.disjoint if isinstance(argument, MemRef) else ():
            if overlap(_extent(arrays[number]), _extent(arrays[other])):
                raise LaunchError(
                    f"arguments {number} and {other} overlap; the kernel was compiled "
                    f"assuming that argument {number} does not overlap others (llvm.noalias)"
                )


def _extent(array: np.ndarray[Any, Any] | View) -> Extent:
    """The memory of an array."""
    if isinstance(array, np.ndarray):
        return extent(array)
    itemsize = array.dtype.itemsize if array.dtype is not None else 1  # numpy lacks narrow floats
    strides = tuple(stride * itemsize for stride in array.strides)
    return Extent(array.pointer, array.shape, strides, itemsize)


def _holds(type_: str, given: np.dtype[Any]) -> bool:
    """Whether an array has elements of an MLIR type; integers hold what their bits are."""
    if type_ in ("f16", "bf16", "f32", "f64"):
        return given == numpy_type(element_type(type_))
    bits = re.search(r"\d+", type_)
    return bits is None or int(bits[0]) == 8 * given.itemsize
