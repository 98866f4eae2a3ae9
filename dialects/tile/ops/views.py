"""`tile.expand`, `tile.broadcast`, `tile.transpose`, `tile.reshape`: other views of a tile.

Where tiles have layouts, each lane of the result holds what it holds of the source, under other
names of its registers; no view moves an element between lanes.
"""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import LayoutRule
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.extents import check_reshape
from tilec.layout.views import collapse, drop_dim, expand, register_map, repeat, reshape, transpose

from ..tiles import PlainTile, TileValue
from .base import RelatedOp, TileOp, any_tile_of, without_layouts

RELATED = PURE.but(layouts=LayoutRule.RELATED, cost=0)
"""Of a view: registers get other names."""


class ViewOp(RelatedOp):
    """What the views have in common. A subclass says shape and layout of its result."""

    SEMANTICS = RELATED

    SPREADS = False
    """Whether the result has the source's elements in their order, each once or repeated."""

    if TYPE_CHECKING:  # a field of each

        @property
        def source(self) -> ir.Value: ...  # noqa: D102

    def shape(self, source: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that the result must have.

        Raises:
            TilecError: if there is none.
        """
        raise NotImplementedError

    def seen(self, source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
        """Both layouts as those of one tile."""
        raise NotImplementedError

    def check(self) -> None:
        """Verify the result's shape, element type and layout."""
        source = any_tile_of(self.operands[0], "source")
        result = any_tile_of(self.results[0], "result")
        check_alike(self, source, result, self.shape(source.shape, result.shape))
        if isinstance(source, TileValue) and isinstance(result, TileValue):
            check_lanes(*self.seen(source.layout, result.layout))

    def agree(self, source: LinearLayout, result: LinearLayout) -> bool:
        """Whether each lane holds of the result what it holds of the source."""
        return register_map(*self.seen(source, result)) is not None

    def renaming(self, source: TileValue, result: TileValue) -> LinearLayout:
        """Register of the result -> register of the source, both in elements."""
        found = register_map(*self.seen(source.layout, result.layout))
        assert found is not None  # verified
        return found


def check_alike(
    op: TileOp, source: PlainTile | TileValue, result: PlainTile | TileValue, shape: Sequence[int]
) -> None:
    """Check that `result` has this shape and else is like `source`: element, level, warps.

    Raises:
        TilecError: saying what it should be.
    """
    if result.shape != tuple(shape) or str(result.element) != str(source.element):
        raise TilecError(
            f"the result is a tile of {_written(shape)}x{source.element}, "
            f"not of {_written(result.shape)}x{result.element}"
        )
    if without_layouts(op):
        return
    assert isinstance(source, TileValue)
    assert isinstance(result, TileValue)
    if source.is_fragment != result.is_fragment:
        raise TilecError("takes a fragment to a fragment, or a tensor to a tensor")
    if source.warps != result.warps:
        raise TilecError(
            f"the layouts are of {source.warps} and {result.warps} warps; all of a CTA's layouts "
            "have the same number"
        )


def check_lanes(source: LinearLayout, result: LinearLayout) -> None:
    """Check that each lane holds of the result what it holds of the source.

    Raises:
        TilecError: naming the layout that the result might have.
    """
    if register_map(source, result) is None:
        raise TilecError(
            f"moves elements between lanes: the source gives the layout '{source}', in any order "
            f"of registers, not '{result}'; convert the layout before or after"
        )


def axis_of(attribute: ir.IntegerAttr, rank: int) -> int:
    """The attribute `axis`, a dimension out of `rank`.

    Raises:
        TilecError: if it is none.
    """
    axis = attribute.value
    if not 0 <= axis < rank:
        raise TilecError(f"axis must be 0 to {rank - 1}, not {axis}")
    return axis


class ExpandOp(ViewOp, name="expand"):
    """A tile with a dimension of extent 1 inserted at `axis`, a dimension of the result."""

    assembly_format = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)"

    SPREADS = True

    source: ext.Operand[Any]
    axis: ir.IntegerAttr
    result: ext.Result[Any]

    def shape(self, source: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
        """The source's, and the 1."""
        del result
        axis = axis_of(self.axis, len(source) + 1)
        return (*source[:axis], 1, *source[axis:])

    def seen(self, source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
        """The source's expanded."""
        return expand(source, int(self.axis.value)), result

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's, and the 1."""
        del shape
        return expand(source, int(self.axis.value))

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The result's without the 1."""
        del shape
        return drop_dim(result, int(self.axis.value))


class BroadcastOp(ViewOp, name="broadcast"):
    """A tile repeated along dimensions of extent 1, which take the extents of the result."""

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    DECIDES_RESULT = False
    SPREADS = True

    source: ext.Operand[Any]
    result: ext.Result[Any]

    def shape(self, source: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
        """The result's where the source has 1, else the source's."""
        if len(source) != len(result):
            raise TilecError(
                f"repeats a tile of rank {len(source)} as one of that rank, not {len(result)}; "
                "tile.expand puts in dimensions"
            )
        return tuple(many if one == 1 else one for one, many in zip(source, result, strict=True))

    def seen(self, source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
        """The result's with what is repeated taken as one."""
        extents = source.out_sizes.values()
        return source, collapse(result, [at for at, extent in enumerate(extents) if extent == 1])

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's, the repeats spread over what held copies, then over registers."""
        return repeat(source, shape)

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The result's with one element of what is repeated."""
        for axis, (one, many) in enumerate(zip(shape, result.out_sizes.values(), strict=True)):
            if one != many:
                result = expand(drop_dim(result, axis), axis)
        return result


class TransposeOp(ViewOp, name="transpose"):
    """A tile whose dimension i is dimension `permutation[i]` of the source."""

    assembly_format = "$source list($permutation) attr-dict `:` type($source) `->` type($result)"

    source: ext.Operand[Any]
    permutation: Any
    result: ext.Result[Any]

    def shape(self, source: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
        """The source's, permuted."""
        del result
        if not isinstance(self.permutation, ir.DenseI64ArrayAttr) or sorted(
            self.permutation
        ) != list(range(len(source))):
            raise TilecError(
                f"permutation must be array<i64: …> with each of 0 to {len(source) - 1} once, "
                f"not {self.permutation}"
            )
        return tuple(source[at] for at in self.permutation)

    def seen(self, source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
        """The source's, permuted."""
        return transpose(source, tuple(self.permutation)), result

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's, permuted."""
        del shape
        return transpose(source, tuple(self.permutation))

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The result's, permuted back."""
        order = list(self.permutation)
        return transpose(result, tuple(order.index(at) for at in range(len(shape))))


class ReshapeOp(ViewOp, name="reshape"):
    """The same elements in row-major order, under another shape."""

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    source: ext.Operand[Any]
    result: ext.Result[Any]

    def shape(self, source: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
        """Any of as many elements."""
        if prod(source) != prod(result):
            raise TilecError(
                f"a tile of {_written(source)} has {counted(prod(source), 'element')}, one of "
                f"{_written(result)} has {prod(result)}"
            )
        check_reshape(source, result)
        return result

    def seen(self, source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
        """The source's, reshaped."""
        return reshape(source, tuple(result.out_sizes.values())), result

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's, reshaped."""
        return reshape(source, shape)

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The result's, reshaped."""
        return reshape(result, shape)


def _written(shape: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in shape)
