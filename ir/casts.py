"""Attributes for which the bindings have no class, such as `array<i128: 1>` or `loc("x")`.

The bindings raise an error where they meet one, and amid an iteration of attributes, where none
may be raised, end the process. Any program may have one; here they become plain attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .mlir import ir
from .state import per_context

_ARRAYS = ("I64", "I32", "Bool", "F32", "F64", "I8", "I16")
_DENSE = (
    ("array<i64>", tuple(f"Dense{element}ArrayAttr" for element in _ARRAYS)),
    (
        "dense<0> : tensor<1xi8>",
        ("DenseFPElementsAttr", "DenseIntElementsAttr", "DenseElementsAttr"),
    ),
)
"""An attribute of each kind, and the bindings' classes for it; the most frequent is first."""
_done: list[bool] = []


def accept_all(context: ir.Context) -> None:
    """Have the bindings take every attribute, from now on in this process.

    Args:
        context: any; the bindings know a kind by one that is of it.
    """
    if _done:
        return
    for text, names in _DENSE:
        kind = ir.Attribute.parse(text, context).typeid
        classes = [getattr(ir, name) for name in names]
        ir.register_type_caster(kind, replace=True)(_first_of(classes))
    for location in _locations(context):
        if type(location) is not ir.Location:
            kind = location.attr.typeid
            ir.register_type_caster(kind, replace=True)(_location(type(location)))
    _done.append(True)


def _first_of(classes: Sequence[type[ir.Attribute]]) -> Callable[[ir.Attribute], ir.Attribute]:
    """What gives an attribute the first of some classes that it is of.

    A class that it is not of takes six microseconds to say so, since the bindings print the
    attribute for their message; a pass asks for the same attributes again and again.
    """

    @per_context()
    def cast(attribute: ir.Attribute) -> ir.Attribute:
        for kind in classes:
            try:
                return kind(attribute)
            except ValueError:
                continue
        return attribute

    return cast


def _locations(context: ir.Context) -> Iterator[ir.Location]:
    """A location of each kind."""
    one, other = (ir.Location.file("", line, 1, context=context) for line in (1, 2))
    yield ir.Location.unknown(context)
    yield one
    yield ir.Location.name("", one, context)
    yield ir.Location.callsite(one, [other], context)
    yield ir.Location.fused([one, other], None, context)


def _location(
    kind: type[ir.Location],
) -> Callable[[ir.Location | ir.Attribute], ir.Location | ir.Attribute]:
    """What gives a location its class, and leaves one that is an attribute what it is."""
    return lambda given: kind(given) if isinstance(given, ir.Location) else given
