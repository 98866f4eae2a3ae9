"""`tile-select-wgmma`: products of tiles that warpgroups compute, on sm_90a."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tilec.dialects.tile.ops.dots import UnscaledDot, is_of_warpgroups
from tilec.ir.mlir import ir

from .functions import known_target
from .hopper.wgmma_choice import WgmmaChoice, chooser, dots_of
from .kernel_pass import Kernel, KernelPass
from .layouts.tile_classes import has_plain_tiles
from .layouts.transposed_loads import fold_transposes
from .staging.described_products import ProductSelection


class Instruction(StrEnum):
    """What multiplies tiles."""

    WGMMA = "wgmma"
    MMA = "mma.sync"


@dataclass(frozen=True)
class SelectWgmma(KernelPass):
    """Choose products of tiles without layouts that warpgroups can compute.

    In: level 1. Out: the same; each `tile.dot` or `tile.dot_sp` that warpgroups will compute has
    a `form` of `wgmma.mma_async`, which says whether A comes from shared memory or from
    registers, and `warps`. tile-stage-wgmma follows them. This requires a loaded B, and suitable
    extents, types and warps; a computed A comes from registers. Other products are left to
    tile-select-mma, with a remark that says why. A product that names a form keeps it.

    Attributes:
        instruction: `mma.sync` leaves all products that name no form to tile-select-mma.
    """

    name: ClassVar[str] = "tile-select-wgmma"

    instruction: Instruction = Instruction.WGMMA

    def run(self, kernel: Kernel) -> None:
        """Choose for a kernel."""
        if not kernel.is_entry or not has_plain_tiles(kernel.function):
            return
        dots = kernel.named(UnscaledDot)
        if self.instruction is Instruction.MMA:
            dots = [dot for dot in dots if is_of_warpgroups(dot)]
        if not dots:
            return
        with kernel.at(kernel.module):
            target = known_target(kernel.module)
            with kernel.at(kernel.function):
                fold_transposes(kernel.function)
                choose = chooser(kernel, target)
                selection = ProductSelection(kernel, choose, _reason)
                selection.run(dots_of(list(dots)), "warpgroups", is_of_warpgroups)


def _reason(dot: UnscaledDot, chosen: WgmmaChoice) -> str:
    rows, cols = ir.RankedTensorType(dot.results[0].type).shape
    depth = ir.RankedTensorType(dot.operands[1].type).shape[0]
    m, n = chosen.warps
    shape = chosen.form.operand("d").rows, chosen.form.operand("d").cols
    blocks = rows // (m // 4) // shape[0] * (cols // n // shape[1])
    steps = depth // chosen.form.operand("b").rows
    where = "and B are in shared memory" if "a" in chosen.buffers else "comes from registers"
    return (
        f"becomes {blocks * steps} {chosen.form.mnemonic()} for each of {m // 4}x{n} warpgroups; "
        f"A {where}"
    )
