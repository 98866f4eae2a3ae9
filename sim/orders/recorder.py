"""Records what the warps of a wave do that other warps may come before or after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from tilec.isa import WARPGROUP_WARPS

from ..access import Access
from ..alu import Array
from ..checks.operation import Operation
from ..memory import Space
from ..ptx.module import Instruction, Module
from ..wave import Wave
from .ops import Key, Kind, Op, Trace
from .polling import without_results

Thread = tuple[int, int, int]
_KINDS = {
    Access.READ: Kind.READ, Access.WRITE: Kind.WRITE, Access.SYNC_WRITE: Kind.ATOMIC,
    Access.ATOMIC: Kind.ATOMIC, Access.ASYNC_WRITE: Kind.CP_WRITE,
}  # fmt: skip
_BITS = np.uint64(1) << np.arange(32, dtype=np.uint64)


@dataclass(slots=True)
class _Counts:
    """How many copies a warp has issued, and which of them each of its groups ends with.

    Attributes:
        issued: copies issued.
        ends: the number of the last copy of each group.
        lanes: the lanes that closed groups, as bits; 0 before the first.
    """

    issued: int = 0
    ends: list[int] = field(default_factory=list)
    lanes: int = 0


class OrderRecorder:
    """Told by instructions what warps do; makes traces of it.

    Attributes:
        traces: of the waves that have ended, those with equal signatures once.
        reasons: why other orders may have other traces, in words, each once.
        left: ops that may still be recorded.
        dropped: positions of atomics whose results are not used.
    """

    def __init__(self, wave: Wave, module: Module, limit: int) -> None:
        self.dropped = without_results(module)
        self.wave = wave
        self.module = module
        self.traces: list[Trace] = []
        self.reasons: dict[str, None] = {}
        self.left = limit
        self._known: set[int] = set()
        self._warps: dict[tuple[int, int], list[Op]] = {}

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, _ = self.wave.shape
        self._warps = {(cta, warp): [] for cta in range(ctas) for warp in range(warps)}
        self._made: dict[tuple[int, int], int] = {}
        self._copies: dict[tuple[int, int], _Counts] = {}
        self._bulk: dict[tuple[int, int], _Counts] = {}
        self._tensor: dict[tuple[int, int], int] = {}
        self._groups: dict[tuple[int, int], int] = {}
        self._came: dict[int, Array] = {}
        self._asked: dict[int, Thread] = {}
        self._arrived: dict[tuple[int, int, Key], int] = {}

    def end(self) -> None:
        """End a wave whose threads have all exited."""
        ctas, per_cta, _ = self.wave.shape
        size = self.wave.geometry.cluster_ctas
        for first in range(0, ctas, size):
            warps = [self._warps[first + c, w] for c in range(size) for w in range(per_cta)]
            trace = Trace((int(self.wave.numbers[first]), size), warps, per_cta)
            signature = trace.signature()
            if signature not in self._known:
                self._known.add(signature)
                self.traces.append(trace)
        self._warps = {}

    def differs(self, instruction: Instruction, why: str) -> None:
        """What threads do may depend on the order: why."""
        line = self.module.written_line(instruction.position)
        self.reasons[f"line {line} {why}"] = None

    # Ops

    def _cta(self, cta: int) -> int:
        """The place of a CTA in its cluster."""
        return cta % self.wave.geometry.cluster_ctas

    def _add(self, cta: int, warp: int, op: Op) -> None:
        if self.left <= 0:
            self.reasons["the limit on events is reached before the run ends"] = None
            return
        self.left -= 1
        self._warps[cta, warp].append(op)

    def _each(self, threads: Array | None = None) -> Iterator[tuple[int, int, int]]:
        """CTA and number of each warp with some of the threads, and these as bits."""
        mask = self.wave.active() if threads is None else self.wave.full(threads)
        bits = (mask * _BITS).sum(axis=2, dtype=np.uint64)
        for cta, warp in np.argwhere(bits).tolist():
            yield cta, warp, int(bits[cta, warp])

    def _key(self, element: int) -> Key:
        """The mbarrier at an element of 8 bytes of memory."""
        memory = self.wave.memory
        cta, offset = divmod((element << 3) - memory.shared_base, memory.shared_stride)
        return self._cta(cta), offset, self._made.get((cta, offset), 0)

    # Shared memory

    def access(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        values: Sequence[Array] | None = None,
    ) -> None:
        """Threads access memory, that of their CTA if it is shared; they store values."""
        if kind is Access.BARRIER:
            return
        reads = kind is Access.ATOMIC and instruction.position not in self.dropped
        if kind is Access.SYNC_READ or reads:
            self.differs(instruction, "reads what depends on the order")
            return
        if space.name != "shared":
            return
        what = _KINDS[kind]
        threads = self.wave.active() if mask is None else self.wave.full(mask)
        at = self.wave.full(offsets)
        for cta, warp, lanes in self._each(threads):
            places = np.unique(at[cta, warp][threads[cta, warp]])
            op = Op(what, instruction, lanes, cta=self._cta(cta), places=places, size=size)
            if what is Kind.CP_WRITE:
                counts = self._copies.setdefault((cta, warp), _Counts())
                counts.issued += 1
                op.value = counts.issued
            elif what is Kind.WRITE and values is not None:
                op.stored = self._one_value(values, cta, warp, threads[cta, warp])
            self._add(cta, warp, op)

    def _one_value(
        self, values: Sequence[Array], cta: int, warp: int, lanes: Array
    ) -> bytes | None:
        """What lanes of a warp store, chunk by chunk, if it is the same for all of them."""
        found = b""
        for value in values:
            stored = self.wave.full(value)[cta, warp][lanes]
            first = stored[0].tobytes()
            if stored.tobytes() != first * len(stored):
                return None
            found += first
        return found

    def elsewhere(self, instruction: Instruction) -> None:
        """The active threads access shared memory of another CTA."""
        self.differs(instruction, "accesses shared memory of another CTA")

    def fence(self, instruction: Instruction) -> None:
        """The active threads execute `fence.proxy.async`."""
        for cta, warp, lanes in self._each():
            self._add(cta, warp, Op(Kind.FENCE, instruction, lanes))

    # Copies

    def copies_commit(self, instruction: Instruction, *, bulk: bool) -> None:
        """The active threads close a group."""
        known = self._bulk if bulk else self._copies
        for cta, warp, lanes in self._each():
            counts = known.setdefault((cta, warp), _Counts())
            if counts.lanes not in (0, lanes):
                self.differs(instruction, "closes groups of copies by other lanes than before")
            counts.lanes = lanes
            counts.ends.append(counts.issued)

    def copies_wait(
        self, instruction: Instruction, left: int, *, bulk: bool, everything: bool = False
    ) -> None:
        """The active threads wait for their groups but the last `left`, or for all copies."""
        known, kind = (self._bulk, Kind.BULK_WAIT) if bulk else (self._copies, Kind.CP_WAIT)
        for cta, warp, lanes in self._each():
            counts = known.setdefault((cta, warp), _Counts())
            over = len(counts.ends) - left
            number = counts.ends[over - 1] if over > 0 else 0
            number = counts.issued if everything else number
            if number:
                self._add(cta, warp, Op(kind, instruction, lanes, value=number))

    def copies_arrive(
        self, instruction: Instruction, index: Array, threads: Array, *, counts: bool
    ) -> None:
        """Threads have the mbarriers that they name told of their copies; whether that counts."""
        for cta, warp, lanes, element, count in self._objects(index, threads):
            number = self._copies.setdefault((cta, warp), _Counts()).issued
            op = Op(Kind.CP_ARRIVE, instruction, lanes, self._key(element), value=number)
            op.count = count if counts else 0
            self._add(cta, warp, op)

    def load(
        self,
        instruction: Instruction,
        thread: Thread,
        barrier: int,
        operation: Operation | None,
        *,
        bytes_: int,
        arrivals: int,
    ) -> None:
        """A copy to shared memory is issued, or a commit, that an mbarrier is told of.

        Args:
            instruction: the copy or commit.
            thread: who issues it.
            barrier: the 8-byte element of memory of the mbarrier.
            operation: what is known of the bytes that a copy writes.
            bytes_: how many the mbarrier is told.
            arrivals: how many it is told; none of a copy.
        """
        cta, warp, lane = thread
        key = self._key(barrier)
        if arrivals:
            number = self._tensor.get((cta, warp), 0)
            op = Op(Kind.COMMIT, instruction, 1 << lane, key, arrivals, number)
        else:
            op = Op(Kind.COPY, instruction, 1 << lane, key, value=bytes_)
        if operation is not None:
            op.cta, op.places, op.size = self._cta(operation.cta), operation.granules * 16, 16
        elif not arrivals:
            self.differs(instruction, "writes shared memory of another CTA")
        self._add(cta, warp, op)

    def take_over(self, instruction: Instruction, thread: Thread) -> None:
        """A thread asks for the work of a cluster; if several do, what each gets may differ."""
        cluster = thread[0] // self.wave.geometry.cluster_ctas
        if self._asked.setdefault(cluster, thread) != thread:
            self.differs(instruction, "takes work that another thread of the cluster might take")

    def store(self, instruction: Instruction, thread: Thread, operation: Operation | None) -> None:
        """A thread's copy from shared memory is issued; `operation` knows what it reads."""
        cta, warp, lane = thread
        known = self._bulk.setdefault((cta, warp), _Counts())
        known.issued += 1
        op = Op(Kind.BULK_READ, instruction, 1 << lane, value=known.issued)
        if operation is not None:
            op.cta, op.places, op.size = self._cta(operation.cta), operation.granules * 16, 16
        self._add(cta, warp, op)

    # Products

    def product_read(self, instruction: Instruction, cta: int, group: int, granules: Array) -> None:
        """A warpgroup's `wgmma` reads shared memory."""
        for warp in self._warps_of(group):
            number = self._groups.get((cta, warp), 0) + 1
            op = Op(Kind.PRODUCT_READ, instruction, 0xFFFFFFFF, value=number, cta=self._cta(cta))
            op.places, op.size = granules * 16, 16
            self._add(cta, warp, op)

    def _warps_of(self, group: int) -> range:
        first = group * WARPGROUP_WARPS
        return range(first, min(first + WARPGROUP_WARPS, self.wave.shape[1]))

    def product_commit(self, instruction: Instruction) -> None:
        """The active warps close a group of `wgmma`."""
        for cta, warp, lanes in self._each():
            number = self._groups[cta, warp] = self._groups.get((cta, warp), 0) + 1
            self._add(cta, warp, Op(Kind.PRODUCT_COMMIT, instruction, lanes, value=number))

    def product_wait(self, instruction: Instruction, left: int) -> None:
        """The active warps wait for their groups but the last `left`."""
        for cta, warp, lanes in self._each():
            number = self._groups.get((cta, warp), 0) - left
            if number > 0:
                self._add(cta, warp, Op(Kind.PRODUCT_WAIT, instruction, lanes, value=number))

    def tensor_read(
        self, instruction: Instruction, thread: Thread, cta: int, granules: Array
    ) -> None:
        """A thread's `tcgen05` operation reads shared memory of a CTA."""
        home, warp, lane = thread
        number = self._tensor[home, warp] = self._tensor.get((home, warp), 0) + 1
        op = Op(Kind.TENSOR_READ, instruction, 1 << lane, value=number, cta=self._cta(cta))
        op.places, op.size = granules * 16, 16
        self._add(home, warp, op)

    # mbarriers

    def _objects(self, index: Array, threads: Array) -> Iterator[tuple[int, int, int, int, int]]:
        """CTA, warp, lanes, element and number of threads of each mbarrier that threads name."""
        at = np.zeros(self.wave.shape, np.int64)
        at[threads] = index
        for cta, warp, _ in self._each(threads):
            mine = threads[cta, warp]
            for element in np.unique(at[cta, warp][mine]).tolist():
                lanes = mine & (at[cta, warp] == element)
                yield cta, warp, int((lanes * _BITS).sum()), element, int(lanes.sum())

    def init(self, instruction: Instruction, index: Array, threads: Array, counts: Array) -> None:
        """Threads initialise mbarriers."""
        memory = self.wave.memory
        for cta, warp, lanes, element, _ in self._objects(index, threads):
            where = divmod((element << 3) - memory.shared_base, memory.shared_stride)
            self._made[where] = self._made.get(where, 0) + 1
            lane = (lanes & -lanes).bit_length() - 1
            count = int(self.wave.full(counts)[cta, warp, lane])
            self._add(cta, warp, Op(Kind.INIT, instruction, lanes, self._key(element), count))

    def arrive(
        self,
        instruction: Instruction,
        index: Array,
        threads: Array,
        counts: Array,
        expects: Array,
        *,
        drop: bool = False,
    ) -> None:
        """Threads arrive at mbarriers, so often, and have so many bytes expected."""
        kind = Kind.DROP if drop else Kind.ARRIVE
        each, bytes_ = self.wave.full(counts), self.wave.full(expects)
        for cta, warp, lanes, element, _ in self._objects(index, threads):
            chosen = (np.uint64(lanes) & _BITS) != 0
            count = int(each[cta, warp][chosen].sum())
            value = int(bytes_[cta, warp][chosen].sum())
            what = kind if count else Kind.EXPECT
            arrived = cta, warp, self._key(element)
            self._arrived[arrived] = self._arrived.get(arrived, 0) + bool(count)
            self._add(cta, warp, Op(what, instruction, lanes, self._key(element), count, value))

    def waited(
        self, instruction: Instruction, index: Array, threads: Array, asked: Array, *, parity: bool
    ) -> None:
        """Threads see that the phase they ask for is complete."""
        bits = np.full(self.wave.shape, -1, np.int64)
        if parity:
            bits[threads] = asked & 1
        for cta, warp, lanes, element, _ in self._objects(index, threads):
            values = np.unique(bits[cta, warp][(np.uint64(lanes) & _BITS) != 0])
            if len(values) > 1:
                self.differs(instruction, "waits for other phases in other lanes of a warp")
            value = int(values[0])
            key = self._key(element)
            if self._arrived.pop((cta, warp, key), 0) > 1 and not parity:
                self.differs(instruction, "may wait for another arrival than its warp's last")
            op = Op(Kind.WAIT, instruction, lanes, key, value=value)
            self._add(cta, warp, op)

    # Barriers

    def barrier(
        self,
        instruction: Instruction,
        number: int,
        threads: Array,
        counts: Array | None,
        *,
        waits: bool,
    ) -> None:
        """Threads come to a barrier of the CTA; a warp has arrived once all of its lanes have."""
        for cta, warp, lanes in self._whole(number, threads):
            lane = (lanes & -lanes).bit_length() - 1
            count = 0 if counts is None else int(self.wave.full(counts)[cta, warp, lane])
            op = Op(Kind.BARRIER_ARRIVE, instruction, lanes, count=count, value=number)
            self._add(cta, warp, op)
            if waits:
                self._add(cta, warp, Op(Kind.BARRIER_LEAVE, instruction, lanes, value=number))

    def cluster(self, instruction: Instruction, threads: Array, *, waits: bool) -> None:
        """Threads arrive at the barrier of the cluster, or go on from their wait there."""
        kind = Kind.CLUSTER_LEAVE if waits else Kind.CLUSTER_ARRIVE
        for cta, warp, lanes in self._whole(-2 if waits else -1, threads):
            self._add(cta, warp, Op(kind, instruction, lanes))

    def _whole(self, number: int, threads: Array) -> list[tuple[int, int, int]]:
        """Warps of which all lanes have come to something, with these threads."""
        came, live = self._came.get(number), self.wave.live
        came = self.wave.full(threads) if came is None else came | threads
        missing: Array = ~came if live is None else live & ~came
        here: Array = np.asarray(self.wave.full(threads).any(axis=2))
        whole: Array = here & ~missing.any(axis=2)
        found = list(self._each(came & whole[..., None]))
        self._came[number] = came & ~whole[..., None]
        return found
