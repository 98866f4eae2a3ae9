"""The order in which blocks are walked, so that threads that parted meet where their paths join.

Blocks come in topological order, and those of a loop together, from its first: whoever is in it
goes on before those who left it. The order of the text is another where a loop is rotated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Graph = Mapping[int, Sequence[int]]


def ranks(after: Graph) -> dict[int, int]:
    """The place of each block in the order.

    Args:
        after: the blocks that may come after each; the lowest is the first of all.
    """
    return {block: at for at, block in enumerate(_ordered(sorted(after), after, min(after)))}


def _ordered(blocks: Sequence[int], after: Graph, first: int) -> list[int]:
    """Blocks in order; what leads out of them, and back to the first, is left aside."""
    inside = set(blocks)
    edges = {one: [to for to in after[one] if to in inside] for one in blocks}
    found: list[int] = []
    for part in reversed(_components(edges, first)):
        if len(part) == 1:
            found += part
            continue
        entered = {to for one in blocks if one not in part for to in edges[one] if to in part}
        head = first if first in part else min(entered or part)
        within = {one: [to for to in edges[one] if to in part and to != head] for one in part}
        found += [head, *_rest(within, head)]
    return found


def _rest(within: Graph, head: int) -> list[int]:
    """The blocks of a loop after its first."""
    rest = [one for one in sorted(within) if one != head]
    start = next(iter(within[head]), rest[0])
    return _ordered(rest, within, start)


def _components(edges: Graph, first: int) -> list[Collection[int]]:
    """Strongly connected blocks, each after those that come after it (Tarjan, 1972)."""
    found: list[Collection[int]] = []
    numbers: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    for root in (first, *edges):
        if root in numbers:
            continue
        waiting = [(root, iter(edges[root]))]
        numbers[root] = lowest[root] = len(numbers)
        stack.append(root)
        while waiting:
            block, left = waiting[-1]
            for to in left:
                if to not in numbers:
                    numbers[to] = lowest[to] = len(numbers)
                    stack.append(to)
                    waiting.append((to, iter(edges[to])))
                    break
                if to in stack:
                    lowest[block] = min(lowest[block], numbers[to])
            else:
                waiting.pop()
                if waiting:
                    lowest[waiting[-1][0]] = min(lowest[waiting[-1][0]], lowest[block])
                if lowest[block] == numbers[block]:
                    part = stack[stack.index(block) :]
                    del stack[-len(part) :]
                    found.append(sorted(part))
    return found
