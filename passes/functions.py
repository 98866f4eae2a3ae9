"""Facts about a kernel and its module that several passes need."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tilec.dialects.tile.attributes import AUTOMATIC
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import gpu, ir
from tilec.ir.state import per_context
from tilec.isa import LANES, Target, TilecError, target
from tilec.isa.wording import counted


def gpu_modules(module: ir.Module) -> Iterator[gpu.GPUModuleOp]:
    """The `gpu.module` ops of a module."""
    for op in module.body.operations:
        if isinstance(op, gpu.GPUModuleOp):
            yield op


def functions(gpu_module: Op) -> Iterator[gpu.GPUFuncOp]:
    """The `gpu.func` ops of a `gpu.module` that have a body."""
    for op in gpu_module.regions[0].blocks[0].operations:
        if isinstance(op, gpu.GPUFuncOp):
            yield op


def is_kernel(function: Op) -> bool:
    """Whether a function is a kernel, be it written in text, built, or lowered."""
    attributes = function.attributes
    return any(name in attributes for name in ("kernel", "gpu.kernel", "nvvm.kernel"))


_UNWRITTEN_CHIP = "sm_75"
"""The chip of an `#nvvm.target` that says none: MLIR's own default, which it does not print."""


def target_of(gpu_module: Op) -> Target | None:
    """The target that the module's `#nvvm.target` names, or None where it has none.

    Raises:
        TilecError: for a chip that is not a target.
    """
    if "targets" not in gpu_module.attributes:
        return None
    return _target_in(attribute(gpu_module, "targets", ir.ArrayAttr))


@per_context()
def _target_in(targets: ir.ArrayAttr) -> Target | None:
    """The first of NVIDIA's targets."""
    for one in targets:
        text = str(one)  # the bindings have no accessors of this attribute
        if text.startswith("#nvvm.target"):
            _, _, rest = text.partition('chip = "')
            return target(rest.partition('"')[0] or _UNWRITTEN_CHIP)
    return None


def known_target(gpu_module: Op) -> Target:
    """The target that the module names.

    Raises:
        TilecError: if it names none, or a chip that is not a target.
    """
    found = target_of(gpu_module)
    if found is None:
        raise TilecError(
            'names no target; give it [#nvvm.target<chip = "sm_80">] or compile with --target'
        )
    return found


def is_automatic(function: Op) -> bool:
    """Whether staging, pipelines and epilogues of a kernel are for the passes to choose."""
    return AUTOMATIC in function.attributes


def block_size(function: Op) -> tuple[int, int, int] | None:
    """The attribute `known_block_size` of a kernel, or None."""
    if "known_block_size" not in function.attributes:
        return None
    x, y, z = attribute(function, "known_block_size", ir.DenseI32ArrayAttr)
    return x, y, z


def function_around(op: Op) -> ir.Operation | None:
    """The `gpu.func` that an op stands in; None if it stands in none."""
    parent = op.operation.parent
    while parent is not None and parent.name != "gpu.func":
        parent = parent.operation.parent
    return None if parent is None else parent.operation


def name_of(op: Op) -> str:
    """The name of the `gpu.func` that an op is, or stands in; empty where there is none."""
    function = op.operation if op.operation.name == "gpu.func" else function_around(op)
    return "" if function is None else attribute(function, "sym_name", ir.StringAttr).value


def take_positive(op: Op, name: str) -> int | None:
    """The positive integer that an attribute is, which is taken off the op; None without one.

    Raises:
        TilecError: if it is none; then it stays.
    """
    given = op.attributes.get(name)
    if given is None:
        return None
    if not isinstance(given, ir.IntegerAttr) or given.value < 1:
        raise TilecError(f"{name} must be a positive integer, not {given}")
    del op.attributes[name]
    return given.value


def threads(function: Op) -> int:
    """Threads of a CTA.

    Raises:
        TilecError: if the kernel does not say, or they are not whole warps.
    """
    size = block_size(function)
    if size is None:
        raise TilecError("needs the kernel's attribute known_block_size = array<i32: X, Y, Z>")
    count = prod(size)
    if count % LANES:
        raise TilecError(f"a block of {counted(count, 'thread')} is not a whole number of warps")
    return count


def warps(function: Op) -> int:
    """Warps of a CTA that share tiles.

    Raises:
        TilecError: if the kernel does not say, or they are not a power of two.
    """
    count = threads(function) // LANES
    if count & (count - 1):
        below = 1 << count.bit_length() - 1
        raise TilecError(
            f"{count} warps cannot share a tile evenly; let known_block_size be of "
            f"{below * LANES} or {2 * below * LANES} threads"
        )
    return count
