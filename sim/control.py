"""Basic blocks of a function, in an order that makes diverged threads meet again.

Threads of different blocks run in the order of their blocks, lowest first. The order is a
weak topological one (Bourdoncle 1993): a block comes after all that lead to it except around a
loop, and the blocks of a loop stand together, before all that follows the loop. So threads
that took the short side of a branch, or left a loop early, wait where the others will
arrive: at the immediate post-dominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .ptx.module import Function, Instruction
from .traits import Flow, Sync, traits


@dataclass(slots=True)
class Block:
    """Instructions that run one after the other.

    Attributes:
        first, last: range of the function's instructions, `last` excluded.
        successors: numbers of the blocks that may follow, in text order of blocks.
        gate: whether it is empty and only sends the threads that its instruction's guard holds
            for to the next block, and the others past it.
    """

    first: int
    last: int
    successors: tuple[int, ...] = ()
    gate: bool = False


def is_gated(instruction: Instruction) -> bool:
    """Whether an instruction under a guard waits for other threads, so that a branch guards it."""
    return instruction.guard is not None and traits(instruction).sync is not Sync.NONE


def blocks(function: Function) -> list[Block]:
    """The blocks of a function, entry first, in the order described above."""
    body = function.body or []
    cuts = {0, len(body)}
    for index, instruction in enumerate(body):
        what = traits(instruction)
        for name in what.labels:
            place = instruction.scope.label(name)
            if place is not None:
                cuts.add(place)
        if what.flow is not Flow.NEXT:
            cuts.add(index + 1)
        elif is_gated(instruction):
            cuts |= {index, index + 1}
    found: list[Block] = []
    for start, end in pairwise(sorted(cuts)):
        if is_gated(body[start]):
            found.append(Block(start, start, gate=True))
        found.append(Block(start, end))
    if not found:
        return [Block(0, 0)]
    at = block_starts(found)
    for number, block in enumerate(found):
        if block.gate:
            block.successors = tuple(n for n in (number + 1, number + 2) if n < len(found))
        else:
            block.successors = tuple(_successors(body[block.last - 1], number, at, len(found)))
    order = _weak_topological_order([b.successors for b in found])
    rank = {old: new for new, old in enumerate(order)}
    for block in found:
        block.successors = tuple(rank[s] for s in block.successors if s in rank)
    return [found[old] for old in order]


def block_starts(found: Sequence[Block]) -> dict[int, int]:
    """The block that begins at each instruction where one does; a gate comes before its own."""
    at: dict[int, int] = {}
    for number, block in enumerate(found):
        if block.gate or block.first not in at:
            at[block.first] = number
    return at


def _successors(last: Instruction, number: int, at: dict[int, int], count: int) -> Iterable[int]:
    what = traits(last)
    for name in what.labels:
        place = last.scope.label(name)
        if place is not None and place in at:
            yield at[place]
    ends = what.flow in (Flow.END, Flow.BRANCH)
    if (not ends or last.guard is not None) and number + 1 < count:
        yield number + 1


def _weak_topological_order(successors: Sequence[Sequence[int]]) -> list[int]:
    """Blocks reachable from block 0, loops contiguous, each after its predecessors."""
    order: list[int] = []

    def place(roots: Iterable[int], allowed: set[int]) -> None:
        for component in reversed(_components(roots, allowed, successors)):
            head = component[-1]
            order.append(head)
            if len(component) > 1:
                allowed_inside = set(component) - {head}
                place([s for s in successors[head] if s in allowed_inside], allowed_inside)

    place([0], set(range(len(successors))))
    return order


def _components(
    roots: Iterable[int], allowed: set[int], successors: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Strongly connected components of what the roots reach, last first (Tarjan 1972).

    The last block of each is the one by which the search entered it.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    placed: set[int] = set()
    found: list[list[int]] = []
    for root in roots:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        path = [(root, iter(successors[root]))]
        while path:
            block, rest = path[-1]
            for other in rest:
                if other not in allowed:
                    continue
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    path.append((other, iter(successors[other])))
                    break
                if other not in placed:
                    low[block] = min(low[block], number[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[block])
                if low[block] == number[block]:
                    cut = stack.index(block)
                    component = stack[cut:][::-1]
                    del stack[cut:]
                    placed.update(component)
                    found.append(component)
    return found
