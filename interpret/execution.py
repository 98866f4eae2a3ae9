"""Executing the ops of a body, by some threads of a CTA."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

from .call import Call
from .cta import Cta
from .findings import Finding, NoMeaning, Undefined
from .numbers import Array
from .program import Body
from .registry import Value

Running: TypeAlias = Generator[None, None, tuple[Value, ...]]
"""What executes ops, and yields while it waits for others."""


def execute(cta: Cta, body: Body, active: Array, arguments: Sequence[Value] = ()) -> Running:
    """Execute a body; gives what its last op hands on.

    Args:
        cta: whose threads they are.
        body: the ops.
        active: which threads.
        arguments: of the body's block.

    Raises:
        NoMeaning: at an op that has no interpretation.
        Undefined: if the CTA executes more ops than it may.
    """
    values = cta.values
    for at, value in zip(body.parameters, arguments, strict=True):
        values[at] = value
    for node in body.nodes:
        if node.meaning is None:
            raise NoMeaning(node.name, node.op.location)
        cta.steps += 1
        if cta.steps > cta.limit:
            message = f"executes more than {cta.limit} ops"
            raise Undefined(Finding("endless", message, node.op.location))
        call = Call(cta, node, active)
        found = node.meaning.act(call, *[values[at] for at in node.inputs])
        if node.meaning.control:
            found = yield from found
        if node.outputs:
            several = found if isinstance(found, tuple) else (found,)
            for at, value in zip(node.outputs, several, strict=True):
                values[at] = value
    return tuple(values[at] for at in body.results)
