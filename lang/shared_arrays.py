"""Arrays in shared memory, which the threads of one CTA have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from tilec.ir import mlir
from tilec.isa import TilecError

from .array import AnyArray, Array, Facts
from .dtypes import dtype_of, float32, per_byte, stored
from .emit import operation
from .tile import NO_KERNEL, reading


class _Kernel(NamedTuple):
    """The kernel that is being built: its first block, and the arrays that it has made."""

    entry: Any
    arrays: list[AnyArray]


_kernel: ContextVar[_Kernel | None] = ContextVar("kernel", default=None)


@contextmanager
def noted(entry: Any) -> Iterator[list[AnyArray]]:
    """The arrays that a kernel makes while it is built.

    Args:
        entry: its first block.
    """
    kernel = _Kernel(entry, [])
    token = _kernel.set(kernel)
    try:
        yield kernel.arrays
    finally:
        _kernel.reset(token)


def shared_array(shape: int | Sequence[int], dtype: Any = float32) -> AnyArray:
    """An array in the CTA's shared memory, which `load`, `store` and the atomics take.

    Each CTA has one of its own, for as long as it runs: in a loop it is the same in each round.
    What it holds before the first store is undefined. Loads and stores take effect in program
    order, as of arrays in global memory.

    Args:
        shape: extents, any numbers known when the kernel is compiled.
        dtype: element type, of 8 bits or more.

    Raises:
        TilecError: for extents that are not known, less than 1 or beyond 2^31, elements that have
            no address, or outside of a kernel. More shared memory than the target has is an error
            of the passes, at this place.
    """
    found: tuple[Any, ...] = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    for extent in found:
        is_number = isinstance(extent, int) and not isinstance(extent, bool)
        if not is_number or not 1 <= extent < 1 << 31:
            raise TilecError(
                f"extents of a shared array are numbers of 1 or more, below 2^31, known when the "
                f"kernel is compiled; {extent!r} in {found} is not"
            )
    if not found:
        raise TilecError("a shared array needs at least one dimension; write 1 instead of ()")
    element = dtype_of(dtype)
    if per_byte(element) > 1:
        raise TilecError(
            f"elements of {element!r} share a byte: make the array of tl.uint8, whose elements "
            "are pairs of them"
        )
    kernel = _kernel.get()
    if kernel is None:
        raise TilecError(NO_KERNEL)
    if reading.get() is not None:
        from .stepping import stepper  # noqa: PLC0415 (of use in stepped kernels only)

        steps = stepper()
        assert steps is not None
        steps.check_first("tl.shared_array")
    space = mlir.ir.Attribute.parse("#gpu.address_space<workgroup>")
    held = mlir.ir.Type.parse(stored(element))
    with mlir.ir.InsertionPoint.at_block_begin(kernel.entry):
        memref = mlir.ir.MemRefType.get(list(found), held, memory_space=space)
        value = operation("tile.alloc_shared", (), [memref]).result
    array: AnyArray = Array(f"shared_{len(kernel.arrays)}", value, element, found, Facts())
    kernel.arrays.append(array)
    return array
