"""The fragments that stand for each tile of one kernel."""

from __future__ import annotations

from tilec.dialects.tile.dialect import FragType
from tilec.dialects.tile.dots import DOTS, unit_of
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.dots import dot_form, dot_values
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.ops.tensor_dot import AccumulatorMoveOp, TensorDot
from tilec.dialects.tile.ops.warpgroup_dot import WarpgroupProduct
from tilec.dialects.tile.tiles import TileValue, frag_type, tile_value
from tilec.ir.aliases import Op, Type
from tilec.ir.mlir import ir
from tilec.isa import LANES, TilecError
from tilec.isa.lazy import cached_property
from tilec.isa.wording import counted
from tilec.layout import LinearLayout

from ..base import walk
from ..functions import threads
from .decomposition import Decomposition, decompose
from .matrix_moves import moved_at_once
from .warpgroup_fragments import warp_piece


class FragmentTypes:
    """Which fragments replace a tensor with a layout.

    Attributes:
        function: the kernel.
    """

    def __init__(self, function: Op) -> None:
        self.function = function
        self._types: dict[Type, list[Type]] = {}
        self._wholes: dict[Type, FragType] = {}

    @cached_property
    def _units(self) -> dict[LinearLayout, LinearLayout]:
        """The fragment that each layout repeats; asked for before any product is rewritten."""
        return _units(self.function)

    def tile(self, type_: Type) -> TileValue | None:
        """The tile that a type is, or None for what is not a tensor.

        Raises:
            TilecError: for a tensor without a layout, or with one of other warps than the kernel's,
                and for one of several units.
        """
        if not isinstance(type_, ir.RankedTensorType):
            return None
        tile = self._tile(type_)
        if tile.units > 1:
            raise TilecError(
                f"{type_} is of {counted(tile.units, 'unit')}: run tile-split-tiles first"
            )
        return tile

    def _tile(self, type_: Type) -> TileValue:
        tile = tile_value(type_)
        if tile is None:
            raise TilecError(f"{type_} has no #tile.layout: run tile-assign-layouts first")
        if tile.warps != self._warps:
            raise TilecError(
                f"the layout of {type_} is of {counted(tile.warps, 'warp')}, but the kernel has "
                f"{self._warps}"
            )
        return tile

    @cached_property
    def _warps(self) -> int:
        return threads(self.function) // LANES

    def parts(self, tile: TileValue) -> Decomposition:
        """How a tile is taken apart: into the fragments of a dot that has it, if one has."""
        return decompose(tile.layout, self._units.get(tile.layout))

    def of(self, type_: Type) -> list[Type] | None:
        """The types of the fragments of a tensor, or None for what is not a tensor.

        Raises:
            TilecError: as of `tile`.
        """
        if not isinstance(type_, ir.RankedTensorType):
            return None
        if type_ not in self._types:
            tile = self._tile(type_)
            parts = self.parts(tile)
            shape = tuple(parts.unit.out_sizes.values())
            each = frag_type(shape, tile.element, parts.unit)
            self._types[type_] = [each] * (parts.count * tile.units)
        return self._types[type_]

    def whole(self, type_: Type) -> FragType:
        """The type of all that a warp holds of a tensor, as one fragment.

        Raises:
            TilecError: as of `tile`.
        """
        if type_ not in self._wholes:
            tile = self._tile(type_)
            layout = tile.layout.restrict(ins=("register", "lane"))
            self._wholes[type_] = frag_type(tile.shape, tile.element, layout)
        return self._wholes[type_]


def _units(function: Op) -> dict[LinearLayout, LinearLayout]:
    """The fragment that each layout repeats, learnt from the function's dots.

    Where operands of different shapes have one layout, it is the smallest of their fragments,
    of which the others are made. A layout that no dot has, or none any more, repeats what the
    matrix instruction moves that an access names.
    """
    units: dict[LinearLayout, LinearLayout] = {}
    named: dict[LinearLayout, LinearLayout] = {}
    for op in walk(function):
        if not isinstance(op, TileOp):
            continue
        if isinstance(op, MemoryOp) and op.form is not None:
            tile = tile_value(op.tile.type)
            moved = moved_at_once(op.form, tile) if tile is not None else None
            if tile is not None and moved is not None:
                _learn(named, tile.layout, moved)
        if isinstance(op, TensorDot | AccumulatorMoveOp):
            tile = tile_value(op.held.type)
            if tile is not None:
                _learn(units, tile.layout, op.unit)
        elif isinstance(op, WarpgroupProduct):
            for name, value in (*op.tile_values().items(), ("d", op.d)):
                tile = tile_value(value.type)
                if tile is not None:
                    _learn(units, tile.layout, warp_piece(op.key, name))
        if op.operation.name in DOTS:
            form = dot_form(op)
            for name, value in dot_values(op).items():
                tile = tile_value(value.type)
                if tile is not None:
                    _learn(units, tile.layout, unit_of(form, name, tile.layout))
    return named | units


def _learn(
    units: dict[LinearLayout, LinearLayout], layout: LinearLayout, unit: LinearLayout
) -> None:
    known = units.setdefault(layout, unit)
    units[layout] = min(known, unit, key=lambda u: u.in_size("register"))
