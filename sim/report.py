"""What a run found and counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from textwrap import fill
from typing import TYPE_CHECKING

from tilec.isa import TilecError
from tilec.isa.wording import counted

if TYPE_CHECKING:
    from .orders.summary import Orders
    from .timeline.timeline import Timeline
    from .timing.schedule import Recording


class SimulationError(TilecError):
    """A run that cannot go on, or a report that holds findings.

    Attributes:
        report: the report up to that point, or None.
    """

    def __init__(self, message: str, report: Report | None = None) -> None:
        self.report = report
        super().__init__(message)


@dataclass(slots=True)
class Finding:
    """Something wrong with the kernel.

    Attributes:
        kind: `out-of-bounds`, `misaligned`, `wrong-space`, `read-only`, `uninitialised`,
            `async`, `proxy`, `mbarrier`, `tensor-map`, `cluster`, `wgmma`, `registers`, `race`,
            `barrier`, `partial-warp`, `deadlock`, `heap`, `step-limit` or `trap`; one that begins
            with `order-` is of an order of warps that did not run.
        message: what and where, in words.
        line: line of the PTX text; 0 where none is to blame.
        source: `file:line` that `.loc` gave for it, or empty.
        thread: the first thread concerned, or empty.
        address: the address it used, or None.
        count: threads concerned, over the whole run; CTAs of `unread`.
        order: the last steps of warps before it, in an order that did not run.
    """

    kind: str
    message: str
    line: int = 0
    source: str = ""
    thread: str = ""
    address: int | None = None
    count: int = 1
    order: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        steps = "".join(f"\n  {step}" for step in self.order)
        return f"{self.kind}: {self.message}{more}{steps}"


@dataclass(frozen=True, slots=True)
class Line:
    """What an instruction of the text did, counted over the run.

    Attributes:
        line: line of the text.
        source: `file:line` that `.loc` gave, or empty.
        instruction: its mnemonic.
        warps: times that a warp executed it.
        threads: the same in threads.
        requests: warps' accesses to memory.
        sectors: 32-byte sectors of global memory in those requests.
        wavefronts: passes over shared memory that those requests took.
        conflicts: passes among them that bank conflicts caused.
        copied: bytes that bulk and tensor copies moved, those outside of arrays counted.
        operands: bytes of shared memory that products of warpgroups read by descriptor.
        waits_in_vain: times that a warp asked an mbarrier for a phase that was not complete.
    """

    line: int
    source: str
    instruction: str
    warps: int
    threads: int
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    copied: int = 0
    operands: int = 0
    waits_in_vain: int = 0


@dataclass(frozen=True, slots=True)
class MatrixCount:
    """Matrix instructions of one form: how many warps executed, and their FLOPs (2·m·n·k each).

    Of `tcgen05.mma`, which a thread executes, how often that was; its form has the extents and
    types of its descriptor.
    """

    form: str
    warps: int
    flops: int


TENSOR_FENCE = "tensor-fence"
"""Kind of advice: a `tcgen05.fence` is missing in a kernel that has none at all."""
_FINDINGS_SHOWN = 5
"""Findings that a report shows in a line each where it is printed as a value."""


@dataclass(slots=True, repr=False)
class Report:
    """What a run found and counted.

    Attributes:
        kernel: the kernel's name.
        findings: what is wrong with it, in the order of discovery.
        advice: what is not wrong and better avoided, of kind `same-value` or `unread`, or what only
            hardware makes right, of kind `tensor-fence`.
        unchecked: what was not looked for, and where, since it would have taken too much memory.
        completed: whether all threads came to their end.
        output: what the kernel printed.
        steps: instructions run, each for all threads that were together.
        warp_instructions: instructions executed, counted by warp.
        thread_instructions: the same counted by thread.
        instructions: warp instructions by opcode.
        matrix: matrix instructions by form.
        barriers: warps' arrivals at CTA barriers.
        requests, sectors: accesses of warps to global memory, and sectors in them.
        wavefronts, conflicts: passes over shared memory, and those that conflicts caused.
        copied: bytes that bulk and tensor copies moved.
        operand_bytes: bytes of shared memory that products of warpgroups read by descriptor.
        waits, waits_in_vain: times that warps asked an mbarrier, and that the phase was not over.
        lines: the same for every instruction of the text that was executed, in its order.
        race_bytes: memory that was taken for races between CTAs.
        timeline: what the warps of one CTA did, where `launch` was asked for it.
        recording: what a timing model replays, likewise.
        orders: how other orders of warps were explored, where `launch` was asked for it.
    """

    kernel: str
    findings: list[Finding] = field(default_factory=list)
    advice: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    completed: bool = True
    output: str = ""
    steps: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0
    instructions: dict[str, int] = field(default_factory=dict)
    matrix: list[MatrixCount] = field(default_factory=list)
    barriers: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    copied: int = 0
    operand_bytes: int = 0
    waits: int = 0
    waits_in_vain: int = 0
    lines: list[Line] = field(default_factory=list)
    race_bytes: int = 0
    timeline: Timeline | None = None
    recording: Recording | None = None
    orders: Orders | None = None

    def __repr__(self) -> str:
        """A few lines, for a prompt; `to_text` says it all."""
        found = [str(finding) for finding in self.findings[:_FINDINGS_SHOWN]] or ["no findings"]
        if len(self.findings) > _FINDINGS_SHOWN:
            found.append(f"and {counted(len(self.findings) - _FINDINGS_SHOWN, 'more finding')}")
        found += self._left_out()
        counts = [
            f"{counted(f'{self.warp_instructions:,}', 'warp instruction')}",
            *(f"{one.warps:,} {one.form}" for one in self.matrix),
            f"{counted(f'{self.sectors:,}', 'global sector')}",
            f"{counted(f'{self.wavefronts:,}', 'shared wavefront')}",
        ]
        verdict = "completed" if self.completed else "stopped"
        said = fill(", ".join(counts), 100, break_long_words=False)
        return "\n".join([f"kernel {self.kernel}: {verdict}", *found, said])

    @property
    def verdict(self) -> str:
        """`passed`, `failed`, or `incomplete`: no finding, and something was not looked for."""
        if not self.completed or self.findings:
            return "failed"
        return "incomplete" if self.unchecked else "passed"

    @property
    def ok(self) -> bool:
        """Whether the run completed without a finding, and everything was looked for."""
        return self.verdict == "passed"

    @property
    def flops(self) -> int:
        """FLOPs of all matrix instructions."""
        return sum(count.flops for count in self.matrix)

    def require_ok(self) -> Report:
        """The report itself.

        Raises:
            SimulationError: with all findings and what was not looked for, if there are any.
        """
        if not self.ok:
            raise SimulationError("\n".join([*map(str, self.findings), *self._left_out()]), self)
        return self

    def to_json(self) -> str:
        """Everything but the timeline and the recording, as a JSON object named as attributes."""
        import json  # noqa: PLC0415 (only there)

        data = asdict(replace(self, timeline=None, recording=None))
        del data["timeline"], data["recording"]
        more = {"ok": self.ok, "verdict": self.verdict, "flops": self.flops}
        return json.dumps(data | more, indent=2)

    def to_text(self, *, lines: bool = False) -> str:
        """A summary to read; `lines` adds every line of the PTX text that was executed."""
        rows: list[tuple[str, int | str]] = [
            ("warp instructions", self.warp_instructions),
            ("thread instructions", self.thread_instructions),
            ("steps", self.steps),
            *((f"  {name}", n) for name, n in self.instructions.items()),
            *((f"{m.form}", f"{m.warps:,} ({m.flops:,} FLOPs)") for m in self.matrix),
            ("barrier arrivals of warps", self.barriers),
            ("global requests", self.requests),
            ("global sectors", self.sectors),
            *([("bytes for races between CTAs", self.race_bytes)] if self.race_bytes else []),
            *([("orders of warps explored", self.orders.orders)] if self.orders else []),
            ("shared wavefronts", self.wavefronts),
            ("  of them conflicts", self.conflicts),
        ]
        if self.copied or self.waits:
            rows += [
                ("bytes copied in bulk", self.copied),
                ("operand bytes of wgmma", self.operand_bytes),
                ("waits for mbarriers", self.waits),
                ("  of them unsuccessful", self.waits_in_vain),
            ]
        width = max(len(name) for name, _ in rows)
        text = [
            f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}"
            for name, value in rows
        ]
        head = [f"kernel {self.kernel}: {'completed' if self.completed else 'stopped'}"]
        found = self._said()
        listed = _table(self.lines) if lines else []
        return "\n".join([*head, *found, *text, *listed])

    def demand(self, kind: str) -> None:
        """Count advice of a kind as findings."""
        self.findings += [one for one in self.advice if one.kind == kind]
        self.advice = [one for one in self.advice if one.kind != kind]

    def _said(self) -> list[str]:
        """Findings and advice in words."""
        advice = [f"advice: {one}" for one in self.advice]
        found = map(str, self.findings) if self.findings else ["no findings"]
        return [*found, *self._left_out(), *advice]

    def _left_out(self) -> list[str]:
        """What was not looked for, in words."""
        return [f"incomplete: {what} were not looked for" for what in self.unchecked]

    def to_html(self, notes: Sequence[str] = ()) -> str:
        """A page that stands by itself, in UTF-8.

        Args:
            notes: lines that are told besides.
        """
        from .report_html import document  # noqa: PLC0415 (only there)

        return document(self.kernel, self._repr_html_(), notes)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .report_html import page  # noqa: PLC0415 (only there)

        verdict = "completed" if self.completed else "stopped"
        counts: list[tuple[str, object]] = [
            ("warp instructions", self.warp_instructions),
            *((m.form, f"{m.warps:,} ({m.flops:,} FLOPs)") for m in self.matrix),
            ("global requests", self.requests),
            ("global sectors", self.sectors),
            ("shared wavefronts", self.wavefronts),
            ("of them conflicts", self.conflicts),
        ]
        columns = ("line", "warps", "sectors", "wavefronts", "conflicts", "instruction", "source")
        return page(
            self.kernel,
            verdict,
            self._said(),
            counts,
            columns,
            [[getattr(line, name) for name in columns] for line in self.lines],
        )


def _table(lines: Iterable[Line]) -> list[str]:
    columns = ("warps", "sectors", "wavefronts", "conflicts")
    head = f"{'line':>6} {' '.join(f'{c:>10}' for c in columns)}  instruction"
    return [
        head,
        *(
            f"{n.line:>6} {n.warps:>10} {n.sectors:>10} {n.wavefronts:>10} {n.conflicts:>10}  "
            f"{n.instruction}" + (f"  ; {n.source}" if n.source else "")
            for n in lines
        ),
    ]
