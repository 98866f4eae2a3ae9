"""Facts about a kernel and its module that several passes need."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from tilec.dialects.tile.attributes import AUTOMATIC
from tilec.ir.mlir import ir
from tilec.isa import LANES, Target, TilecError, target


def gpu_modules(module: Any) -> Iterator[Any]:
    """The `gpu.module` ops of a module."""
    for op in module.body.operations:
        if op.operation.name == "gpu.module":
            yield op


def functions(gpu_module: Any) -> Iterator[Any]:
    """The `gpu.func` ops of a `gpu.module` that have a body."""
    for op in gpu_module.regions[0].blocks[0].operations:
        if op.operation.name == "gpu.func":
            yield op


def is_kernel(function: Any) -> bool:
    """Whether a function is a kernel, be it written in text, built, or lowered."""
    attributes = function.operation.attributes
    return any(name in attributes for name in ("kernel", "gpu.kernel", "nvvm.kernel"))


def target_of(gpu_module: Any) -> Target | None:
    """The target that the module's `#nvvm.target` names, or None where it has none.

    Raises:
        TilecError: for a chip that is no target.
    """
    attributes = gpu_module.operation.attributes
    if "targets" not in attributes:
        return None
    for attribute in ir.ArrayAttr(attributes["targets"]):
        text = str(attribute)
        if text.startswith("#nvvm.target"):
            _, _, rest = text.partition('chip = "')
            return target(rest.partition('"')[0] or "sm_75")
    return None


def known_target(gpu_module: Any) -> Target:
    """The target that the module names.

    Raises:
        TilecError: if it names none, or a chip that is no target.
    """
    found = target_of(gpu_module)
    if found is None:
        raise TilecError(
            'names no target; give it [#nvvm.target<chip = "sm_80">] or compile with --target'
        )
    return found


def is_automatic(function: Any) -> bool:
    """Whether staging, pipelines and epilogues of a kernel are for the passes to choose."""
    return AUTOMATIC in function.operation.attributes


def block_size(function: Any) -> tuple[int, int, int] | None:
    """The attribute `known_block_size` of a kernel, or None."""
    attributes = function.operation.attributes
    if "known_block_size" not in attributes:
        return None
    x, y, z = ir.DenseI32ArrayAttr(attributes["known_block_size"])
    return x, y, z


def threads(function: Any) -> int:
    """Threads of a CTA.

    Raises:
        TilecError: if the kernel does not say, or they are no whole warps.
    """
    size = block_size(function)
    if size is None:
        raise TilecError("needs the kernel's attribute known_block_size = array<i32: X, Y, Z>")
    count = prod(size)
    if count % LANES:
        raise TilecError(f"a block of {count} threads is no whole number of warps")
    return count


def warps(function: Any) -> int:
    """Warps of a CTA that share tiles.

    Raises:
        TilecError: if the kernel does not say, or they are no power of two.
    """
    count = threads(function) // LANES
    if count & (count - 1):
        below = 1 << count.bit_length() - 1
        raise TilecError(
            f"{count} warps cannot share a tile evenly; let known_block_size be of "
            f"{below * LANES} or {2 * below * LANES} threads"
        )
    return count
