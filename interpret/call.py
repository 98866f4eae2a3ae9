"""What the meaning of an op is given besides its operands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from tilec.dialects.tile.tiles import PlainTile, TileValue, element_of, plain_tile, tile_value
from tilec.dialects.tile.warpgroup import WarpgroupTile, warpgroup_tile
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import LANES, WARPGROUP_THREADS, WARPGROUP_WARPS

from .findings import Finding, NoMeaning, Undefined
from .numbers import Array, Number, number

if TYPE_CHECKING:
    from .arithmetic.base import Arithmetic
    from .cta import Cta
    from .program import Node
    from .registry import Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """An op that some threads of a CTA execute together.

    Attributes:
        cta: the CTA.
        node: the op.
        active: which threads execute it.
        values: by number, those of these threads.
        parts: whether warps may go on behind it while others still wait in it.
    """

    cta: Cta
    node: Node
    active: Array
    values: list[Value] | None = None
    parts: bool = False

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
        return self.fact(("tile", type_), lambda: _tile(type_))

    def warpgroup_tile(self, type_: Type) -> WarpgroupTile | None:
        """The fragment that a warpgroup holds; None of another type."""
        return self.fact(("warpgroup", type_), lambda: warpgroup_tile(type_))

    def report(self, kind: str, message: str) -> None:
        """Note a finding about the op.

        Raises:
            Undefined: if the launch is to end at such a finding.
        """
        found = Finding(kind, f"'{self.node.name}' op {message}", self.op.location)
        if kind in self.cta.fatal:
            raise Undefined(found)
        self.cta.findings.append(found)

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

    @property
    def warp_mask(self) -> int:
        """The same, a bit each."""
        return sum(1 << int(warp) for warp in np.flatnonzero(self.warps))

    @property
    def groups(self) -> Array:
        """Which warpgroups have active threads."""
        warps = self.warps
        whole = np.zeros(-(-len(warps) // WARPGROUP_WARPS) * WARPGROUP_WARPS, bool)
        whole[: len(warps)] = warps
        return np.asarray(whole.reshape(-1, WARPGROUP_WARPS).any(axis=1))

    def of_group(self, value: Array, group: int, what: str = "an operand") -> Any:
        """A scalar that the active threads of a warpgroup must have in common."""
        if value.ndim == 0:
            return value[()]
        threads = np.s_[group * WARPGROUP_THREADS : (group + 1) * WARPGROUP_THREADS]
        chosen = value[threads][self.active[threads]]
        if (chosen != chosen[0]).any():
            self.report("divergent", f"takes {what} that differs in a warpgroup")
        return chosen[0]

    def of_each_thread(self) -> Iterator[Call]:
        """The op as each active thread executes it alone."""
        for thread in np.flatnonzero(self.active):
            alone = np.zeros_like(self.active)
            alone[thread] = True
            yield replace(self, active=alone)

    def alike(self, *values: Array) -> Iterator[Call]:
        """The op as those threads execute it together that have the same scalars."""
        each = [value[self.active] for value in values if value.ndim]
        if all((one == one[0]).all() for one in each):
            yield self
            return
        for same in np.unique(np.stack(each), axis=1).T:
            found = self.active.copy()
            for value, one in zip((v for v in values if v.ndim), same, strict=True):
                found &= value == one
            yield replace(self, active=found)

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


def _tile(type_: Type) -> PlainTile | TileValue | None:
    if isinstance(type_, ir.VectorType):
        return PlainTile(tuple(type_.shape), element_of(type_.element_type))
    if warpgroup_tile(type_) is not None:
        return None
    return plain_tile(type_) or tile_value(type_)


def type_element(type_: Type) -> Type:
    """The element type of whatever has elements; the type itself of a scalar."""
    from tilec.dialects.tile.dialect import FragType  # noqa: PLC0415

    if isinstance(type_, FragType):
        return type_.tile.element_type
    return type_.element_type if isinstance(type_, ir.ShapedType) else type_
