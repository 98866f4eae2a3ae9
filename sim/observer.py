"""Watches what instructions do: checks it and counts it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES
from tilec.isa.wording import counted

from .access import Access
from .alu import Array
from .checks.bounds import Bounds
from .checks.global_memory import GlobalChecks
from .checks.local import LocalChecks
from .checks.mbarriers import MBarrierChecks
from .checks.peer_races import PeerRaces
from .checks.peers import Peers
from .checks.progress import Progress
from .checks.semantics import Reach, fenced, semantics
from .checks.shared import SharedChecks
from .checks.visitors import Touching
from .clusters import Clusters
from .findings import Findings
from .memory import Space
from .phases import Phases
from .ptx.module import Instruction
from .registers import Registers
from .taint.state import Taint
from .traffic import Traffic

if TYPE_CHECKING:
    from tilec.isa import MatrixMemory

    from .checks.in_flight import InFlight, Thread
    from .checks.operation import Operation
    from .checks.tensor_memory import TensorChecks
    from .checks.warpgroups import Warpgroups
    from .orders.recorder import OrderRecorder


class Observer:
    """Checks and counts, called by the instructions of a run with checks.

    Attributes:
        findings: what has been found wrong.
        taint: what is undefined.
        local: which bytes of local memory have been written.
        traffic: what has been counted.
        in_flight: what the asynchronous proxy does to shared memory; None of a kernel that has no
            instructions for it.
        warpgroups: the products in flight; None likewise.
        tensor: what tensor memory is used for; None likewise.
        mbarriers: checks of those, and what they order.
        peers: whether the CTAs of a cluster are there when others touch their shared memory.
        peer_races: in which order they do.
        orders: records what may come in another order; None if nobody asks for that.
    """

    def __init__(
        self,
        wave: Registers,
        findings: Findings,
        phases: Phases,
        clusters: Clusters,
        *,
        asynchronous: bool = False,
    ) -> None:
        self.wave = wave
        self.phases = phases
        self._clusters = clusters
        self._asynchronous = asynchronous
        self.taint = Taint(wave, findings)
        self.warpgroups: Warpgroups | None = None
        self.restart(findings)

    def restart(self, findings: Findings) -> None:
        """Begin a launch, whose memory is laid out, of what is bound to this observer.

        What instructions may be bound to stays: this, `taint` and `warpgroups`.
        """
        wave, phases = self.wave, self.phases
        self.orders: OrderRecorder | None = None
        self.peers = Peers(wave, findings, self._clusters, phases)
        self.findings = findings
        self.bounds = Bounds(wave.memory, findings)
        self.traffic = Traffic(wave)
        self.progress = Progress(wave)
        self.taint.restart(findings)
        self.local = LocalChecks(wave, self.taint)
        self.shared = SharedChecks(wave, findings, self.progress, self.taint)
        self.global_ = GlobalChecks(wave, findings, self.progress)
        self.peer_races = PeerRaces(wave, findings, self.progress, self.shared)
        self.in_flight: InFlight | None = None
        self.tensor: TensorChecks | None = None
        if self._asynchronous:
            self._watch_copies()
        self.mbarriers = MBarrierChecks(wave, findings, phases, self.progress, self.in_flight)

    def _watch_copies(self) -> None:
        """Check what the asynchronous proxy does."""
        from .checks.global_proxies import GlobalProxies  # noqa: PLC0415 (few kernels have any)
        from .checks.in_flight import InFlight  # noqa: PLC0415
        from .checks.tensor_memory import TensorChecks  # noqa: PLC0415
        from .checks.warpgroups import Warpgroups  # noqa: PLC0415

        wave, findings, progress = self.wave, self.findings, self.progress
        self.global_.proxies = GlobalProxies(wave, findings)
        flight = InFlight(wave, findings, progress, self.shared, self.peer_races)
        self.in_flight = flight
        if self.warpgroups is None:
            self.warpgroups = Warpgroups(wave, findings, flight)
        else:
            self.warpgroups.restart(findings, flight)
        self.tensor = TensorChecks(wave, findings, progress, flight)

    def record(self, orders: OrderRecorder) -> None:
        """Have recorded what may come in another order."""
        self.orders = orders
        if self.warpgroups is not None:
            self.warpgroups.orders = orders
        if self.tensor is not None:
            self.tensor.orders = orders

    def begin(self) -> None:
        """Begin a wave."""
        self.progress.begin()
        self.taint.begin()
        self.local.begin()
        self.peers.begin()
        self.peer_races.begin()
        self.shared.begin()
        self.global_.begin()
        if self.in_flight is not None:
            self.in_flight.begin()
        if self.warpgroups is not None:
            self.warpgroups.begin()
        if self.tensor is not None:
            self.tensor.begin()
        if self.orders is not None:
            self.orders.begin()

    def end(self, *, completed: bool = True) -> None:
        """End a wave, whose threads may all have come to their end."""
        self.global_.end()
        if completed:
            self.shared.unread.end(self.shared)

    def access(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        form: MatrixMemory | None = None,
        *,
        counted: bool = True,
        values: Sequence[Array] | None = None,
    ) -> Array | None:
        """An access to memory, before it happens.

        Args:
            instruction: the instruction.
            space: the state space.
            offsets: offset in the space of each thread.
            size: bytes of each thread.
            mask: which threads; None for all.
            kind: what they do.
            form: the matrix instruction whose rows these are, if it is one.
            counted: whether its sectors or wavefronts are counted.
            values: the chunks, low to high, that each thread writes, where they are known.

        Returns:
            The threads whose access may happen; `mask` itself if they all may.
        """
        taint = self.taint
        if taint.replaying:
            return taint.replayed(space, offsets, size, mask, kind, values)
        if space.name == "shared::cluster":
            if self.orders is not None and kind is not Access.BARRIER:
                self.orders.elsewhere(instruction)
            return self._access_peer(instruction, space, offsets, size, mask, kind)
        legal = self.bounds.check(instruction, space, offsets, size, mask, kind)
        if kind.orders:
            self.progress.acquire(legal)
        if self.orders is not None:
            self.orders.access(instruction, space, offsets, size, legal, kind, values)
        if space.name == "shared":
            if counted:
                self.traffic.count_shared(instruction, offsets, size, legal, kind, form)
            self.shared.access(instruction, offsets, size, legal, kind)
            self.peer_races.own(instruction, offsets, size, legal, kind)
            if self.in_flight is not None:
                self.in_flight.generic(instruction, offsets, size, legal, kind)
        elif space.name == "global":
            if counted:
                self.traffic.count_global(instruction, offsets, legal)
            if kind.writes and self.shared.copies.pending:
                self._sources(instruction, offsets, size, legal)
            allocation = self.bounds.allocation
            self.global_.access(instruction, allocation, offsets, size, legal, kind, values)
            if kind.synchronises and self.global_.grid.on:
                self.global_.grid.clocks.access(instruction, allocation, offsets, legal, kind)
        elif space.name == "local":
            self.local.access(instruction, space, offsets, size, legal, kind)
        if taint.active:
            taint.touch(instruction, space, offsets, size, legal, kind)
        if kind.orders:
            self.progress.publish(legal)
        return legal

    def _access_peer(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
    ) -> Array:
        """An access to shared memory of other CTAs."""
        legal = self.peers.bounds(instruction, offsets, size, mask)
        if kind.orders:
            self.progress.acquire(legal)
        if legal.any() and kind is not Access.BARRIER:
            self.peer_races.visit(instruction, offsets, size, legal, kind)
            if self.in_flight is not None:
                owners, inside = self._of_peers(space, offsets, legal)
                self.in_flight.generic(instruction, inside, size, legal, kind, owners)
        if kind.orders:
            self.progress.publish(legal)
        return legal

    def _of_peers(self, space: Space, offsets: Array, legal: Array) -> tuple[Array, Array]:
        """The CTAs that threads touch, and where in their shared memory."""
        memory = self.wave.memory
        places = np.where(legal, space.place(offsets) - memory.shared_base, 0)
        owners, inside = np.divmod(places, memory.shared_stride)
        return owners, inside

    def peer(self, instruction: Instruction, thread: Thread, owner: int) -> bool:
        """A thread's copy touches the shared memory of a CTA; whether that is there."""
        return self.peers.visit(instruction, thread, owner)

    def peer_signal(self, instruction: Instruction, index: Array, threads: Array) -> None:
        """Threads take part in phases of mbarriers, by their elements of memory, of other CTAs."""
        ctas, offsets = self.phases.places(index)
        for number, at in enumerate(np.argwhere(threads).tolist()):
            thread = (at[0], at[1], at[2])
            self.peers.signal(instruction, thread, int(ctas[number]), int(offsets[number]))

    def aligned(
        self, instruction: Instruction, space: Space, offsets: Array, size: int, mask: Array | None
    ) -> None:
        """Addresses that must be multiples of `size`."""
        if self.taint.replaying:
            return
        self.bounds.check_alignment(instruction, space, offsets, size, mask)

    def _sources(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None
    ) -> None:
        """A write to global memory while copies are pending."""
        hit = self.shared.copies.overwritten(offsets, size, mask)
        if hit is not None:
            self.findings.add(
                "async",
                instruction,
                hit,
                lambda _: "writes what a cp.async reads, before the wait for it",
            )

    def copy_source(self, offsets: Array, size: Array) -> None:
        """What the asynchronous copy that comes next reads in global memory, in bytes."""
        self.shared.copies.read(offsets, size)

    def meet(self, instruction: Instruction, number: int) -> None:
        """All threads that have not exited come to a barrier together."""
        if self.orders is not None:
            self.orders.barrier(instruction, number, self.wave.active(), None, waits=True)
        if self.wave.mask is not None:
            self._absent(instruction, self.wave.active())
        self.global_.settle()
        self.progress.meet()

    def arrive(self, number: int, threads: Array) -> None:
        """Some threads arrive at a barrier."""
        self.progress.arrive(number, threads)

    def counted(self, instruction: Instruction, count: Array) -> None:
        """The active threads come to a barrier of so many threads."""
        odd = self.wave.active() & (count % LANES != 0)
        if odd.any():
            self.findings.add(
                "barrier",
                instruction,
                odd,
                lambda at: (
                    f"counts {counted(int(count[at]), 'thread')}, which is not a multiple of "
                    f"{LANES}"
                ),
            )

    def named(self, instruction: Instruction, members: Array) -> None:
        """The active threads execute an instruction for the lanes that a mask names."""
        if self.taint.replaying:
            return
        lanes = np.arange(LANES, dtype=np.uint32).reshape(1, 1, LANES)
        outside = self.wave.active() & (members >> lanes & np.uint32(1) == 0)
        if outside.any():
            masks = self.wave.full(members)
            self.findings.add(
                "partial-warp",
                instruction,
                outside,
                lambda at: f"executes it, and is not among its members, {int(masks[at]):#010x}",
            )

    def taken(self, instruction: Instruction, missing: Array) -> None:
        """Threads take values of lanes that do not take part: these are undefined."""
        if not self.taint.active and (missing & self.wave.active()).any():
            self.taint.start(instruction)

    def exited(self, threads: Array) -> None:
        """Threads exit."""
        self.shared.exited(threads)
        if self.warpgroups is not None:
            self.warpgroups.exited(threads)

    def release(
        self, instruction: Instruction, number: int, waiting: Array, done: Array, *, all_: bool
    ) -> None:
        """A barrier is complete in the CTAs `done`; those who waited there go on."""
        if all_:
            self._absent(instruction, waiting)
        self.progress.leave(number, waiting, done)

    def _absent(self, instruction: Instruction, came: Array) -> None:
        """A barrier of all threads that is complete because some have exited."""
        warps, lanes = came.shape[1:]
        exist = np.arange(warps * lanes).reshape(1, warps, lanes) < self.wave.geometry.threads
        some = np.asarray(came.any(axis=(1, 2)))
        missing = exist & ~came & some[:, None, None]
        if missing.any():
            self.findings.add(
                "barrier",
                instruction,
                missing,
                lambda _: "has exited and never reaches this barrier",
            )

    def meet_warp(self) -> None:
        """Lanes of warps come to `bar.warp.sync`."""
        self.progress.meet_warp()

    def fence(self, instruction: Instruction) -> None:
        """Threads publish what they have done."""
        if self.global_.grid.on and semantics(instruction).reach is Reach.GRID:
            self.global_.grid.clocks.fence()
        self.progress.publish()

    def finished(self, operation: Operation, thread: Thread) -> None:
        """A thread has waited for a copy of its own."""
        if self.in_flight is not None:
            warps = np.zeros(self.wave.shape[1], np.bool_)
            warps[thread[1]] = True
            self.in_flight.finish(operation, warps)

    def left_behind(self, instruction: Instruction, thread: Thread) -> None:
        """A thread has exited before a wait for a copy that reads shared memory."""
        self.blame(
            "async",
            instruction,
            thread,
            "exits without a wait for this copy, which may read shared memory that is gone",
        )

    def never_awaited(self, instruction: Instruction, thread: Thread) -> None:
        """The wave ends before anybody has waited for a copy to shared memory."""
        self.blame(
            "async",
            instruction,
            thread,
            "issues a copy that no thread waits for: it may write shared memory that is gone",
        )

    def blame(self, kind: str, instruction: Instruction, thread: Thread, words: str) -> None:
        """Note what a thread did wrong."""
        threads = np.zeros(self.wave.shape, np.bool_)
        threads[thread] = True
        self.findings.add(kind, instruction, threads, lambda _: words)

    def span(
        self,
        instruction: Instruction,
        thread: Thread,
        space: str,
        offset: int,
        size: int,
        align: int,
        kind: Access,
    ) -> bool:
        """A thread's copy touches bytes that follow each other; whether it may."""
        threads = np.zeros(self.wave.shape, np.bool_)
        threads[thread] = True
        where = self.wave.memory.spaces[space]
        unit = min(align, 16)
        legal = True
        for at in sorted({offset, max(offset + size - unit, offset)}):
            offsets = np.full((1, 1, 1), at, np.int64)
            found = self.bounds.check(instruction, where, offsets, unit, threads, kind)
            legal &= found is None or bool(found[thread])
        if offset % align and legal:
            self.blame(
                "misaligned",
                instruction,
                thread,
                f"names {offset:#x}, which is not a multiple of {align}",
            )
            legal = False
        return legal

    def overwritten(self, touching: Touching) -> None:
        """Threads have something defined sent to the shared memory of other CTAs."""
        memory = self.wave.memory
        first = memory.shared_base + touching.owners * memory.shared_stride
        self.taint.overwrite(first[:, None] + touching.bytes())

    def proxy_fence(self, instruction: Instruction, threads: Array) -> None:
        """Threads order what they did by the generic proxy before what the other does."""
        spaces = fenced(instruction)
        if "global" in spaces and self.global_.proxies is not None:
            self.global_.proxies.fence(threads)
        if "shared" not in spaces:
            return
        if self.orders is not None:
            self.orders.fence(instruction)
        if self.in_flight is not None:
            self.in_flight.fence(threads)

    def commit(self, instruction: Instruction) -> None:
        """Threads close a group of copies."""
        if self.orders is not None:
            self.orders.copies_commit(instruction, bulk=False)
        self.shared.commit()

    def wait(self, instruction: Instruction, left: int, *, uncommitted: bool) -> None:
        """Threads wait for their groups of copies but the last `left`."""
        if self.orders is not None:
            self.orders.copies_wait(instruction, left, bulk=False, everything=uncommitted)
        self.shared.wait(left, uncommitted=uncommitted)

    def stored(
        self,
        instruction: Instruction,
        offsets: Array,
        found: Array,
        values: Array,
        mask: Array | None,
    ) -> None:
        """After a store to shared memory: what is there now."""
        if self.taint.replaying:
            return
        self.shared.stored(instruction, offsets, found, values, mask)

    def whole_warps(self, instruction: Instruction) -> None:
        """A matrix instruction is executed by the active threads."""
        if self.taint.replaying:
            return
        active = self.wave.active()
        partial = np.asarray(active.any(axis=2) & ~active.all(axis=2))
        if partial.any():
            self.findings.add(
                "partial-warp",
                instruction,
                active & partial[..., None],
                lambda at: (
                    "executes it in a warp with only "
                    f"{counted(int(active[at[0], at[1]].sum()), 'active lane')}"
                ),
            )
