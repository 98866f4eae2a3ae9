"""A schedule as the JSON of Chrome's trace event format, which Perfetto opens.

Times are microseconds there; cycles are in `args`. A process is a CTA, its threads are its warps;
the last process is the SM of the first CTA, with a thread for each of its units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from tilec.isa.gpus import Gpu

from ..ptx.module import Instruction
from ..timeline.kinds import kind_of
from .pipes import TITLES
from .warps import WarpState

Made = dict[str, object]
Place = Callable[[Instruction], tuple[int, str]]
"""The line of an instruction in the PTX, and what it was compiled from, as `file:line`."""

_LABEL = "estimate of a first-order timing model, not measured"


def trace(
    about: dict[str, object],
    warps: Sequence[WarpState],
    pipes: Mapping[str, list[list[list[float]]]],
    place: Place,
    gpu: Gpu,
) -> str:
    """The JSON text.

    Args:
        about: what is said of the whole.
        warps: of all CTAs.
        pipes: the cycles in which each unit of a kind is busy.
        place: where instructions stand.
        gpu: its clock is the time.
    """
    events = [*_warps(warps, place, gpu), *_units(pipes, len({w.pid for w in warps}), gpu)]
    return json.dumps(
        {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {**about, "note": _LABEL}},
        separators=(",", ":"),
    )


def _warps(warps: Sequence[WarpState], place: Place, gpu: Gpu) -> Iterator[Made]:
    named: set[int] = set()
    for warp in warps:
        if warp.pid not in named:
            named.add(warp.pid)
            yield _named("process_name", warp.pid, 0, f"CTA {warp.pid} ({_LABEL})")
        yield _named("thread_name", warp.pid, warp.warp, f"warp {warp.warp}")
        yield from _slices(warp, place, gpu)


def _units(pipes: Mapping[str, list[list[list[float]]]], pid: int, gpu: Gpu) -> Iterator[Made]:
    yield _named("process_name", pid, 0, f"SM of {gpu.name} ({_LABEL})")
    tid = 0
    for name, kind in pipes.items():
        for number, spans in enumerate(kind):
            if not spans:
                continue
            tid += 1
            title = TITLES[name] + (f", part {number}" if len(kind) > 1 else "")
            yield _named("thread_name", pid, tid, title)
            for begin, end in spans:
                yield _complete(TITLES[name], "unit", pid, tid, begin, end, gpu, {})


def _slices(warp: WarpState, place: Place, gpu: Gpu) -> Iterator[Made]:
    """What a warp did; what it goes on with beside the next is drawn up to that."""
    slices = sorted(warp.slices, key=lambda one: one.begin)
    ends = [*(one.begin for one in slices[1:]), float("inf")]
    for one, after in zip(slices, ends, strict=True):
        end = min(one.end, after)
        if end <= one.begin:
            continue
        line, source = place(one.instruction)
        about: Made = {"line": line, **({"source": source} if source else {})}
        name: str = f"waits for {one.cause}" if one.cause else one.instruction.mnemonic
        kind: str = "wait" if one.cause else kind_of(one.instruction)
        yield _complete(name, kind, warp.pid, warp.warp, one.begin, end, gpu, about)


def _complete(
    name: str, kind: str, pid: int, tid: int, begin: float, end: float, gpu: Gpu, about: Made
) -> Made:
    scale = 1e6 / gpu.hertz
    cycles = {"cycle": begin, "cycles": end - begin, **about}
    return {
        "name": name, "cat": kind, "ph": "X", "ts": begin * scale, "dur": (end - begin) * scale,
        "pid": pid, "tid": tid, "args": cycles,
    }  # fmt: skip


def _named(what: str, pid: int, tid: int, name: str) -> Made:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}
