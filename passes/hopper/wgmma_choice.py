"""Whether warpgroups can compute a product of tiles, by which `wgmma`, and from where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from tilec.dialects.semantics import Spread
from tilec.dialects.tile.attributes import DIRECT, LAYOUT
from tilec.dialects.tile.dots import extents
from tilec.dialects.tile.ops import DotSpOp, LoadOp
from tilec.dialects.tile.ops.dots import UnscaledDot, dot_values, is_of_warpgroups
from tilec.dialects.tile.signs import FLAGS
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tiles import PlainTile, bits_of
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.types import element_of
from tilec.isa import LANES, WARPGROUP_WARPS, Form, Target, TilecError
from tilec.isa.table import current
from tilec.isa.types import ELEMENT_TYPES
from tilec.isa.wgmma import COLUMNS, M, plain_key
from tilec.isa.wording import counted
from tilec.layout.extents import unit_extents
from tilec.layout.operands import operand_layout

from ..analysis.costs import BESIDES
from ..analysis.effects import is_shared
from ..analysis.uniformity import Uniformity, control_of
from ..kernel_pass import Kernel
from ..layouts.tile_classes import plain
from ..search import defining_op
from .operand_buffers import OperandBuffer, operand_buffer


class WgmmaChoice(NamedTuple):
    """How warpgroups compute a product.

    Attributes:
        form: the instruction, which says where A lies.
        warps: warps along M and along N.
        buffers: of each operand in shared memory the load that fills it, and how it lies there.
    """

    form: Form
    warps: tuple[int, int]
    buffers: dict[str, tuple[LoadOp, OperandBuffer]]

    @property
    def instruction(self) -> str:
        """The instruction's key."""
        return self.form.ptx


def chooser(kernel: Kernel, target: Target) -> Callable[[UnscaledDot], WgmmaChoice]:
    """How the products of a kernel are computed, as `choose` says."""
    uniformity = Uniformity(kernel.function)
    return lambda dot: choose(dot, kernel.warps, target, uniformity)


def choose(dot: UnscaledDot, warps: int, target: Target, uniformity: Uniformity) -> WgmmaChoice:
    """The `wgmma` for a product of tiles without layouts.

    Args:
        dot: the product; a `form` that it has stays, and so do its `warps`.
        warps: of the CTA.
        target: what has the instructions.
        uniformity: of the kernel.

    Raises:
        TilecError: if there is none, saying why.
    """
    tiles = {name: tile_of(value) for name, value in dot_values(dot).items()}
    if warps % WARPGROUP_WARPS:
        raise TilecError(f"the kernel has {counted(warps, 'warp')}, not whole warpgroups")
    if control_of(uniformity, dot, Spread.CTA) is not None:
        raise TilecError("not all threads of the CTA reach it")
    grid = _grid(dot, tiles["d"], warps)
    buffers = {}
    for name, value in zip("ab", list(dot.operands)[:2], strict=True):
        try:
            buffers[name] = loaded_operand(name, value, uniformity)
        except TilecError as error:
            if name == "b":
                raise TilecError(f"B {error}") from None
    kind = "descriptor" if "a" in buffers else "registers"
    form = _form(dot, tiles, grid, kind, buffers["b"][1], target)
    _check_registers(form, tiles["d"], warps, target)
    return WgmmaChoice(form, grid, buffers)


def tile_of(value: Value) -> PlainTile:
    """A tile without a layout."""
    found = plain(value)
    assert found is not None
    return found


