"""`tile.fill`, `tile.elementwise`, `tile.cast`: register by register."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from tilec.dialects.semantics import LayoutRule
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.aliases import Type
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ext, ir
from tilec.ir.state import per_context
from tilec.isa import TilecError, UnknownNameError
from tilec.isa.wording import counted

from ..casts import CASTS, WIDE, check_cast
from ..dialect import ByteType
from ..tiles import TileValue
from .base import TileOp, any_tile_of, fragment_value, integer, without_layouts

ELEMENTWISE: Mapping[str, int] = MappingProxyType(
    {
        **{
            f"arith.{name}": 2
            for name in (
                *("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"),
                *("addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
                *("maxsi", "maxui", "minsi", "minui", "divsi", "divui", "remsi", "remui"),
                *("ceildivsi", "ceildivui", "floordivsi"),
            )
        },
        **{
            f"math.{name}": 1
            for name in (
                *("absf", "sqrt", "rsqrt", "ceil", "floor", "round", "roundeven", "trunc"),
                *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10"),
                *("sin", "cos", "tanh", "erf", "absi", "ctlz", "ctpop", "cttz"),
            )
        },
        "arith.negf": 1,
        "math.copysign": 2,
        "math.fma": 3,
        "math.powf": 2,
    }
)
"""Upstream ops on elements of one type that `tile.elementwise` applies, and how many they take."""
COMPARISONS: Mapping[str, int] = MappingProxyType({"arith.cmpf": 16, "arith.cmpi": 10})
"""Upstream comparisons that `tile.elementwise` applies, and their number of predicates."""
_ON_INTEGERS = frozenset({"math.absi", "math.ctlz", "math.ctpop", "math.cttz"})


class FillOp(TileOp, name="fill"):
    """A tile or fragment whose elements are all equal to a scalar."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($tile)"

    SEMANTICS = PURE.but(layouts=LayoutRule.FREE, cost=0)

    value: ext.Operand[Any]
    tile: ext.Result[Any]

    def check(self) -> None:
        """Verify the element type."""
        tile = any_tile_of(self.results[0], "result")
        if str(self.operands[0].type) != str(tile.element):
            raise TilecError(
                f"the scalar must be of the element type {tile.element}, "
                f"not {self.operands[0].type}"
            )


class ElementwiseOp(TileOp, name="elementwise"):
    """An upstream scalar op applied to each element of fragments of one type.

    The result of a comparison has elements of type i1. Further attributes are those of the
    upstream op.
    """

    assembly_format = "keyword($fn) $inputs attr-dict `:` one-type($inputs) (`->` type($result)^)?"
    inferred_types = {"result": "$inputs"}

    OPEN = True
    SEMANTICS = PURE

    inputs: Sequence[ext.Operand[Any]]
    fn: ir.StringAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the op's name, its operands, and that their types fit."""
        name = self.fn.value
        if name in COMPARISONS:
            _check_comparison(self, name)
        elif name in ELEMENTWISE:
            check_function(self, lambda: fragment_value(self.results[0], "result").element)
        else:
            raise UnknownNameError("elementwise op", name, (*ELEMENTWISE, *COMPARISONS))


def _check_comparison(op: TileOp, name: str) -> None:
    if len(op.operands) != 2:
        raise TilecError(f"{name} takes 2 operands, not {len(op.operands)}")
    left, right = op.operands
    if left.type != right.type:
        raise TilecError(f"operands must be of one type: {left.type} and {right.type}")
    compared = fragment_value(left, "operand 1")
    check_kind(name, compared.element)
    check_mask(fragment_value(op.results[0], "result"), compared, op.results[0].type)
    last = COMPARISONS[name] - 1
    if "predicate" not in op.attributes or not 0 <= integer(op, "predicate") <= last:
        raise TilecError(f"{name} takes a predicate, a number from 0 to {last}")


def check_mask(mask: TileValue, tile: TileValue, type_: Type) -> None:
    """Check that `mask`, of type `type_`, has an i1 for each element of `tile`.

    Raises:
        TilecError: naming the fragment that would be legal.
    """
    if (mask.shape, mask.layout, str(mask.element)) != (tile.shape, tile.layout, "i1"):
        extents = "x".join(str(n) for n in tile.shape)
        raise TilecError(
            f"a mask of the tile is a fragment of {extents}xi1 with its layout "
            f"'{tile.layout}', not {type_}"
        )


def check_function(op: TileOp, element: Callable[[], Type]) -> None:
    """Check the upstream op `fn` that `op` applies to fragments of its result's type.

    Args:
        op: the op.
        element: gives the element type, or says why there is none.

    Raises:
        TilecError: for an unknown op, another number of operands or another type.
    """
    name = attribute(op, "fn", ir.StringAttr).value
    if name not in ELEMENTWISE:
        raise UnknownNameError("elementwise op", name, ELEMENTWISE)
    if len(op.operands) != ELEMENTWISE[name]:
        raise TilecError(
            f"{name} takes {counted(ELEMENTWISE[name], 'operand')}, not {len(op.operands)}"
        )
    found = element()
    for operand in op.operands:
        if operand.type != op.results[0].type:
            raise TilecError(
                f"operands and result must be of one type: {operand.type} and {op.results[0].type}"
            )
    check_kind(name, found)


@per_context(argument=1)
def check_kind(name: str, element: Type) -> None:
    """Check that an elementwise op takes such elements; raises TilecError if not."""
    is_float = isinstance(element, (ir.FloatType, ByteType))
    if is_float and str(element) not in WIDE:
        raise TilecError(
            f"no arithmetic on {element}: cast it first; legal: integers, {', '.join(WIDE)}"
        )
    wants_float = name.endswith("f") or (name.startswith("math.") and name not in _ON_INTEGERS)
    if is_float != wants_float:
        kind = "floating-point" if wants_float else "integer"
        raise TilecError(f"{name} takes {counted(kind, 'element')}, not {element}")


class CastOp(TileOp, name="cast"):
    """An upstream cast of each element of a tile or fragment; shape and layout do not change.

    In addition to the casts that upstream lowers, f32, f16, bf16, tf32 and floats of 8, 6 and 4
    bits (6-bit floats, and optionally 4-bit floats, in `!tile.byte`) are converted to each other:
    by `arith.truncf` to fewer bits, `arith.extf` to more, and `arith.convertf` to the same number.
    A conversion to at most 8 bits rounds to nearest even, saturates to the largest finite number,
    and converts NaN to the type's NaN or, if it has none, to the largest number, without a sign
    (PTX ISA, `cvt.rn.satfinite`). A conversion to tf32 rounds to nearest, ties away from zero
    (`cvt.rna.tf32`).

    On tiles it is for the types that upstream's ops do not take, such as `!tile.byte`. Further
    attributes are those of the upstream op.
    """

    assembly_format = "keyword($fn) $source attr-dict `:` type($source) `to` type($result)"

    OPEN = True
    SEMANTICS = PURE.but(layouts=LayoutRule.JOINED, cost=1)

    source: ext.Operand[Any]
    fn: ir.StringAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the cast and that shape and layout stay."""
        name = self.fn.value
        if name not in CASTS:
            raise UnknownNameError("cast", name, CASTS)
        without_layouts(self)
        source = any_tile_of(self.operands[0], "source")
        result = any_tile_of(self.results[0], "result")
        if replace(result, element=source.element) != source:
            raise TilecError(
                f"shape and layout must stay: {self.operands[0].type} to {self.results[0].type}"
            )
        check_cast(name, source.element, result.element, self.attributes)
