"""`clusterlaunchcontrol`: CTAs take over the work of clusters that have not started.

PTX ISA 9.7.13.17, 9.7.13.18. What the 16 bytes of a response mean is not published; here they are
the place of the cluster's first CTA, and a word that says whether there is one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..alu import Array
from ..binding import Binding
from ..checks.in_flight import Thread
from ..machine import Machine, Step
from ..ptx.module import Instruction
from ..taint.flows import Flow, Flowing, harm, smear
from ..traits import First, Traits, Unit
from .delivery import Courier, Place, places
from .mbarrier import MBarrier
from .moves import elements
from .registry import instruction

_BYTES = 16
_TAKEN, _FAILED = 0x434C4331, 0x434C4330
"""The last word of a response."""
_KIND = "launch-control"
_AXES = {
    "get_first_ctaid.v4": (0, 1, 2, 3),
    "get_first_ctaid::x": (0,),
    "get_first_ctaid::y": (1,),
    "get_first_ctaid::z": (2,),
}
"""Words of a response that a query gives."""


def _asks(found: Instruction) -> bool:
    return found.modifiers[:1] == ("try_cancel",)


def _traits(found: Instruction) -> Traits:
    if _asks(found):
        return Traits(first=First.SOURCE, asynchronous=True, takes_over=True)
    return Traits(response=True)


def _unit(found: Instruction) -> Unit:
    return Unit.COPY if _asks(found) else Unit.ARITHMETIC


def _flow(flowing: Flowing) -> Flow:
    return (harm if _asks(flowing.binding.instruction) else smear)(flowing)


@instruction("clusterlaunchcontrol", traits=_traits, unit=_unit, undefined=_flow)
def _bind(binding: Binding) -> Step:
    words = binding.modifiers
    if _asks(binding.instruction):
        return _try_cancel(binding)
    if words == ("query_cancel", "is_canceled", "pred", "b128"):
        return _is_canceled(binding)
    if words[:1] == ("query_cancel",) and words[-2:] == ("b32", "b128"):
        return _first_cta(binding)
    raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")


def _try_cancel(binding: Binding) -> Step:
    """A request of each thread: the response comes when its mbarrier is asked."""
    target, barrier = binding.expect(2)
    to = binding.locate(target)
    objects = MBarrier(binding, barrier)
    casts = "multicast::cluster::all" in binding.modifiers
    machine, courier = binding.machine, Courier(binding)
    everyone = (1 << machine.geometry.cluster_ctas) - 1 if casts else None
    stride = machine.memory.shared_stride

    def step() -> None:
        index, chosen = objects.places()
        barriers = dict(zip(map(tuple, np.argwhere(chosen).tolist()), index.tolist(), strict=True))
        for place in places(machine, to):
            if place.thread not in barriers:
                continue
            _check_asked(binding, place.thread)
            if machine.observer is not None and machine.observer.orders is not None:
                machine.observer.orders.take_over(binding.instruction, place.thread)
            response = _response(machine)
            for one, far in courier.receivers(place, everyone):
                object_ = barriers[place.thread] + far * (stride >> 3)
                if not courier.legal(one, _BYTES, _BYTES, writes=True):
                    courier.tell(place.thread, object_, _BYTES)
                    continue
                move = _writer(machine, one, response)
                courier.load(one, np.array([one.offset]), object_, _BYTES, move)

    return step


def _check_asked(binding: Binding, thread: Thread) -> None:
    """Blame a warp for a request after it has seen that one before failed."""
    machine = binding.machine
    if machine.observer is not None and thread[:2] in machine.refused:
        machine.observer.blame(
            _KIND, binding.instruction, thread,
            "asks for another cluster, though its warp has seen that a request before failed",
        )  # fmt: skip


def _response(machine: Machine) -> Array:
    """The words of the response to a request."""
    assert machine.pending is not None
    found = machine.pending.take()
    words = (0, 0, 0, _FAILED) if found is None else (*found, _TAKEN)
    return np.array(words, np.uint32)


def _writer(machine: Machine, place: Place, words: Array) -> Callable[[int], None]:
    """Writes a response to an offset in shared memory."""

    def move(base: int) -> None:
        at = base + place.offset
        machine.memory.data[at : at + _BYTES] = words.view(np.uint8)

    return move


def _is_canceled(binding: Binding) -> Step:
    target, response = binding.expect(2)
    to, slot = binding.target(target, "pred"), binding.source(response, "b128")
    machine = binding.machine

    def step() -> None:
        said = elements(machine.registers[slot], 32)[..., 3]
        _check_response(binding, machine.full(said))
        failed = machine.active() & (machine.full(said) == _FAILED)
        for cta, warp in np.argwhere(failed.any(axis=2)).tolist():
            machine.refused.add((cta, warp))
        if to is not None:
            machine.write(to, said == _TAKEN)

    return step


def _first_cta(binding: Binding) -> Step:
    """Coordinates of the first CTA: one of them, or all and a fourth number that means nothing."""
    target, response = binding.expect(2)
    what, items = ".".join(binding.modifiers[1:-2]), binding.items(target)
    axes = _AXES.get(what, ())
    if not axes or len(items) != len(axes):
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    to = [binding.target(item, "b32") for item in items]
    slot = binding.source(response, "b128")
    machine = binding.machine

    def step() -> None:
        words = elements(machine.registers[slot], 32)
        said = machine.full(words[..., 3])
        _check_response(binding, said)
        _blame_first(
            binding, machine.active() & (said == _FAILED),
            "asks for the first CTA of a cluster that was not canceled",
        )  # fmt: skip
        for axis, one in zip(axes, to, strict=True):
            if one is not None:
                machine.write(one, words[..., axis])

    return step


def _check_response(binding: Binding, said: Array) -> None:
    other = binding.machine.active() & (said != _TAKEN) & (said != _FAILED)
    _blame_first(binding, other, "decodes 16 bytes that are not the response to a try_cancel")


def _blame_first(binding: Binding, threads: Array, words: str) -> None:
    observer = binding.machine.observer
    if observer is not None and threads.any():
        cta, warp, lane = np.argwhere(threads)[0].tolist()
        observer.blame(_KIND, binding.instruction, (cta, warp, lane), words)
