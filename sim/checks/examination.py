"""Bytes of global memory that several threads touch: who raced whom, in words."""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..findings import Findings, Place
from ..memory import GLOBAL_BASE
from ..wave import Wave
from .races import Traces, neighbours, repeated
from .stamps import TIME
from .touches import Log, Touches, numbered


class Examination:
    """The touches of some granules of an allocation, in their order.

    Attributes:
        traces: who touched which granule.
        numbers: of each of these, its place among the log's touches.
        places: of each, the granule within the allocation.
    """

    def __init__(self, wave: Wave, log: Log, granule: int, shared: Array) -> None:
        """The touches of the granules `shared`, of at most 8 bytes, in ascending order."""
        self.wave = wave
        self.log = log
        self.granule = granule
        shape = wave.shape
        start = log.allocation.start
        everyone = numbered(shape)
        parts = []
        for number, touches in enumerate(log.touches):
            threads, places = touches.places(start, granule, everyone)
            rows, columns = np.nonzero(_contains(shared, places))
            threads = threads[rows].astype(np.int64) - 1
            content = touches.contents(rows, columns, threads, granule, shape)
            known = np.full(len(rows), content is not None)
            if content is None:
                content = np.zeros(len(rows), np.uint64)
            parts.append(
                (np.full(len(rows), number), threads, places[rows, columns], content, known)
            )
        numbers, threads, places, content, known = (
            np.concatenate(columns) for columns in zip(*parts, strict=True)
        )
        ctas = threads // (shape[1] * shape[2])
        key = ctas * (int(shared[-1]) + 1) + places
        order = np.argsort(key, kind="stable")
        self.numbers, self.places = numbers[order], places[order]
        writes = np.array([touches.kind.writes for touches in log.touches])[self.numbers]
        self.traces = Traces(key[order], threads[order], writes, content[order], known[order])

    def report(self, findings: Findings) -> None:
        """Add what races to the findings, once for each access that came second."""
        earlier, later = neighbours(self.traces)
        racing = self._unordered(earlier, later)
        earlier, later = earlier[racing], later[racing]
        for number in np.unique(self.numbers[later]).tolist():
            touches = self.log.touches[number]
            if not touches.checked:
                chosen = self.numbers[later] == number
                self._add(findings, touches, earlier[chosen], later[chosen])
        self._advise(findings)

    def _advise(self, findings: Findings) -> None:
        """Add writes of one value that nothing orders to the advice."""
        earlier, later = repeated(self.traces)
        racing = self._unordered(earlier, later)
        earlier, later = earlier[racing], later[racing]
        for number in np.unique(self.numbers[later]).tolist():
            touches = self.log.touches[number]
            if not touches.checked and not touches.kind.synchronises:
                chosen = self.numbers[later] == number
                self._add(findings, touches, earlier[chosen], later[chosen], same=True)

    def _unordered(self, earlier: Array, later: Array) -> Array:
        """Which pairs of touches nothing orders."""
        _, warps, lanes = self.wave.shape
        cta, first = np.divmod(self.traces.thread[earlier], warps * lanes)
        second = self.traces.thread[later] % (warps * lanes)
        before, after = self.numbers[earlier], self.numbers[later]
        found = np.zeros(len(earlier), np.bool_)
        sync = np.array([touches.kind.synchronises for touches in self.log.touches])
        for number in np.unique(after).tolist():
            at = np.flatnonzero(after == number)
            seen = self.log.touches[number].seen
            clock = cta[at] if len(seen) > 1 else np.zeros(len(at), np.int64)
            known = seen[clock, second[at] // LANES, first[at] // LANES]
            found[at] = self._times(earlier[at]) > known
        found &= ~(sync[before] & sync[after])
        # Who is the last of several that write at once is only known to matter if values are.
        found &= (before != after) | (self.traces.known[earlier] & self.traces.known[later])
        return found

    def _times(self, touched: Array) -> Array:
        """The time of some touches."""
        shape = self.wave.shape
        found = np.zeros(len(touched), np.int64)
        numbers = self.numbers[touched]
        for number in np.unique(numbers).tolist():
            at = np.flatnonzero(numbers == number)
            stamps = np.broadcast_to(self.log.touches[number].stamp, shape).reshape(-1)
            found[at] = stamps[self.traces.thread[touched[at]]] >> TIME
        return found

    def _add(
        self,
        findings: Findings,
        touches: Touches,
        earlier: Array,
        later: Array,
        *,
        same: bool = False,
    ) -> None:
        shape = self.wave.shape
        threads = np.zeros(shape, np.bool_)
        threads.reshape(-1)[self.traces.thread[later]] = True
        # Of each thread the first byte that it races for.
        first: dict[int, int] = {
            thread: pair
            for pair, thread in reversed(list(enumerate(self.traces.thread[later].tolist())))
        }

        def pair_of(at: Place) -> int:
            return first[int(np.ravel_multi_index(at, shape))]

        def address(at: Place) -> int:
            place = int(self.places[later[pair_of(at)]])
            return GLOBAL_BASE + self.log.allocation.start + place * self.granule

        def words(at: Place) -> str:
            other = int(earlier[pair_of(at)])
            before = self.log.touches[int(self.numbers[other])]
            cta, warp, lane = (int(i) for i in np.unravel_index(self.traces.thread[other], shape))
            name = self.wave.thread_name((cta, warp, lane))
            verb = "writes" if touches.kind.writes else "reads"
            byte = address(at) - GLOBAL_BASE - self.log.allocation.start
            where = f"{verb} byte {byte} of {self.log.allocation.name}"
            if same:
                line = findings.module.written_line(before.instruction.position)
                return (
                    f"{where} with the value that {name} writes there at line {line}, unordered; "
                    f"by the memory model this is a race: let one thread write it"
                )
            if before is touches:
                return f"{where} at the same time as {name}, which writes another value"
            did = "wrote" if before.kind.writes else "read"
            line = findings.module.written_line(before.instruction.position)
            return f"{where}, which {name} {did} at line {line}, without a barrier between them"

        kind = "same-value" if same else "race"
        findings.add(kind, touches.instruction, threads, words, address, harmless=same)


def _contains(sorted_: Array, values: Array) -> Array:
    """Which values are among some sorted ones."""
    at = np.searchsorted(sorted_, values)
    return np.asarray(sorted_[np.minimum(at, len(sorted_) - 1)] == values)
