"""`tile.inline_asm`, `tile.inline_asm_volatile`: PTX written out, on elements of tiles."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tilec.dialects.semantics import Access, LayoutRule, Resource, Touch, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.dialects.semantics.effects import FINDS
from tilec.ir.assembly.signature import OPERAND_SIZES, RESULT_SIZES
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from ..assembly import Registers, registers_of
from ..tiles import bits_of
from .base import TileOp, any_tile_of, integer, without_layouts

MOST_TILES = 4
"""Tiles that an op takes, and that it gives, at most; each may be of a type of its own."""
_MOST = 64
"""Elements that one call takes at most."""


class AsmOp(TileOp):
    """What the two have in common."""

    OPTIONAL = frozenset({"pack"})
    assembly_format = (
        "$asm `,` $constraints `(` $a (`,` $b^)? (`,` $c^)? (`,` $d^)? `)` attr-dict `:` "
        "`(` type($a) (`,` type($b)^)? (`,` type($c)^)? (`,` type($d)^)? `)` `->` "
        "`(` type($w) (`,` type($x)^)? (`,` type($y)^)? (`,` type($z)^)? `)`"
    )

    @property
    def pack(self) -> int:
        """Elements of each operand that one call takes."""
        return integer(self, "pack") if "pack" in self.attributes else 1

    def registers(self) -> Registers:
        """The registers of one call.

        Raises:
            TilecError: for text, constraints and element types that do not fit.
        """
        outputs, inputs = (
            [bits_of(any_tile_of(value, "each operand and result").element) for value in values]
            for values in (self.results, self.operands)
        )
        text, constraints = (
            ir.StringAttr(self.attributes[name]).value for name in ("asm", "constraints")
        )
        return registers_of(text, constraints, outputs, inputs, self.pack)

    def check(self) -> None:
        """Verify that all tiles have one shape and layout, and the registers."""
        for name in (OPERAND_SIZES, RESULT_SIZES):
            held = self.attributes.get(name)
            if not isinstance(held, ir.DenseI32ArrayAttr) or max(held) > 1:
                raise TilecError(f"takes and gives one tile in each place: {name} of 0 and 1")
        if not 1 <= self.pack <= _MOST:
            raise TilecError(f"pack is a number from 1 to {_MOST}, not {self.pack}")
        without_layouts(self)
        first = any_tile_of(self.operands[0], "each operand and result")
        for value in (*self.operands, *self.results):
            other = any_tile_of(value, "each operand and result")
            if replace(other, element=first.element) != first:
                raise TilecError(
                    "takes and gives tiles of one shape and layout, not "
                    f"{self.operands[0].type} and {value.type}"
                )
        self.registers()


class InlineAsmOp(AsmOp, name="inline_asm"):
    """PTX for each element, whose results depend only on its operands.

    The text is that of LLVM's inline assembly: `$0` and so on stand for registers, `$$` for a
    dollar. The constraints have a letter for each register: outputs first, with `=` before it, or
    `=&` where it is written before all inputs are read; then inputs, or the number of an output
    that is the same register. `h` has 16 bits, `r` and `f` 32, `l` and `d` 64.

    One call processes `pack` elements of each operand, by default 1, in their order in a lane.
    Elements narrower than 32 bits are packed into 32-bit words, the first in the low bits, or one
    16-bit word. The text may be executed again, moved, or removed.
    """

    SEMANTICS = PURE.but(layouts=LayoutRule.JOINED)

    a: ext.Operand[Any]
    b: Sequence[ext.Operand[Any]]
    c: Sequence[ext.Operand[Any]]
    d: Sequence[ext.Operand[Any]]
    asm: ir.StringAttr
    constraints: ir.StringAttr
    w: ext.Result[Any]
    x: Sequence[ext.Result[Any]]
    y: Sequence[ext.Result[Any]]
    z: Sequence[ext.Result[Any]]


class InlineAsmVolatileOp(AsmOp, name="inline_asm_volatile"):
    """PTX with side effects, such as a wait, or with varying results, such as a clock.

    It is executed exactly as often as it is written, for every copy of an element in the CTA, and
    in program order with other such ops. It does not order memory. Passes do not change the threads
    and the grid of a kernel with such an op, since the text may read them.
    """

    SEMANTICS = PURE.but(
        layouts=LayoutRule.JOINED,
        effects=(FINDS, Touch(Access.WRITE, Resource.OUTSIDE)),
        varies=Variation.DIVERGENT,
    )

    a: ext.Operand[Any]
    b: Sequence[ext.Operand[Any]]
    c: Sequence[ext.Operand[Any]]
    d: Sequence[ext.Operand[Any]]
    asm: ir.StringAttr
    constraints: ir.StringAttr
    w: ext.Result[Any]
    x: Sequence[ext.Result[Any]]
    y: Sequence[ext.Result[Any]]
    z: Sequence[ext.Result[Any]]


def sizes(inputs: int, outputs: int) -> dict[str, ir.Attribute]:
    """The attributes that say how many tiles there are of those that there may be.

    Raises:
        TilecError: for more.
    """
    found: dict[str, ir.Attribute] = {}
    for name, count, what in (
        (OPERAND_SIZES, inputs, "takes"),
        (RESULT_SIZES, outputs, "gives"),
    ):
        if not 1 <= count <= MOST_TILES:
            raise TilecError(f"inline assembly {what} 1 to {MOST_TILES} tiles, not {count}")
        found[name] = ir.DenseI32ArrayAttr.get([int(at < count) for at in range(MOST_TILES)])
    return found
