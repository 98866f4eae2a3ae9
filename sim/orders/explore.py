"""All orders of a trace, up to those that differ in nothing that matters.

One order is made first. Wherever two of its steps could have come the other way round, and that
matters (`objects`), an order is made in which they do; and so on with each of these (Flanagan and
Godefroid, "Dynamic partial-order reduction for model checking software", 2005). Orders in which
every step counts in the same phase are one. Where no two steps could change places there is no
other order: whatever happened in the first holds in all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from .model import Model
from .objects import Race
from .ops import Trace
from .order import Fault, Name, Order
from .run import Run
from .strays import stray


@dataclass(slots=True)
class Exploration:
    """What came of it.

    Attributes:
        orders: how many there are that differ.
        steps: steps taken.
        faults: what is wrong in the first order that has something wrong.
        order: that order.
        swaps: the pairs of steps by which it differs from the first order, each with the order it
            was found in.
        complete: whether all orders have been made, or one with a fault.
    """

    orders: int = 0
    steps: int = 0
    faults: list[Fault] = field(default_factory=list)
    order: Order | None = None
    swaps: list[tuple[Order, Race]] = field(default_factory=list)
    complete: bool = True


def explore(trace: Trace, limit: int) -> Exploration:
    """Make the orders of a trace until one has a fault, or about `limit` steps are taken."""
    model, found = Model(trace), Exploration()
    known, earliest = set[int](), None
    waiting: deque[tuple[Sequence[Name], list[tuple[Order, Race]]]] = deque([((), [])])
    while waiting:
        first, swaps = waiting.popleft()
        if found.orders and found.steps >= limit:
            found.complete = False
            break
        order = Run(model, first).finish()
        found.steps += len(order.names)
        earliest = earliest or order
        if not order.faults and (fault := stray(model, earliest, order)):
            order.faults.append(fault)
        if order.faults:
            found.orders += 1
            found.faults, found.order, found.swaps = order.faults, order, swaps
            break
        if order.identity in known:
            continue
        known.add(order.identity)
        found.orders += 1
        waiting.extend((_swapped(order, race), [*swaps, (order, race)]) for race in order.races)
    return found


def _swapped(order: Order, race: Race) -> list[Name]:
    """The steps up to one that comes before another, without what depends on the other.

    A step depends on those that it comes after in every order with the same phases, and on those
    that it may change places with: it would take another phase without them.
    """
    first, second = race
    roots, kept = [first], []
    before: dict[int, list[int]] = {}
    for one, other in order.races:
        before.setdefault(other, []).append(one)
    left = {first}
    for number in range(first + 1, second):
        if any(order.precedes(root, number) for root in roots):
            left.add(number)
        elif left.intersection(before.get(number, ())):
            left.add(number)
            roots.append(number)
        else:
            kept.append(number)
    return [*order.names[:first], *(order.names[n] for n in kept), order.names[second]]
