"""What the meaning of an op is given besides its operands."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from tilec.dialects.tile.tiles import PlainTile, TileValue, plain_tile, tile_value
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import LANES

from .findings import Finding, NoMeaning
from .numbers import Array, Number, number

if TYPE_CHECKING:
    from .arithmetic.base import Arithmetic
    from .cta import Cta
    from .program import Node

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """An op that some threads of a CTA execute together.

    Attributes:
        cta: the CTA.
        node: the op.
        active: which threads execute it.
    """

    cta: Cta
    node: Node
    active: Array

    @property
    def op(self) -> ir.OpView:
        """The op, as its class has it."""
        return self.node.op

    @property
    def arithmetic(self) -> Arithmetic:
        """Of floats."""
        return self.cta.arithmetic

    def fact(self, name: Hashable, find: Callable[[], T]) -> T:
        """What `find` says of the op, looked up once."""
        facts = self.node.facts
        if name not in facts:
            facts[name] = find()
        found: T = facts[name]
        return found

    def attribute(self, name: str) -> Any:
        """The attribute `name`, or None."""
        return self.fact(f"@{name}", lambda: self.op.attributes.get(name))

    def integer(self, name: str) -> int:
        """An integer attribute."""
        return self.fact(f"#{name}", lambda: int(ir.IntegerAttr(self.op.attributes[name]).value))

    def word(self, name: str) -> str:
        """An attribute that is a string."""
        return self.fact(f'"{name}', lambda: ir.StringAttr(self.op.attributes[name]).value)

    def has(self, name: str) -> bool:
        """Whether there is an attribute, such as a unit one."""
        return self.attribute(name) is not None

    def operand_type(self, at: int) -> Type:
        """The type of an operand."""
        return self.fact(f"operand {at}", lambda: self.op.operands[at].type)

    def result_type(self, at: int = 0) -> Type:
        """The type of a result."""
        return self.fact(f"result {at}", lambda: self.op.results[at].type)

    def number(self, type_: Type) -> Number:
        """The element type."""
        return self.fact(("number", type_), lambda: number(type_element(type_)))

    def tile(self, type_: Type) -> PlainTile | TileValue | None:
        """The tile of a type; None if it is none, or a warpgroup's fragment."""
        return self.fact(("tile", type_), lambda: plain_tile(type_) or tile_value(type_))

    def report(self, kind: str, message: str) -> None:
        """Note a finding about the op."""
        self.cta.findings.append(
            Finding(kind, f"'{self.node.name}' op {message}", self.op.location)
        )

    def unknown(self, why: str = "") -> NoReturn:
        """Say that what this use of the op means is not known.

        Raises:
            NoMeaning: always.
        """
        raise NoMeaning(self.node.name, self.op.location, why)

    @property
    def warps(self) -> Array:
        """Which warps have active threads."""
        return np.asarray(self.active.reshape(-1, LANES).any(axis=1))

    def uniform(self, value: Array, what: str = "an operand") -> Any:
        """A scalar that all active threads must have in common."""
        if value.ndim == 0:
            return value[()]
        chosen = value[self.active]
        if not len(chosen):
            return value.reshape(-1)[0]
        if (chosen != chosen[0]).any():
            self.report("divergent", f"takes {what} that differs between threads")
        return chosen[0]

    def by_warp(self, value: Array, what: str = "an operand") -> Array:
        """A scalar of each warp, which its active lanes must have in common."""
        count = len(self.active) // LANES
        if value.ndim == 0:
            return np.broadcast_to(value, (count,))
        lanes = value.reshape(count, LANES)
        mine = self.active.reshape(count, LANES)
        first = lanes[np.arange(count), mine.argmax(axis=1)]
        if ((lanes != first[:, None]) & mine).any():
            self.report("divergent", f"takes {what} that differs between lanes of a warp")
        return np.asarray(first)


def type_element(type_: Type) -> Type:
    """The element type of whatever has elements; the type itself of a scalar."""
    from tilec.dialects.tile.dialect import FragType  # noqa: PLC0415

    if isinstance(type_, FragType):
        return type_.tile.element_type
    return type_.element_type if isinstance(type_, ir.ShapedType) else type_
