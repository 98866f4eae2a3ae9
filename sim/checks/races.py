"""Which of many touches of the same granules nothing orders.

Touches of a granule, in the order in which they happened, fall into runs: a write that leaves
another value begins one; what follows it until the next are its reads, and writes of the same
value. Writes of a run do no harm to each other, nor to the read of a thread that is among the
writers. Anything else is held against its neighbours: a write against the run before it, a read
against the writes before and after it. What these are ordered with is ordered with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..alu import Array


@dataclass(slots=True)
class Traces:
    """Touches of granules, sorted by granule, and of each granule by time: arrays of shape (n,).

    Attributes:
        granule: the granule; CTAs have granules of their own.
        thread: who.
        writes: whether the granule is written.
        content: what it holds then.
        known: whether that is known.
    """

    granule: Array
    thread: Array
    writes: Array
    content: Array
    known: Array


def neighbours(traces: Traces) -> tuple[Array, Array]:
    """Pairs of touches, the earlier and the later, that must be ordered; at least one writes."""
    count = len(traces.granule)
    at = np.arange(count)
    begins = np.ones(count, np.bool_)
    begins[1:] = traces.granule[1:] != traces.granule[:-1]
    start = np.maximum.accumulate(np.where(begins, at, 0))
    writes = traces.writes
    before = _last_before(at, writes, start)
    first, last = _runs(traces, before, start)
    reads = np.flatnonzero(~writes)
    exempt = _wrote_it(traces, before, first)[reads]
    pairs = [
        *_writes_after_writes(np.flatnonzero(writes), before, first),
        *_reads_after_writes(reads[~exempt], before, first),
        *_writes_after_reads(reads, exempt, traces, before, last),
    ]
    earlier = np.concatenate([a for a, _ in pairs])
    later = np.concatenate([b for _, b in pairs])
    wanted = (earlier >= 0) & (traces.thread[earlier] != traces.thread[later])
    return earlier[wanted], later[wanted]


def repeated(traces: Traces) -> tuple[Array, Array]:
    """Pairs of writes of one value that follow each other on a granule, by different threads."""
    count = len(traces.granule)
    at = np.arange(count)
    begins = np.ones(count, np.bool_)
    begins[1:] = traces.granule[1:] != traces.granule[:-1]
    start = np.maximum.accumulate(np.where(begins, at, 0))
    before = _last_before(at, traces.writes, start)
    later = np.flatnonzero(traces.writes & (before >= 0))
    earlier = before[later]
    same = traces.known[earlier] & traces.known[later]
    same &= traces.content[earlier] == traces.content[later]
    same &= traces.thread[earlier] != traces.thread[later]
    return earlier[same], later[same]


def _last_before(at: Array, chosen: Array, start: Array) -> Array:
    """The last of the chosen before each place, since `start`; -1 if there is none."""
    latest = np.maximum.accumulate(np.where(chosen, at, -1))
    found = np.concatenate([[-1], latest[:-1]])
    return np.where(found >= start, found, -1)


def _runs(traces: Traces, before: Array, start: Array) -> tuple[Array, Array]:
    """Of each write, the first and the last write of its run."""
    count = len(before)
    at = np.arange(count)
    same = (before >= 0) & traces.known & traces.known[before]
    same &= traces.content == traces.content[before]
    opens = traces.writes & ~same
    first = np.maximum.accumulate(np.where(opens, at, 0))
    # Read backwards, a run ends at the first write that is seen of it.
    run = np.where(traces.writes, first, -1)
    places = np.flatnonzero(traces.writes)
    ends = np.ones(len(places), np.bool_)
    ends[:-1] = run[places[1:]] != run[places[:-1]]
    last = np.full(count, -1)
    closing = np.where(ends, places, count)
    last[places] = np.minimum.accumulate(closing[::-1])[::-1]
    return np.where(first >= start, first, -1), last


def _wrote_it(traces: Traces, before: Array, first: Array) -> Array:
    """Whether a thread has itself written, in the run before it, what it finds."""
    order = np.lexsort((np.arange(len(before)), traces.thread, traces.granule))
    granule, thread = traces.granule[order], traces.thread[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (granule[1:] != granule[:-1]) | (thread[1:] != thread[:-1])
    at = np.arange(len(order))
    start = np.maximum.accumulate(np.where(begins, at, 0))
    own = _last_before(at, traces.writes[order], start)
    found = np.full(len(order), -1)
    found[order] = np.where(own >= 0, order[own], -1)
    opened = np.where(before >= 0, first[before], len(order))
    return np.asarray((found >= 0) & (found >= opened))


Pairs = list[tuple[Array, Array]]


def _writes_after_writes(writes: Array, before: Array, first: Array) -> Pairs:
    """Each write with the first and the last of the run before its own."""
    previous = before[first[writes]]
    opening = np.where(previous >= 0, first[previous], -1)
    return [(previous, writes), (opening, writes)]


def _reads_after_writes(reads: Array, before: Array, first: Array) -> Pairs:
    """Each read with the first and the last write of the run that it finds."""
    previous = before[reads]
    opening = np.where(previous >= 0, first[previous], -1)
    return [(previous, reads), (opening, reads)]


def _writes_after_reads(
    reads: Array, exempt: Array, traces: Traces, before: Array, last: Array
) -> Pairs:
    """Each read with the first write that follows, and the last of that one's run.

    What a thread that is among the writers of its run reads, further writers of it leave alone.
    """
    count = len(before)
    at = np.arange(count)
    following = np.minimum.accumulate(np.where(traces.writes, at, count)[::-1])[::-1]
    past = np.where(exempt, last[before[reads]], reads)
    inside = past + 1 < count
    place = np.where(inside, following[np.minimum(past + 1, count - 1)], count)
    valid = (place < count) & (
        traces.granule[np.minimum(place, count - 1)] == traces.granule[reads]
    )
    reads, place = reads[valid], place[valid]
    return [(reads, place), (reads, last[place])]
