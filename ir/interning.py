"""Emitting each computation once: ops without effects, found by what they are.

The same op on the same operands with the same attributes is not made again where what was made
before is in reach. It stands in the block in which the last of its operands becomes known, out of
all loops and branches inside that. Its key is the whole op, so that it cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TypeAlias

from .aliases import Attribute, Block, Op, Type, Value
from .mlir import ir

EFFECT_FREE = frozenset(
    {
        *(f"arith.{name}" for name in ("constant", "addi", "subi", "muli", "andi", "ori", "xori")),
        *(f"arith.{name}" for name in ("shli", "shrsi", "shrui", "cmpi", "select")),
        *(f"arith.{name}" for name in ("index_cast", "index_castui", "extui", "trunci")),
        *(f"llvm.{name}" for name in ("mlir.constant", "add", "sub", "mul", "and", "or", "xor")),
        *(f"llvm.{name}" for name in ("shl", "lshr", "icmp", "select", "intr.smin", "zext")),
        *(f"llvm.{name}" for name in ("trunc", "bitcast", "addrspacecast", "getelementptr")),
        *(f"llvm.{name}" for name in ("extractvalue", "mlir.addressof")),
        "builtin.unrealized_conversion_cast",
    }
)
"""Ops that only compute, and nothing undefined whatever their operands are: they may stand where
the program would not have come."""

_Key: TypeAlias = tuple[str | Type | Value | tuple[str, Attribute], ...]
"""The name of an op, the type of its result, its operands, its attributes with their names."""

_create = ir.Operation.create
active: ContextVar[Interner | None] = ContextVar("interner", default=None)
"""The interner at work, if there is one."""


class Interner:
    """The computations of one function, while a pass emits ops in it in program order.

    `with interner:` interns what is made inside. No op of the function may be erased as long as
    this is in use, nor a block be moved in which something was made. What is made at another place
    than the lowering has reached, such as the function's top, is made `with not_interned():`.

    Args:
        function: the function, beyond whose body nothing moves.

    Attributes:
        constants: those made so far, by what makes them and their numbers (`creation.once`).
    """

    def __init__(self, function: Op) -> None:
        self._function = function.operation
        self.constants: dict[tuple[Callable[[int], ir.OpResult], int], ir.OpResult] = {}
        self._known: dict[_Key, ir.OpResult] = {}
        self._depths: dict[Value, int] = {}
        self._around: dict[Block, list[ir.InsertionPoint]] = {}
        self._tokens: list[Token[Interner | None]] = []
        # The insertion point at which the last op was asked for, and the places around it.
        self._point: ir.InsertionPoint | None = None
        self._here: list[ir.InsertionPoint] = []

    def __enter__(self) -> None:
        self._tokens.append(active.set(self))

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        active.reset(self._tokens.pop())

    def create(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type,
        attributes: Mapping[str, Attribute],
    ) -> ir.OpResult:
        """The result of an op without effects: a new one, or one that has been made."""
        key: _Key = (name, result, *operands)
        if attributes:
            key += (*attributes.items(),)
        found = self._known.get(key)
        if found is None:
            point, depth = self._outermost(operands)
            found = _create(name, (result,), operands, attributes, ip=point).result
            self._known[key] = found
            self._depths[found] = depth
        return found

    def _outermost(self, operands: Sequence[Value]) -> tuple[ir.InsertionPoint, int]:
        """The current insertion point, or the outermost one around it where all are known."""
        point = ir.InsertionPoint.current
        if point is not self._point:  # many ops are made at one
            self._point, self._here = point, self._places_around(point.block)
        around, known, depth = self._here, self._depths, 0
        for value in operands:
            own = known.get(value)
            if own is None:
                own = known[value] = len(self._places_around(home_of(value)))
            if own > depth:  # noqa: PLR1730 (a call of max takes twice as long)
                depth = own
        return (around[depth], depth) if depth < len(around) else (point, len(around))

    def _places_around(self, block: Block) -> list[ir.InsertionPoint]:
        """The places in front of the ops that hold a block, from the function's own block in."""
        try:
            return self._around[block]
        except KeyError:
            parent = block.owner.operation
        outer = parent == self._function
        found = [] if outer else [*self._places_around(parent.block), ir.InsertionPoint(parent)]
        self._around[block] = found
        return found


def home_of(value: Value) -> Block:
    """The block in which a value becomes known."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


class not_interned:  # noqa: N801 (a context manager, used like a function)
    """What is made inside is made anew."""

    def __enter__(self) -> None:
        self._token = active.set(None)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        active.reset(self._token)
