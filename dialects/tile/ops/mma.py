"""`tile.mma`, one instruction, and `tile.dot`, as many as a CTA's tiles need."""

from typing import Any

from tilec.isa import Family, Mma, TilecError
from tilec.layout import LinearLayout, fragment
from tilec.mlir import ext, ir

from ..tiles import PlainTile, TileValue, element_name
from .base import TileOp, any_tile_of, check_operand, form_of, tensor_of, without_layouts


def dense_form(name: str) -> Mma:
    """The dense `mma` form called `name`; raises TilecError if there is none."""
    found = form_of(name, Family.MMA)
    assert isinstance(found, Mma)
    return found


def check_product(form: Mma, op: TileOp) -> None:
    """Check the operands and the result of an op that is one instruction of `form`."""
    names = [*(o.name for o in form.operands), *(o.name for o in form.results)]
    for name, value in zip(names, (*op.operands, *op.results), strict=True):
        check_operand(form, form.operand(name), value)


class MmaOp(TileOp, name="mma"):
    """`d = a · b + c` by one dense `mma` instruction.

    The operands are the instruction's fragments; `form` is its key in the instruction table.
    """

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    form: ir.StringAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shapes, element types and layouts."""
        check_product(dense_form(self.form.value), self)


class DotOp(TileOp, name="dot"):
    """`d = a · b + c` on a CTA's tiles, by instructions of one dense form.

    Tiles without layouts (level 1) may leave out `form`, which `tile-select-mma` then chooses;
    `unsigned_a` and `unsigned_b` say which integer operands have no sign, and `warps`, two
    integers, pins how many warps share the rows and the columns of C.

    With layouts, each is a repetition of the form's fragment over registers and warps; the
    warps must hold the rows of A and the columns of B that their part of C needs.
    """

    UNITS = frozenset({"unsigned_a", "unsigned_b"})
    OPTIONAL = frozenset({"form", "warps"})

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shapes, element types, and that the layouts fit each other."""
        plain = without_layouts(self)
        find = any_tile_of if plain else tensor_of
        a, b, c = (find(v, f"operand {n}") for n, v in zip("abc", self.operands, strict=True))
        d = find(self.results[0], "result")
        if (
            (len(a.shape), len(b.shape)) != (2, 2)
            or a.shape[1] != b.shape[0]
            or not (c.shape == d.shape == (a.shape[0], b.shape[1]))
        ):
            raise TilecError(
                f"shapes do not fit: A {_extents(a)}, B {_extents(b)}, C {_extents(c)}, "
                f"D {_extents(d)}; with A MxK, B is KxN, C and D are MxN"
            )
        _check_warp_grid(self)
        if plain and "form" not in self.attributes:
            return
        found = dot_form(self)
        tiles = dict(zip("abcd", (a, b, c, d), strict=True))
        for name, tile in tiles.items():
            _check_element(found, name, tile)
        if plain:
            return
        repeats = {
            name: repetition(found, name, tile)
            for name, tile in tiles.items()
            if isinstance(tile, TileValue)
        }
        check_warps(repeats["a"], repeats["b"], repeats["c"])
        if repeats["c"] != repeats["d"]:
            raise TilecError("C and D must have the same layout of instructions over warps")


def dot_form(op: Any) -> Mma:
    """The form of a `tile.dot` that has one.

    Raises:
        TilecError: if it has none, or none that a dot takes.
    """
    attribute = op.attributes.get("form", None)
    if not isinstance(attribute, ir.StringAttr):
        raise TilecError("takes an attribute form, the instruction's mnemonic, or no layouts")
    found = dense_form(attribute.value)
    if found.products != 1:
        raise TilecError(f"takes a form of one product a warp; {found.ptx} has four")
    return found


def _check_warp_grid(op: Any) -> None:
    if "warps" not in op.attributes:
        return
    warps = op.attributes["warps"]
    if (
        not isinstance(warps, ir.DenseI64ArrayAttr)
        or len(warps) != 2
        or any(n < 1 or n & (n - 1) for n in warps)
    ):
        raise TilecError(f"warps must be array<i64: M, N>, two powers of two, not {warps}")


def _check_element(found: Mma, name: str, tile: PlainTile | TileValue) -> None:
    element = element_name(found.operand(name))
    if str(tile.element) != element:
        raise TilecError(
            f"operand {name} of {found.ptx} has elements of type {element}, not {tile.element}"
        )


def _extents(tile: PlainTile | TileValue) -> str:
    return "x".join(str(n) for n in tile.shape)


def repetition(found: Mma, name: str, tile: TileValue) -> LinearLayout:
    """How the fragments of operand `name` repeat over a tile's registers and warps.

    Returns:
        (register, lane, warp) -> (row, col), counted in fragments; `lane` has size one.

    Raises:
        TilecError: if the tile's element type or layout is not made of the form's fragments.
    """
    _check_element(found, name, tile)
    unit = fragment(found, name)
    quotient = tile.layout.divide_left(unit)
    if quotient is None or quotient.in_sizes["lane"] != 1:
        raise TilecError(
            f"layout '{tile.layout}' of operand {name} is no repetition of the fragment "
            f"'{unit}' of {found.ptx}"
        )
    return quotient


def check_warps(a: LinearLayout, b: LinearLayout, c: LinearLayout) -> None:
    """Check that each warp holds the rows of A and columns of B of its part of C, and all of K.

    Args:
        a: repetition of the fragments of A.
        b: of B.
        c: of C.

    Raises:
        TilecError: naming the operand and the index that does not fit.
    """
    for name, index, of_k, other in (("a", "row", "col", a), ("b", "col", "row", b)):
        if other.restrict(outs=[index]).bases.get("warp", []) != c.restrict(outs=[index]).bases.get(
            "warp", []
        ):
            raise TilecError(
                f"the warps hold other {index}s of operand {name} than of C: "
                f"'{other}' against '{c}', in fragments"
            )
        if not other.restrict(ins=["register"], outs=[of_k]).is_surjective:
            raise TilecError(f"a warp must hold all of K of operand {name}, in its registers")
        for layout in (other, c):
            whole = layout.restrict(ins=["register", "warp"], outs=[index])
            if not whole.is_surjective:
                raise TilecError(f"some {index}s of operand {name} or of C are held by no warp")
