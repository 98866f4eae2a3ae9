"""`tile.atomic_rmw`, `tile.atomic_cas`: atomic operations that give what memory held."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tilec.dialects.semantics import Variation
from tilec.dialects.semantics.effects import updates as updates_memory
from tilec.ir.aliases import Type
from tilec.ir.mlir import ext, ir
from tilec.isa import Target, TilecError, UnknownNameError
from tilec.isa.atomics import ATOMICS, ORDERS, SCOPES, Atomic
from tilec.isa.reductions import SHARED

from ..tiles import bits_of
from . import atomic
from .base import any_tile_of
from .gather import MOVED, PLACES, TYPES, IndexedOp

EXCHANGE = "exchange"
"""The `fn` that puts the tile in place of what is there."""
FUNCTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {**atomic.ATOMICS, EXCHANGE: ("exch", {n: f"b{n[1:]}" for n in ("i32", "i64", "f32", "f64")})}
)
"""What `tile.atomic_rmw` does: PTX's name, and PTX's type of each element type."""
_COMPARED = ("i16", "i32", "i64")


class FetchingOp(IndexedOp):
    """What the ops have in common that give what memory held.

    `order` says how the operation is ordered with others of its thread (relaxed where absent,
    acquire, release, acq_rel), `scope` among which threads (cta, gpu, sys; where absent gpu, or cta
    of an array in shared memory); PTX ISA, "Memory Consistency Model". The result is
    zero for elements that are not moved.

    Where several warps hold copies of the tile, one updates memory. With `first_warps` the
    others get zeros, which `tile-assign-layouts` has combined with what that one gets.
    """

    UNITS = frozenset({"first_warps", "masked"})
    OPTIONAL = frozenset({"along", "order", "scope", "vector"})
    SEMANTICS = MOVED.but(effects=updates_memory(1), varies=Variation.DIVERGENT)

    @property
    def order(self) -> str:
        """How it is ordered."""
        return self._word("order", ORDERS[0])

    @property
    def scope(self) -> str:
        """Among which threads."""
        return self._word("scope", "cta" if self.space == SHARED else "gpu")

    @property
    def space(self) -> str:
        """PTX's name of the state space that it updates."""
        return atomic.state_space(self.memref)

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """The operands of the instruction, tiles."""
        raise NotImplementedError

    def check(self) -> None:
        """Verify the access, order, scope and that there is such an instruction."""
        super().check()
        for name, given, legal in (("order", self.order, ORDERS), ("scope", self.scope, SCOPES)):
            if given not in legal:
                raise UnknownNameError(name, given, legal)
        if self.results[0].type != self.tile.type:
            raise TilecError(
                f"gives what memory held as the tile's type {self.tile.type}, not "
                f"{self.results[0].type}"
            )
        self.instruction()

    def instruction(self, target: Target | None = None) -> Atomic:
        """Its instruction, on a target or on any.

        Raises:
            TilecError: if there is none.
        """
        raise NotImplementedError

    def check_on(self, target: Target) -> None:
        """Verify that the target has the instruction."""
        self.instruction(target)

    def _word(self, name: str, default: str) -> str:
        found = self.attributes.get(name)
        if found is None:
            return default
        return found.value if isinstance(found, ir.StringAttr) else str(found)


def _form(op: str, type_: str, element: Type, target: Target | None) -> Atomic:
    found = ATOMICS[op, type_]
    if target is not None and found.min_ptx(target) is None:
        where = ", ".join(f"{s.target} (PTX {s.ptx})" for s in found.since)
        raise TilecError(f"atom.{op} of {element} does not exist on {target}; it needs {where}")
    return found


class AtomicRmwOp(FetchingOp, name="atomic_rmw"):
    """Combine a tile or fragment into memory by `fn`, atomically; returns the old value.

    `fn` is one of `tile.atomic`, or `exchange`. Elements are consecutive, starting at the indices,
    or have individual positions and a condition as in `tile.gather`. Elements at the same position
    are updated in unspecified order; each returns the value before its update.
    """

    assembly_format = (
        f"keyword($fn) $tile `,` $target {PLACES} `:` type($tile) `,` type($target) {TYPES}"
    )
    inferred_types = {"indices": "index", "old": "$tile"}

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    offsets: Sequence[ext.Operand[Any]]
    condition: Sequence[ext.Operand[Any]]
    fn: ir.StringAttr
    old: ext.Result[Any]

    @property
    def memref(self) -> ir.Value:
        """What is updated."""
        return self.operands[1]

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """The operands of the instruction."""
        return (self.operands[0],)

    def instruction(self, target: Target | None = None) -> Atomic:
        """`atom` of `fn`."""
        element = any_tile_of(self.tile, "the tile").element
        op, type_ = atomic.form_of_function(self.fn.value, element, FUNCTIONS)
        return _form(op, type_, element, target)


class AtomicCasOp(FetchingOp, name="atomic_cas"):
    """Store a tile or fragment where memory contains `compare`, atomically; returns the old value.

    Elements are updated independently. Positions and condition are those of `tile.atomic_rmw`.
    """

    assembly_format = (
        f"$compare `,` $tile `,` $target {PLACES} `:` type($tile) `,` type($target) {TYPES}"
    )
    inferred_types = {"indices": "index", "old": "$tile", "compare": "$tile"}

    compare: ext.Operand[Any]
    target: ext.Operand[Any]
    tile: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    offsets: Sequence[ext.Operand[Any]]
    condition: Sequence[ext.Operand[Any]]
    old: ext.Result[Any]

    @property
    def memref(self) -> ir.Value:
        """What is updated."""
        return self.operands[1]

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """The operands of the instruction."""
        return self.operands[0], self.operands[2]

    def check(self) -> None:
        """Verify that what is compared is like what is stored."""
        if self.operands[0].type != self.operands[2].type:
            raise TilecError(
                f"compares and stores tiles of one type, not {self.operands[0].type} and "
                f"{self.operands[2].type}"
            )
        super().check()

    def instruction(self, target: Target | None = None) -> Atomic:
        """`atom.cas`."""
        element = any_tile_of(self.tile, "the tile").element
        if str(element) not in _COMPARED:
            raise TilecError(
                f"compares elements of type {', '.join(_COMPARED)}, not {element}; take the bits "
                "of floats"
            )
        return _form("cas", f"b{bits_of(element)}", element, target)