def _grid(dot: UnscaledDot, tile: PlainTile, warps: int) -> tuple[int, int]:
    """Warps along M and N: as many along M as find 64 rows each, so that instructions are wide."""
    rows, cols = unit_extents(tile.shape)  # each warpgroup has a part of each unit
    if "warps" in dot.attributes:
        along_m, along_n = attribute(dot, "warps", ir.DenseI64ArrayAttr)
        if along_m % WARPGROUP_WARPS or along_m * along_n != warps:
            raise TilecError(f"warps are pinned to {along_m}x{along_n}")
    else:
        along_m = min(warps, rows // M * WARPGROUP_WARPS) or warps
        along_n = warps // along_m
    if rows % (M * along_m // WARPGROUP_WARPS):
        raise TilecError(
            f"{tile.shape[0]} rows are not a multiple of {M} for each of {counted(along_m, 'warp')}"
        )
    if cols < COLUMNS[0] * along_n:
        raise TilecError(
            f"{tile.shape[1]} columns are not a multiple of {COLUMNS[0]} for each of "
            f"{counted(along_n, 'warp')} "
            "along N"
        )
    return along_m, along_n


def _form(
    dot: UnscaledDot,
    tiles: dict[str, PlainTile],
    grid: tuple[int, int],
    kind: str,
    buffer: OperandBuffer,
    target: Target,
) -> Form:
    """The widest instruction; the one that the product names, if it names one of `wgmma`."""
    if is_of_warpgroups(dot):
        found = current().forms[attribute(dot, "form", ir.StringAttr).value]
        if found.ptx.rpartition("::")[2] != kind:
            raise TilecError(f"A lies in {kind}, and its form is {found.ptx}")
        return found
    unsigned = [FLAGS[name] in dot.attributes for name in "ab"]
    names = [
        _name(str(tile.element), is_unsigned)
        for tile, is_unsigned in zip((tiles[n] for n in "dab"), (False, *unsigned), strict=True)
    ]
    d, a, b = names
    known = current().forms
    width = tiles["d"].shape[1] if grid[1] == 1 else unit_extents(tiles["d"].shape)[1] // grid[1]
    widths = [n for n in reversed(COLUMNS) if not width % n and _in_panels(n, buffer)]
    sparse = isinstance(dot, DotSpOp)
    keys = [plain_key(d, a, b, n, kind, sparse=sparse) for n in widths] if all(names) else []
    form = next((known[k] for k in keys if k in known and known[k].min_ptx(target)), None)
    if form is None:
        types = " by ".join(str(tiles[name].element) for name in "ab")
        raise TilecError(
            f"no wgmma of {target} multiplies {types}, giving {tiles['d'].element} in {width} "
            "columns"
        )
    depth, step = tiles["b"].shape[0], form.operand("b").rows
    if depth % step:
        raise TilecError(f"{depth} of K are not a multiple of the {step} of {form.ptx}")
    if sparse:
        _check_codes(form, tiles)
    return form


def _check_codes(form: Form, tiles: dict[str, PlainTile]) -> None:
    """Check that a sparse product's tiles fit, and that registers of its metadata are whole."""
    extents(form, tiles)
    codes, whole = tiles["e"].shape[1], operand_layout(form, "e").out_sizes["col"]
    if codes % whole:
        raise TilecError(f"{codes} codes of a row are not a multiple of the {whole} of a register")


def _in_panels(n: int, buffer: OperandBuffer) -> bool:
    """Whether B's columns, so many an instruction, are whole panels, or parts of one."""
    width = buffer.shape[-1]
    return not buffer.transposed or n % width == 0 or width % n == 0


@cache
def _name(mlir: str, unsigned: bool) -> str:
    """PTX's name of an element type; empty if no product has it."""
    letter = "u" if unsigned else "s"
    found = [
        one.name
        for one in ELEMENT_TYPES.values()
        if one.mlir == mlir and (one.is_float or one.name[0] == letter)
    ]
    return found[0] if found else ""


def _check_registers(form: Form, tile: PlainTile, warps: int, target: Target) -> None:
    rows, cols = tile.shape
    threads = warps * LANES
    held = rows * cols * bits_of(tile.element) // 32 // threads
    entry = target.registers_at_entry(threads)
    if held + BESIDES > entry:
        raise TilecError(
            f"its accumulator takes {counted(held, 'register')} of each of {threads} threads, "
            "which have "
            f"{entry}, for {form.ptx}"
        )


def loaded_operand(
    name: str, value: Value, uniformity: Uniformity, turning: tuple[int, ...] = (16,)
) -> tuple[LoadOp, OperandBuffer]:
    """The load of an operand that is read from shared memory, and how it lies there.

    Args:
        name: `a` or `b`.
        value: the operand, a tile without a layout.
        uniformity: of the kernel.
        turning: bits of elements that may be contiguous along M or N.

    Raises:
        TilecError: if it is none.
    """
    load = whole_load(value, uniformity)
    tile = tile_of(value)
    if str(element_of(load.memref.type)) not in stored_elements(tile.element):
        raise TilecError(f"lies in memory as {load.memref.type}")
    bits = bits_of(tile.element)
    return load, operand_buffer(name, tile.shape, bits, load.is_transposed, turning)


def whole_load(value: Value, uniformity: Uniformity) -> LoadOp:
    """The load of a tile from global memory that all threads of the CTA come to.

    Raises:
        TilecError: if it is none.
    """
    load = defining_op(value, LoadOp)
    if load is None or is_shared(load.memref):
        raise TilecError("is not loaded from global memory, but computed")
    if DIRECT in load.attributes or LAYOUT in load.attributes:
        raise TilecError("is pinned to registers by an attribute of its load")
    if control_of(uniformity, load, Spread.CTA) is not None:
        raise TilecError("is loaded where not all threads of the CTA arrive")
    return load


def dots_of(ops: Iterable[Op]) -> list[UnscaledDot]:
    """The products that may be warpgroups': those of level 1 that name no other instruction."""
    found = [op for op in ops if isinstance(op, UnscaledDot) and plain(op.d) is not None]
    return [dot for dot in found if "form" not in dot.attributes or is_of_warpgroups(dot)]
