"""A kernel's ops as the interpreter walks them: MLIR is asked once, loops run many times."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilec.dialects.tile.tensor import buffer_of
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from .registry import Registered, meanings

_ENDS = frozenset({"scf.yield", "scf.condition", "gpu.return", "func.return", "linalg.yield"})


@dataclass(eq=False, slots=True)
class Node:
    """An op.

    Attributes:
        op: the op.
        name: its name.
        meaning: what it means; None if that is not known.
        inputs, outputs: the numbers of its operands and results.
        bodies: its regions.
        facts: what was looked up about it.
    """

    op: ir.OpView
    name: str
    meaning: Registered | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    bodies: tuple[Body, ...]
    facts: dict[Hashable, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Body:
    """A region of one block.

    Attributes:
        parameters: the numbers of the block's arguments.
        nodes: its ops but for the last.
        results: the numbers of what the last op hands on.
    """

    parameters: tuple[int, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]


class Reader:
    """What reads ops, one or a body at a time, and numbers their values.

    Attributes:
        meets: whether some warps of a CTA meet by one of them without the others.
        buffers: the `tile.alloc_shared`s among them.
        columns: that its `tile.alloc_tensor`s take, each its own.
    """

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}
        self.meets = False
        self.buffers: list[Op] = []
        self.columns = 0

    @property
    def size(self) -> int:
        """How many values have numbers."""
        return len(self._numbers)

    def number(self, value: Value) -> int:
        """The number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def _all(self, values: Sequence[Value]) -> tuple[int, ...]:
        return tuple(self.number(value) for value in values)

    def body(self, block: ir.Block) -> Body:
        """A block that is alone in its region."""
        parameters = self._all(list(block.arguments))
        *ops, last = list(block.operations)
        nodes = [self.node(op) for op in ops]
        if last.operation.name in _ENDS:
            return Body(parameters, tuple(nodes), self._all(list(last.operands)))
        return Body(parameters, (*nodes, self.node(last)), ())

    def node(self, op: ir.OpView) -> Node:
        """An op, with those in its regions."""
        name = op.operation.name
        known = meanings().get(name)
        self.meets = self.meets or (known is not None and known.meets)
        if name == "tile.alloc_shared":
            self.buffers.append(op)
        elif name == "tile.alloc_tensor":
            self.columns += buffer_of(ir.MemRefType(op.results[0].type)).columns
        bodies = tuple(
            self.body(region.blocks[0]) for region in op.regions if len(list(region.blocks)) == 1
        )
        return Node(
            op,
            name,
            known,
            self._all(list(op.operands)),
            self._all(list(op.results)),
            bodies,
        )


class Program:
    """A function, which may be run again and again with one arithmetic, for one target.

    Attributes:
        function: the function; it must stay as it is.
        body: its body.
        size: how many values it has.
        meets: whether some warps of a CTA meet without the others.
        buffers: its `tile.alloc_shared`s.
        columns: of tensor memory, that its `tile.alloc_tensor`s take.
    """

    def __init__(self, function: Op) -> None:
        reader = Reader()
        self.function = function
        self.body = reader.body(function.regions[0].blocks[0])
        self.size, self.meets, self.buffers = reader.size, reader.meets, reader.buffers
        self.columns = reader.columns
