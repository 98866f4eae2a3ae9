"""`tile.dot` and its sparse and block-scaled kin: as many instructions as a CTA's tiles need.

Tiles without layouts (level 1) may leave out `form`, which `tile-select-mma` then chooses;
`unsigned_a` and `unsigned_b` say which integer operands have no sign, and `warps`, two integers,
pins how many warps share the rows and the columns of C. A form says itself which of its integers
have a sign; where one of the two flags stands beside it, both operands must be as it says.

With layouts, each is a repetition of the form's fragment over registers and warps; the warps must
hold the rows of A and the columns of B that their part of C needs, and all of K.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import LayoutRule
from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Mma, Product, TilecError
from tilec.layout.operands import INDICES

from ..dots import DOTS, Tile, check_element, check_layouts, extents
from ..signs import FLAGS, check_signs
from ..tiles import TileValue
from .base import TileOp, any_tile_of, form_of, tensor_of, without_layouts

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct

PRODUCT = OF_A_WARP.but(layouts=LayoutRule.PRODUCT)
"""Of a product of tiles: each warp executes the instructions of its part."""


class UnscaledDot(TileOp):
    """What dense and sparse products of tiles, without scale factors, have in common."""

    UNITS = frozenset(FLAGS.values())
    OPTIONAL = frozenset({"form", "warps"})
    SEMANTICS = PRODUCT

    if TYPE_CHECKING:  # fields of each

        @property
        def a(self) -> ir.Value: ...  # noqa: D102
        @property
        def b(self) -> ir.Value: ...  # noqa: D102
        @property
        def c(self) -> ir.Value: ...  # noqa: D102
        @property
        def d(self) -> ir.Value: ...  # noqa: D102

    def check(self) -> None:
        """Verify form, shapes, element types, and that the layouts fit each other."""
        _check(self)


class DotOp(UnscaledDot, name="dot"):
    """`d = a · b + c` on a CTA's tiles, by instructions of one dense `mma` form."""

    assembly_format = (
        "$a `,` $b `,` $c "
        "(`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)? "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    d: ext.Result[Any]


class DotSpOp(UnscaledDot, name="dot_sp"):
    """`tile.dot` with a sparse A, by instructions of one `mma.sp` form, or of `wgmma`.

    `a` is the half of A that is stored, MxK/2; `e` its metadata, a 4-bit code for each chunk of a
    row, i4, in the order of `.sp::ordered_metadata`: `tilec.runtime.sparse` makes both.
    """

    assembly_format = (
        "$a `,` $b `,` $c `,` $e "
        "(`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)? "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) `,` type($e) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    e: ext.Operand[Any]
    d: ext.Result[Any]


class DotScaledOp(TileOp, name="dot_scaled"):
    """`d = (a · sfa) · (b · sfb) + c`, by instructions of one block-scaled form.

    `sfa` has a scale factor for each row of A and block of 32 or 16 along K, `sfb` one for each
    block and column of B.
    """

    assembly_format = (
        "$a `,` $b `,` $c `,` $sfa `,` $sfb "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) `,` type($sfa) `,` "
        "type($sfb) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    OPTIONAL = frozenset({"form", "warps"})
    SEMANTICS = PRODUCT

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shapes, element types, and that the layouts fit each other."""
        _check(self)


class DotSpScaledOp(TileOp, name="dot_sp_scaled"):
    """`tile.dot_scaled` with a sparse A, stored as that of `tile.dot_sp`."""

    assembly_format = (
        "$a `,` $b `,` $c `,` $e `,` $sfa `,` $sfb "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) `,` type($e) `,` type($sfa) `,` "
        "type($sfb) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    OPTIONAL = frozenset({"form", "warps"})
    SEMANTICS = PRODUCT

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    e: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shapes, element types, and that the layouts fit each other."""
        _check(self)


WARPGROUP_FAMILIES: Mapping[str, Family] = MappingProxyType(
    {DotOp.OPERATION_NAME: Family.WGMMA, DotSpOp.OPERATION_NAME: Family.WGMMA_SP}
)
"""The instructions by which warpgroups compute products of tiles, by the op's name."""


_TENSOR = "tcgen05.mma."
"""How the keys of instructions begin whose accumulators lie in tensor memory."""
_OF_TENSOR: Mapping[str, bool] = MappingProxyType(
    {DotOp.OPERATION_NAME: False, DotScaledOp.OPERATION_NAME: True}
)
"""The products that such instructions compute, by the op's name: whether they take factors."""


def dot_values(op: Op) -> dict[str, Value]:
    """The operands of a product of tiles, and its result `d`, by name."""
    names = (*DOTS[op.operation.name].operands, "d")
    return dict(zip(names, (*op.operation.operands, *op.results), strict=True))


def is_of_warpgroups(op: Op) -> bool:
    """Whether a `tile.dot` or `tile.dot_sp` says that warpgroups multiply, by `wgmma`."""
    found = op.attributes.get("form")
    named = isinstance(found, ir.StringAttr) and found.value.startswith(str(Family.WGMMA))
    return named and op.operation.name in WARPGROUP_FAMILIES


def is_of_tensor_memory(op: Op) -> bool:
    """Whether a product of tiles says that tensor memory holds its sums, by `tcgen05.mma`."""
    found = op.attributes.get("form")
    named = isinstance(found, ir.StringAttr) and found.value.startswith(_TENSOR)
    return named and op.operation.name in _OF_TENSOR


def reads_shared(op: Op) -> bool:
    """Whether a product of tiles names an instruction that reads B from shared memory itself."""
    return is_of_warpgroups(op) or is_of_tensor_memory(op)


def tensor_dot(op: Op) -> "DescribedProduct":
    """The product of each `tcgen05.mma` of which a product of tiles that names one is made.

    Raises:
        TilecError: if there is none of its tiles, saying why.
    """
    from ..tensor_dots import described_dot, dot_types  # noqa: PLC0415 (for Blackwell only)
    from .tcgen05 import tensor_product  # noqa: PLC0415

    tiles = {name: any_tile_of(value, name) for name, value in dot_values(op).items()}
    scaled = _OF_TENSOR[op.operation.name]
    key = tensor_product(ir.StringAttr(op.attributes["form"]).value, scaled=scaled)
    unsigned = tuple(name for name, flag in FLAGS.items() if flag in op.attributes)
    rows, cols = tiles["d"].shape
    found = described_dot(key, dot_types(key, tiles, unsigned), (rows, cols))
    if scaled:
        for name in ("sfa", "sfb"):
            check_element(found, name, tiles[name])
    return found


def dot_form(op: Op) -> Mma:
    """The form of a product of tiles that has one.

    Raises:
        TilecError: if it has none, or none that it takes.
    """
    attribute = op.attributes.get("form")
    if not isinstance(attribute, ir.StringAttr):
        raise TilecError("takes an attribute form, the instruction's mnemonic, or no layouts")
    found = form_of(attribute.value, DOTS[op.operation.name].family)
    assert isinstance(found, Mma)
    if found.products != 1:
        raise TilecError(f"takes a form that computes one product per warp; {found.ptx} has four")
    return found


def _check(op: TileOp) -> None:
    plain = without_layouts(op)
    find = any_tile_of if plain else tensor_of
    tiles: dict[str, Tile] = {
        name: find(value, "result" if name == "d" else f"operand {name}")
        for name, value in dot_values(op).items()
    }
    _check_grid(op)
    unsigned = [name for name, flag in FLAGS.items() if flag in op.attributes]
    if plain and "form" not in op.attributes:
        _check_shapes(tiles)
        _check_integers(tiles, unsigned)
        return
    _check_shapes(tiles)
    if plain and is_of_warpgroups(op):
        family = WARPGROUP_FAMILIES[op.operation.name]
        found = form_of(ir.StringAttr(op.attributes["form"]).value, family)
        assert isinstance(found, Product)
        _check_form(found, tiles, unsigned)
        return
    if plain and is_of_tensor_memory(op):
        extents(tensor_dot(op), tiles)
        return
    form = dot_form(op)
    _check_form(form, tiles, unsigned)
    if not plain:
        check_layouts(form, {n: t for n, t in tiles.items() if isinstance(t, TileValue)})


def _check_form(form: Product, tiles: dict[str, Tile], unsigned: list[str]) -> None:
    """Check that a form takes tiles, whatever their layouts are."""
    for name, tile in tiles.items():
        check_element(form, name, tile)
    if unsigned:
        check_signs(form, unsigned)
    extents(form, tiles)


def _check_integers(tiles: dict[str, Tile], unsigned: list[str]) -> None:
    """Check that operands that are said to have no sign are integers."""
    for name in unsigned:
        element = tiles[name].element
        if not isinstance(element, ir.IntegerType):
            raise TilecError(f"{FLAGS[name]} applies to integers; {name} has elements of {element}")


def _check_shapes(tiles: dict[str, Tile]) -> None:
    """Check M and N, and K of a dense product, of which no form need be known."""
    known: dict[str, int] = {}
    for name, tile in tiles.items():
        fits = len(tile.shape) == 2
        for index, extent in zip(INDICES[name], tile.shape, strict=False):
            if index != "k" or len(tiles) == len("abcd"):
                fits = fits and known.setdefault(index, extent) == extent
        if not fits:
            each = ", ".join(
                f"{n.upper() if len(n) == 1 else n} {'x'.join(str(x) for x in t.shape)}"
                for n, t in tiles.items()
            )
            raise TilecError(
                f"shapes do not match: {each}; with A MxK, B is KxN, C and D are MxN"
                + ", e and sfa have M rows, sfb has N columns" * (len(tiles) > len("abcd"))
            )


def _check_grid(op: TileOp) -> None:
    if "warps" not in op.attributes:
        return
    warps = op.attributes["warps"]
    if (
        not isinstance(warps, ir.DenseI64ArrayAttr)
        or len(warps) != 2
        or any(n < 1 or n & (n - 1) for n in warps)
    ):
        raise TilecError(f"warps must be array<i64: M, N>, two powers of two, not {warps}")
