"""Executing the ops of a body, by some threads of a CTA."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from .call import Call
from .cta import Cta, Running
from .findings import Finding, NoMeaning, Undefined
from .numbers import Array
from .program import Body
from .registry import Value


class Role(NamedTuple):
    """What the meaning of a branch gives whose threads do not come back, or come later.

    Attributes:
        threads: which they are.
        running: what they execute.
        comes_back: whether they then go on behind the branch, by themselves.
    """

    threads: Array
    running: Running
    comes_back: bool = False


def execute(
    cta: Cta,
    body: Body,
    active: Array,
    arguments: Sequence[Value] = (),
    values: list[Value] | None = None,
    *,
    parts: bool = False,
) -> Running:
    """Execute a body; gives what its last op hands on.

    Args:
        cta: whose threads they are.
        body: the ops.
        active: which threads.
        arguments: of the body's block.
        values: by number, of these threads alone; by default the CTA's.
        parts: whether warps may go on behind a branch while others still wait in it.

    Raises:
        NoMeaning: at an op that has no interpretation.
        Undefined: if the CTA executes more ops than it may.
    """
    values = cta.values if values is None else values
    for at, value in zip(body.parameters, arguments, strict=True):
        values[at] = value
    for number, node in enumerate(body.nodes):
        if node.meaning is None:
            raise NoMeaning(node.name, node.op.location)
        cta.steps += 1
        if cta.steps > cta.limit:
            message = f"executes more than {cta.limit} ops"
            raise Undefined(Finding("endless", message, node.op.location))
        call = Call(cta, node, active, values, parts)
        found = node.meaning.act(call, *[values[at] for at in node.inputs])
        if node.meaning.control:
            found = yield from found
            if isinstance(found, Role):
                active = active & ~found.threads
                if found.comes_back:
                    rest = Body((), body.nodes[number + 1 :], ())
                    cta.roles.append(_with_rest(cta, rest, found, list(values)))
                else:
                    cta.roles.append(_with_end(cta, body, found))
                    cta.present = cta.present & ~found.threads
                found = ()
        if node.outputs:
            several = found if isinstance(found, tuple) else (found,)
            for at, value in zip(node.outputs, several, strict=True):
                values[at] = value
    return tuple(values[at] for at in body.results)


_OF_ALL = frozenset({"nvvm.cluster.arrive", "nvvm.cluster.wait"})
"""Ops at the end of a kernel that threads execute whatever their role was, before they exit."""


def _with_end(cta: Cta, body: Body, role: Role) -> Running:
    """What threads of a role execute, and then with all others at the end of the kernel."""
    yield from role.running
    last = len(body.nodes)
    while last and body.nodes[last - 1].name in _OF_ALL:
        last -= 1
    found = yield from execute(cta, Body((), body.nodes[last:], ()), role.threads)
    cta.cluster.leave(cta.threads_of(role.threads))
    return found


def _with_rest(cta: Cta, rest: Body, role: Role, values: list[Value]) -> Running:
    """What threads execute that come later, with values of their own."""
    yield from role.running
    return (yield from execute(cta, rest, role.threads, (), values, parts=True))


def together(ctas: Sequence[Cta], running: Sequence[Running]) -> None:
    """Run CTAs to their ends, in turns: one goes on where another waits for it.

    Args:
        ctas: they.
        running: what each executes; roles come to that.

    Raises:
        Undefined: if all that is left waits for something that never comes.
    """
    left: list[Generator[None, None, tuple[Value, ...]]] = list(running)
    while left:
        before, count = sum(cta.steps for cta in ctas), len(left)
        left = [one for one in left if _goes_on(one)]
        ended = len(left) < count
        for cta in ctas:
            left += cta.roles
            cta.roles = []
        if left and not ended and sum(cta.steps for cta in ctas) == before:
            raise Undefined(_deadlock(ctas))


def _goes_on(running: Running) -> bool:
    """Let something run until it waits; whether there is more of it."""
    try:
        next(running)
    except StopIteration:
        return False
    return True


def _deadlock(ctas: Sequence[Cta]) -> Finding:
    node = next(cta.waits for cta in ctas if cta.waits is not None)
    message = f"'{node.name}' op waits forever"
    return Finding("deadlock", message, node.op.location)
