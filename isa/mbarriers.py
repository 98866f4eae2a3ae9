"""`mbarrier`: barriers in shared memory with phases and counts. PTX ISA 9.7.13.15."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .instruction_class import Instruction
from .targets import Since

_SECTION = "9.7.13.15"
_AMPERE = (Since.of("sm_80", "7.8"),)
"""mbarrier itself is of PTX 7.0; `::cta` is written from 7.8 on."""
_ORDERED = (Since.of("sm_80", "8.0"),)
_HOPPER = (Since.of("sm_90", "8.0"),)
_RELAXED = (Since.of("sm_90", "8.6"),)
_OWN, _ANY = "shared::cta", "shared::cluster"


def _make(
    ptx: str,
    operands: str,
    since: tuple[Since, ...],
    space: str = _OWN,
    result: str = "",
    optional: str = "",
) -> Instruction:
    results = (result,) if result else ()
    addresses = (("bar", space),) if "bar" in operands else ()
    return Instruction(
        ptx,
        "mbarrier",
        operands,
        since,
        _SECTION,
        addresses=addresses,
        optional=optional,
        results=results,
    )


def _since(order: str, scope: str, space: str) -> tuple[Since, ...]:
    """What an arrival or a wait of this order asks for; of the own CTA, Ampere has it."""
    if order == "relaxed":
        return _RELAXED
    return _ORDERED if (scope, space) == ("cta", _OWN) else _HOPPER


def _arrivals() -> Iterator[Instruction]:
    """What counts down the pending arrivals, with or without bytes to come."""
    spaces = ((_OWN, "state"), (_ANY, "_"))
    for verb, order, scope, (space, result) in cross(
        ("arrive", "arrive_drop"), ("release", "relaxed"), ("cta", "cluster"), spaces
    ):
        tail = f"{order}.{scope}.{space}.b64"
        since = _since(order, scope, space)
        written = "state" if result == "state" else ""
        # The count, which is 1 without, is Hopper's.
        yield _make(f"mbarrier.{verb}.{tail}", f"{result}, [bar]", since, space, written, "count")
        late = _RELAXED if order == "relaxed" else _HOPPER
        operands = f"{result}, [bar], bytes"
        yield _make(f"mbarrier.{verb}.expect_tx.{tail}", operands, late, space, written)
    for verb in ("arrive", "arrive_drop"):
        ptx = f"mbarrier.{verb}.noComplete.release.cta.{_OWN}.b64"
        yield _make(ptx, "state, [bar], count", _ORDERED, result="state")


def _waits() -> Iterator[Instruction]:
    """Whether a phase, given by its state or parity, has completed."""
    for verb, parity, order, scope in cross(
        ("test_wait", "try_wait"), ("", ".parity"), ("acquire", "relaxed"), ("cta", "cluster")
    ):
        ptx = f"mbarrier.{verb}{parity}.{order}.{scope}.{_OWN}.b64"
        tries = verb == "try_wait"
        since = _since(order, scope, _ANY if tries else _OWN)
        phase = "parity" if parity else "state"
        # `hint`: nanoseconds after which it gives up.
        optional = "hint" if tries else ""
        yield _make(ptx, f"p, [bar], {phase}", since, result="p", optional=optional)


def instructions() -> Iterator[Instruction]:
    """Every one."""
    yield _make(f"mbarrier.init.{_OWN}.b64", "[bar], count", _AMPERE)
    yield _make(f"mbarrier.inval.{_OWN}.b64", "[bar]", _AMPERE)
    yield from _arrivals()
    for verb, scope, space in cross(("expect_tx", "complete_tx"), ("cta", "cluster"), (_OWN, _ANY)):
        ptx = f"mbarrier.{verb}.relaxed.{scope}.{space}.b64"
        yield _make(ptx, "[bar], bytes", _HOPPER, space)
    yield from _waits()
    yield _make(
        "mbarrier.pending_count.b64", "count, state", (Since.of("sm_80", "7.0"),), result="count"
    )
    for noinc in ("", ".noinc"):
        yield _make(f"cp.async.mbarrier.arrive{noinc}.{_OWN}.b64", "[bar]", _AMPERE)
