"""Values that loops carry: accumulators that they no longer do, and phases of mbarriers."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.semantics.upstream import constant_of
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.ir.aliases import Block, Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith
from tilec.ir.ops import scf as ops_scf
from tilec.ir.types import i1


class Carried(NamedTuple):
    """An accumulator that a loop carries for one product alone.

    Attributes:
        loop: the `scf.for` in whose body the product stands.
        number: of the value among those that the loop carries.
    """

    loop: ir.Operation
    number: int

    @property
    def start(self) -> Value:
        """Before the first round."""
        return self.loop.operands[3 + self.number]

    @property
    def bounds(self) -> tuple[Value, Value]:
        """The first number, and the one that is too large."""
        lower, upper, *_ = self.loop.operands
        return lower, upper

    @property
    def surely_runs(self) -> bool:
        """Whether there is a round, as constants say."""
        lower, upper = map(constant_of, self.bounds)
        return lower is not None and upper is not None and lower < upper


def carried(dot: TensorDot) -> Carried | None:
    """Where a product adds to what a loop carries for it; None if it does not, or others look."""
    block = dot.operation.block
    parent = dot.operation.parent
    if parent is None or not isinstance(parent.opview, scf.ForOp):
        return None
    argument: Value = dot.operands[2]
    if argument not in list(block.arguments)[1:]:
        return None
    number = list(block.arguments).index(argument) - 1
    end = _end(block)
    taken = [(use.owner.operation, use.operand_number) for use in dot.d.uses]
    if len(list(argument.uses)) != 1 or taken != [(end, number)]:
        return None
    return Carried(parent.operation, number)


def loops_around(op: ir.Operation) -> list[ir.Operation]:
    """The loops that an op stands in, the outermost first."""
    found: list[ir.Operation] = []
    parent = op.parent
    while parent is not None and parent.name != "gpu.func":
        found.insert(0, parent.operation)
        parent = parent.operation.parent
    return found


def let_go(loop: ir.Operation, number: int) -> ir.Operation:
    """Let a loop no longer carry a value that its body does not take; the loop that there is then.

    Nothing may use its result.
    """
    block = loop.regions[0].blocks[0]
    end = _end(block)
    kept = [value for at, value in enumerate(end.operands) if at != number]
    with ir.InsertionPoint(end), end.location:
        ops_scf.yield_(kept)
    end.erase()
    return _rebuilt(loop, number, [])


def carry(loop: ir.Operation, start: Value) -> tuple[ir.Operation, Value]:
    """Let a loop carry one value more, last; its body is still to yield it.

    Returns:
        The loop that there is then, and the argument of its body.
    """
    made = _rebuilt(loop, None, [start])
    return made, list(made.regions[0].blocks[0].arguments)[-1]


def pass_on(loop: ir.Operation, value: Value) -> None:
    """Let the body of a loop end with one value more, last."""
    end = _end(loop.regions[0].blocks[0])
    with ir.InsertionPoint(end), end.location:
        ops_scf.yield_([*end.operands, value])
    end.erase()


def carried_phase(op: ir.Operation) -> Value:
    """The phase of an mbarrier that has one more each time that an op is executed, an i1.

    All loops around the op carry it.
    """
    loops = loops_around(op)
    if not loops:
        with ir.InsertionPoint(op), op.location:
            return arith.integer(i1(), 0)
    with ir.InsertionPoint(loops[0]), loops[0].location:
        phase: Value = arith.integer(i1(), 0)
    made = []
    for loop in loops:
        new, phase = carry(loop, phase)
        made.append(new)
    end = _end(made[-1].regions[0].blocks[0])
    with ir.InsertionPoint(end), end.location:
        following: Value = arith.xori(phase, arith.integer(i1(), 1))
    for loop in reversed(made):
        pass_on(loop, following)
        following = list(loop.results)[-1]
    return phase


def _rebuilt(loop: ir.Operation, dropped: int | None, start: list[Value]) -> ir.Operation:
    """A loop that carries other values, with the same body."""
    first, last, step, *before = loop.operands
    attributes = {name: loop.attributes[name] for name in loop.attributes}
    kept = [value for at, value in enumerate(before) if at != dropped]
    with ir.InsertionPoint(loop), loop.location:
        made = ops_scf.for_([first, last, step], [*kept, *start], attributes)
    block = loop.regions[0].blocks[0]
    if dropped is not None:
        block.erase_argument(1 + dropped)
    block.append_to(made.regions[0])
    for value in start:
        block.add_argument(value.type, loop.location)
    results = [result for at, result in enumerate(loop.results) if at != dropped]
    for result, after in zip(results, made.results, strict=False):
        result.replace_all_uses_with(after)
    loop.erase()
    return made


def _end(block: Block) -> ir.Operation:
    operations = block.operations
    return operations[len(operations) - 1].operation
