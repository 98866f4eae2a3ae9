"""Tensor memory that products, copies, loads and stores touch, and what orders them.

PTX ISA 9.7.16.6. A product is over for a warp when it has waited for the mbarrier of a commit
behind it, or has met one that has; a load or store when its warp has waited for it, and met the
other. Products of one thread follow each other by themselves, and those of several whose threads a
barrier orders: what one issues comes after what the other has issued before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa.tensor_memory import COLUMNS

from ..alu import Array
from ..findings import Findings
from ..ptx.module import Instruction
from ..report import TENSOR_FENCE
from ..wave import Wave
from .commits import Commit
from .in_flight import InFlight, Thread
from .operation import Operation
from .progress import Progress
from .tensor_fences import TensorFences
from .tensor_records import Accumulator, TensorTouch, Wrong, differ

if TYPE_CHECKING:
    from ..orders.recorder import OrderRecorder

_BEFORE, _AFTER = (f"a tcgen05.fence::{side}_thread_sync" for side in ("before", "after"))
_DEALLOCATES = "deallocates"
"""What no fence is needed for."""


class TensorChecks:
    """What is under way in the tensor memory of a wave."""

    def __init__(
        self, wave: Wave, findings: Findings, progress: Progress, in_flight: InFlight
    ) -> None:
        self.wave = wave
        self.findings = findings
        self.progress = progress
        self.in_flight = in_flight
        self.orders: OrderRecorder | None = None
        self.fences = TensorFences(findings.module, progress)

    def begin(self) -> None:
        """Begin a wave."""
        self._writers: dict[int, list[Operation | None]] = {}
        self._readers: dict[int, list[Operation]] = {}
        self._touches: dict[int, dict[int, dict[int, TensorTouch]]] = {}
        self._open: dict[Thread, list[Operation]] = {}
        self._commits: dict[Thread, Commit] = {}
        self._issuers: dict[int, tuple[int, int, int]] = {}
        """CTA and number of the warp that issued an operation, and when."""
        self._accumulators: dict[int, Accumulator | None] = {}
        """Place and shape of the sums of an operation; None of a copy."""
        self._takers: dict[int, tuple[Instruction, Thread]] = {}
        self._number = 0
        self._restarts = 0
        self.fences.begin()

    def _follow(self) -> None:
        """Have clocks for every CTA, and times that they can be asked of."""
        self.in_flight.operations.follow()
        if self._restarts == self.progress.restarts:
            return
        self._restarts = self.progress.restarts
        for operation in self._operations():
            operation.known = np.minimum(operation.known, 1)
        self._issuers = {n: (c, w, min(when, 1)) for n, (c, w, when) in self._issuers.items()}
        for own in (own for warps in self._touches.values() for own in warps.values()):
            for touch in own.values():
                touch.over, touch.fenced = min(touch.over, 1), min(touch.fenced, 1)
        self.fences.restart()

    def _operations(self) -> Iterator[Operation]:
        for written in self._writers.values():
            yield from (one for one in written if one is not None)
        for others in (*self._readers.values(), *self._open.values()):
            yield from others

    # Products and copies

    def product(
        self,
        instruction: Instruction,
        thread: Thread,
        columns: Array,
        reads: Sequence[tuple[Array, bool]],
        cta: int,
        accumulator: Accumulator | None = None,
    ) -> None:
        """A thread has columns of a CTA written, from granules of that CTA's shared memory.

        Args:
            instruction: the product or copy.
            thread: who issued it.
            columns: each once.
            reads: granules of 16 bytes of each operand, each once, and whether some of their bytes
                are padding.
            cta: the thread's, or the other one of its pair.
            accumulator: of a product: only those with the same one follow each other by
                themselves (PTX ISA 9.7.16.6.2).
        """
        self._after_touches(instruction, thread, columns, "writes", cta)
        self._after_products(instruction, thread, columns, "writes", cta, accumulator)
        issued = self._open.setdefault(thread, [])
        for granules, padded in reads:
            if self.orders is not None:
                self.orders.tensor_read(instruction, thread, cta, granules)
            issued.append(
                self.in_flight.read(instruction, [thread], granules, padded=padded, cta=cta)
            )
        made = self._made(instruction, cta, columns)
        now = int(self.progress.clocks.now[thread[0]])
        self._issuers[made.number] = thread[0], thread[1], now
        self._accumulators[made.number] = accumulator
        writers = self._writers.setdefault(cta, [None] * COLUMNS)
        for column in columns.tolist():
            writers[column] = made
        issued.append(made)

    def read_by_product(
        self, instruction: Instruction, thread: Thread, columns: Array, cta: int
    ) -> None:
        """A thread has columns of a CTA read, as A or scale factors."""
        self._after_touches(instruction, thread, columns, "reads", cta, stores=True)
        self._after_products(instruction, thread, columns, "reads", cta)
        made = self._made(instruction, cta, columns)
        self._readers.setdefault(cta, []).append(made)
        self._open.setdefault(thread, []).append(made)

    def _made(self, instruction: Instruction, cta: int, columns: Array) -> Operation:
        self._follow()
        self._number += 1
        known = np.zeros(self.wave.shape[1], np.int64)
        return Operation(instruction, self._number, cta, columns, known)

    def committed(self, thread: Thread, cta: int, barrier: int) -> Commit:
        """A thread has an mbarrier of a CTA told when what it has issued is over; what that is."""
        found = Commit(thread, tuple(self._open.pop(thread, ())), self._commits.get(thread))
        self._commits[thread] = found
        self.in_flight.operations.add_commit(found, cta, barrier)
        return found

    def _after_products(
        self,
        instruction: Instruction,
        thread: Thread,
        columns: Array,
        verb: str,
        home: int,
        accumulator: Accumulator | None = None,
    ) -> None:
        """Products of other warps that write the same columns must be over, or issued before.

        Those of other shapes must be over in any case.
        """
        cta, warp, _ = thread
        writers = self._writers.get(home)
        if writers is None:
            return
        self._follow()
        found = {w.number: w for c in columns.tolist() if (w := writers[c]) is not None}
        for operation in found.values():
            issuer_cta, issuer, when = self._issuers[operation.number]
            before = self._accumulators[operation.number]
            if not differ(accumulator, before):
                if (issuer_cta, issuer) == (cta, warp):
                    continue
                if self._seen(thread, issuer_cta, issuer) >= when:
                    continue
                wrong = self._early(operation, cta, warp, "writes")
            elif operation.visible(self.progress.clocks, cta, warp):
                continue
            else:
                wrong = Wrong(self._unseen(operation, "writes as another shape"))
            if wrong:
                self._say(instruction, thread, f"{verb} columns of tensor memory", wrong)
                return

    def _seen(self, thread: Thread, cta: int, warp: int) -> int:
        """What a thread's warp has seen of a warp of its CTA, or of another of the cluster."""
        clocks = self.progress.clocks
        if cta == thread[0]:
            return int(clocks.seen[cta, thread[1], warp])
        return int(clocks.toward(thread[0], thread[1], cta)[warp])

    # Loads and stores

    def loaded(self, instruction: Instruction, cta: int, warp: int, columns: Array) -> None:
        """A warp loads columns."""
        self._over(instruction, cta, warp, columns, "reads")
        self._touch(instruction, cta, warp, columns, stores=False)

    def stored(self, instruction: Instruction, cta: int, warp: int, columns: Array) -> None:
        """A warp stores to columns."""
        self._over(instruction, cta, warp, columns, "writes")
        self._read_before(instruction, cta, warp, columns)
        self._touch(instruction, cta, warp, columns, stores=True)

    def given_back(
        self, instruction: Instruction, cta: int, warp: int, first: int, count: int
    ) -> None:
        """A warp gives columns back: nothing may be under way there."""
        columns = np.arange(first, min(first + count, COLUMNS))
        self._over(instruction, cta, warp, columns, _DEALLOCATES)
        self._after_touches(instruction, (cta, warp, 0), columns, _DEALLOCATES, cta)
        self._touches.get(cta, {}).clear()

    def _over(
        self, instruction: Instruction, cta: int, warp: int, columns: Array, verb: str
    ) -> None:
        """Products that write the columns must be over for a warp."""
        writers = self._writers.get(cta)
        if writers is None:
            return
        self._follow()
        for column in columns.tolist():
            operation = writers[column]
            wrong = operation and self._early(operation, cta, warp, "writes", verb)
            if wrong:
                does = f"{verb} column {column} of tensor memory"
                self._say(instruction, (cta, warp, 0), does, wrong)
                return

    def _read_before(self, instruction: Instruction, cta: int, warp: int, columns: Array) -> None:
        """Products that read the columns as A must be over for a warp."""
        self._follow()
        for operation in list(self._readers.get(cta, ())):
            wrong = self._early(operation, cta, warp, "may still read")
            if wrong is None:
                if operation.known.all():
                    self._readers[cta].remove(operation)
                continue
            if np.isin(operation.granules, columns).any():
                does = "writes columns of tensor memory"
                self._say(instruction, (cta, warp, 0), does, wrong)
                return

    def _early(
        self, operation: Operation, cta: int, warp: int, does: str, verb: str = ""
    ) -> Wrong | None:
        """Why a warp's next access may come before a product is over; None if it may not."""
        if not operation.visible(self.progress.clocks, cta, warp):
            return Wrong(self._unseen(operation, does))
        if verb == _DEALLOCATES or self.fences.visible(operation, cta, warp):
            return None
        what = f"which {self._named(operation.instruction)} {does}"
        return Wrong(f"{what}, without {_AFTER} behind the wait for its commit", fence=True)

    def _named(self, instruction: Instruction) -> str:
        line = self.findings.module.written_line(instruction.position)
        return f"'{instruction.mnemonic}' of line {line}"

    def _unseen(self, operation: Operation, verb: str) -> str:
        what = f"which {self._named(operation.instruction)} {verb}"
        if operation.barrier is None:
            return f"{what}, and no tcgen05.commit follows that"
        return f"{what}, before the wait for its commit"

    def _touch(
        self, instruction: Instruction, cta: int, warp: int, columns: Array, *, stores: bool
    ) -> None:
        self._follow()
        made = TensorTouch(instruction, 0, stores)
        own = self._touches.setdefault(cta, {}).setdefault(warp, {})
        for column in columns.tolist():
            own[column] = made

    def waited(self, cta: int, warp: int, *, stores: bool) -> None:
        """A warp has waited for its loads or stores."""
        self._follow()
        now = int(self.progress.clocks.now[cta])
        for touch in self._touches.get(cta, {}).get(warp, {}).values():
            if touch.stores == stores and not touch.over:
                touch.over = now

    def fenced(self, cta: int, warp: int, *, before: bool) -> None:
        """A warp has executed a `tcgen05.fence`, before what synchronises threads, or after it."""
        self._follow()
        if not before:
            self.fences.after(cta, warp)
            return
        now = int(self.progress.clocks.now[cta])
        for touch in self._touches.get(cta, {}).get(warp, {}).values():
            if touch.over and not touch.fenced:
                touch.fenced = now

    def _after_touches(
        self,
        instruction: Instruction,
        thread: Thread,
        columns: Array,
        verb: str,
        home: int,
        *,
        stores: bool = False,
    ) -> None:
        """What warps have loaded from the columns, or stored to them, must be over for a thread."""
        cta, warp, _ = thread
        self._follow()
        wanted = columns.tolist()
        for other, own in self._touches.get(home, {}).items():
            if not own:
                continue
            seen = self._seen(thread, home, other)
            sure = self.fences.seen(cta, warp, home, other)
            for column in wanted:
                touch = own.get(column)
                if touch is None or (stores and not touch.stores):
                    continue
                same = (home, other) == (cta, warp)
                wrong = self._undone(touch, seen, same=same)
                if wrong is None and not same and verb != _DEALLOCATES:
                    wrong = self._unfenced(touch, seen, sure)
                if wrong:
                    self._say(
                        instruction, thread, f"{verb} column {column} of tensor memory", wrong
                    )
                    return

    def _undone(self, touch: TensorTouch, seen: int, *, same: bool) -> Wrong | None:
        what = self._named(touch.instruction)
        if not touch.over:
            wait = "st" if touch.stores else "ld"
            return Wrong(f"before a tcgen05.wait::{wait} for {what}")
        if not same and seen < touch.over:
            return Wrong(f"without a barrier between it and {what}")
        return None

    def _unfenced(self, touch: TensorTouch, seen: int, sure: int) -> Wrong | None:
        """What is missing around the barrier behind a load or store, which a warp has seen."""
        what = self._named(touch.instruction)
        if not touch.fenced or seen < touch.fenced:
            words = f"without {_BEFORE} between {what} and the barrier behind it"
            return Wrong(words, fence=True)
        if sure < touch.fenced:
            return Wrong(f"without {_AFTER} behind the barrier after {what}", fence=True)
        return None

    def _say(self, instruction: Instruction, thread: Thread, does: str, wrong: Wrong) -> None:
        """Note what an access lacks: only advice if that is a fence, and the kernel has none."""
        self._blame(
            instruction,
            thread,
            f"{does}, {wrong.words}",
            harmless=wrong.fence and not self.fences.used,
        )

    def _blame(
        self, instruction: Instruction, thread: Thread, words: str, *, harmless: bool = False
    ) -> None:
        mask = np.zeros(self.wave.shape, np.bool_)
        mask[thread] = True
        kind = TENSOR_FENCE if harmless else "tensor-memory"
        self.findings.add(kind, instruction, mask, lambda _: words, harmless=harmless)

    # Columns

    def taken(self, instruction: Instruction, thread: Thread) -> None:
        """A warp, by its first thread, is given columns."""
        self._takers[thread[0]] = instruction, thread

    def end(self, left: list[tuple[int, int]]) -> None:
        """The wave ends; CTAs have so many columns left, which nobody has given back."""
        for cta, count in left:
            instruction, thread = self._takers[cta]
            self._blame(
                instruction, thread,
                f"allocates columns of tensor memory, of which {count} are still allocated when "
                f"its CTA exits",
            )  # fmt: skip
