"""Which element types a cast takes to which."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.ir.state import per_context
from tilec.ir.types import width_of
from tilec.isa import ELEMENT_TYPES, ElementType, TilecError

from .dialect import ByteType
from .tiles import bits_of

CASTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "arith.truncf": ("float", "float"),
        "arith.extf": ("float", "float"),
        "arith.convertf": ("float", "float"),
        "arith.fptosi": ("float", "integer"),
        "arith.fptoui": ("float", "integer"),
        "arith.sitofp": ("integer", "float"),
        "arith.uitofp": ("integer", "float"),
        "arith.trunci": ("integer", "integer"),
        "arith.extsi": ("integer", "integer"),
        "arith.extui": ("integer", "integer"),
        "arith.bitcast": ("any", "any"),
    }
)
"""Upstream casts that `tile.cast` applies, with the kinds of their operand and result."""

_NARROW = MappingProxyType(
    {t.mlir: t for t in ELEMENT_TYPES.values() if t.is_float and t.is_signed and t.bits <= 8}
)
WIDE = ("f64", "f32", "f16", "bf16")
"""The floats that LLVM computes with."""


class NarrowElement(NamedTuple):
    """A float of at most 8 bits and where its code is in the bits that hold it.

    Attributes:
        type: the float.
        container: bits that hold it.
        shift: zero bits below the code.
    """

    type: ElementType
    container: int
    shift: int = 0


@per_context()
def narrow_element(element: Type) -> NarrowElement | None:
    """The narrow float that an MLIR element type is; None if it is none that casts know."""
    if isinstance(element, ByteType):
        type_ = _NARROW[str(element.element)]
        # PTX ISA, mma: e2m1 stands in bits 5 to 2 of its byte.
        return NarrowElement(type_, 8, shift=2 if type_.bits == 4 else 0)
    found = _NARROW.get(str(element))
    return NarrowElement(found, found.bits) if found else None


@per_context()
def is_special(element: Type) -> bool:
    """Whether upstream's lowering has no instruction for a float: tf32, and the narrow ones."""
    return str(element) == "tf32" or narrow_element(element) is not None


def check_cast(
    name: str, source: Type, result: Type, attributes: ir.OpAttributeMap | Container[str] = ()
) -> None:
    """Check that the upstream cast `name` takes elements of one type to the other.

    Args:
        name: of the upstream op.
        source: element type.
        result: element type.
        attributes: names of the op's attributes.

    Raises:
        TilecError: naming what would be legal.
    """
    _check_types(name, source, result)
    if "roundingmode" in attributes and is_special(result):
        raise TilecError(f"to {result} there is one rounding mode: omit roundingmode")


@per_context(argument=1)
def _check_types(name: str, source: Type, result: Type) -> None:
    for element, kind in zip((source, result), CASTS[name], strict=True):
        if kind not in ("any", _kind(element)):
            raise TilecError(f"{name} goes from {' to '.join(CASTS[name])}, not {_kind(element)}")
    before, after = _width(source), _width(result)
    rule = {
        "arith.truncf": before > after,
        "arith.trunci": before > after,
        "arith.extf": before < after,
        "arith.extsi": before < after,
        "arith.extui": before < after,
        "arith.convertf": before == after and source != result,
        "arith.bitcast": bits_of(source) == bits_of(result),
    }
    if not rule.get(name, True):
        raise TilecError(f"{name} does not take {source} to {result}")
    if name != "arith.bitcast":
        _check_reached(source, result)


def _kind(element: Type) -> str:
    return "float" if isinstance(element, (ir.FloatType, ByteType)) else "integer"


def _width(element: Type) -> int:
    """Bits that carry information, by which casts are said to narrow or widen."""
    return element.element.width if isinstance(element, ByteType) else width_of(element)


def _check_reached(source: Type, result: Type) -> None:
    """Check that there is a conversion of these types' values."""
    for element in (source, result):
        known = isinstance(element, ir.IntegerType) or str(element) in WIDE or is_special(element)
        if not known:
            raise TilecError(f"no conversion of {element}; legal floats: {_names()}")
    for one, other in ((source, result), (result, source)):
        if is_special(one) and (isinstance(other, ir.IntegerType) or str(other) == "f64"):
            raise TilecError(
                f"no conversion from {source} to {result}: {one} is converted from and to other "
                "floats of at most 32 bits; go through f32"
            )


def _names() -> str:
    alone = (name for name in _NARROW if "f6" not in name)
    in_bytes = (f"!tile.byte<{name}>" for name in _NARROW if "f8" not in name)
    return ", ".join((*WIDE, "tf32", *alone, *in_bytes))
