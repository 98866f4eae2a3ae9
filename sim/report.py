"""What a run found and counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tilec.isa import Mma, WmmaMma
from tilec.isa import form as find_form

from .errors import SimulationError
from .instructions.matrix import FAMILIES, form_of

if TYPE_CHECKING:
    from .frames import Frame
    from .program import Program


@dataclass(slots=True)
class Finding:
    """Something wrong with the kernel.

    Attributes:
        kind: `out-of-bounds`, `misaligned`, `wrong-space`, `read-only`, `uninitialised`,
            `async`, `race`, `barrier`, `partial-warp`, `step-limit` or `trap`.
        message: what and where, in words.
        line: line of the PTX text; 0 where none is to blame.
        source: `file:line` that `.loc` gave for it, or empty.
        thread: the first thread concerned, or empty.
        address: the address it used, or None.
        count: threads concerned, over the whole run.
    """

    kind: str
    message: str
    line: int = 0
    source: str = ""
    thread: str = ""
    address: int | None = None
    count: int = 1

    def __str__(self) -> str:
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"{self.kind}: {self.message}{more}"


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


@dataclass(frozen=True, slots=True)
class MatrixCount:
    """Matrix instructions of one form: how many warps executed, and their FLOPs (2·m·n·k each)."""

    form: str
    warps: int
    flops: int


@dataclass(slots=True)
class Report:
    """What a run found and counted.

    Attributes:
        kernel: the kernel's name.
        findings: what is wrong with it, in the order of discovery.
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
        lines: the same for every instruction of the text that was executed, in its order.
    """

    kernel: str
    findings: list[Finding] = field(default_factory=list)
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
    lines: list[Line] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the run completed without a finding."""
        return self.completed and not self.findings

    @property
    def flops(self) -> int:
        """FLOPs of all matrix instructions."""
        return sum(count.flops for count in self.matrix)

    def require_ok(self) -> Report:
        """The report itself.

        Raises:
            SimulationError: with all findings, if there are any.
        """
        if not self.ok:
            raise SimulationError("\n".join(map(str, self.findings)), self)
        return self

    def to_json(self) -> str:
        """Everything, as a JSON object with the names of the attributes."""
        return json.dumps(asdict(self) | {"ok": self.ok, "flops": self.flops}, indent=2)

    def to_text(self, *, lines: bool = False) -> str:
        """A summary to read; `lines` adds every line of the PTX text that was executed."""
        rows: list[tuple[str, Any]] = [
            ("warp instructions", self.warp_instructions),
            ("thread instructions", self.thread_instructions),
            ("steps", self.steps),
            *((f"  {name}", n) for name, n in self.instructions.items()),
            *((f"{m.form}", f"{m.warps:,} ({m.flops:,} FLOPs)") for m in self.matrix),
            ("barrier arrivals of warps", self.barriers),
            ("global requests", self.requests),
            ("global sectors", self.sectors),
            ("shared wavefronts", self.wavefronts),
            ("  of them conflicts", self.conflicts),
        ]
        width = max(len(name) for name, _ in rows)
        text = [
            f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}"
            for name, value in rows
        ]
        head = [f"kernel {self.kernel}: {'completed' if self.completed else 'stopped'}"]
        found = [str(finding) for finding in self.findings] or ["no findings"]
        listed = _table(self.lines) if lines else []
        return "\n".join([*head, *found, *text, *listed])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .report_html import html  # noqa: PLC0415 (only there)

        return html(self)

    @classmethod
    def of(
        cls, program: Program, entry: Frame, findings: list[Finding], *, completed: bool
    ) -> Report:
        """The report of a run."""
        machine, module = program.machine, program.module
        executed = _executed(entry)
        report = cls(program.placement.kernel.name, findings, completed, "".join(machine.output))
        report.steps = machine.steps
        kinds: Counter[str] = Counter()
        matrix: Counter[str] = Counter()
        for position in sorted(executed):
            warps, threads = executed[position]
            site = program.sites[position]
            instruction = site.instruction
            kinds[instruction.opcode] += warps
            report.thread_instructions += threads
            if instruction.opcode in FAMILIES:
                matrix[form_of(instruction).ptx] += warps
            if instruction.opcode in ("bar", "barrier") and "warp" not in instruction.modifiers:
                report.barriers += warps
            line = Line(
                module.line(instruction), module.origin(instruction), instruction.mnemonic,
                warps, threads, site.requests, site.sectors, site.wavefronts, site.conflicts,
            )  # fmt: skip
            report.lines.append(line)
        report.warp_instructions = kinds.total()
        report.instructions = dict(kinds.most_common())
        report.matrix = [_matrix(form, warps) for form, warps in matrix.most_common()]
        report.requests = sum(line.requests for line in report.lines if line.sectors)
        report.sectors = sum(line.sectors for line in report.lines)
        report.wavefronts = sum(line.wavefronts for line in report.lines)
        report.conflicts = sum(line.conflicts for line in report.lines)
        return report


def _matrix(name: str, warps: int) -> MatrixCount:
    form = find_form(name)
    flops = 0
    if isinstance(form, Mma | WmmaMma):
        products = form.products if isinstance(form, Mma) else 1
        flops = 2 * form.shape.m * form.shape.n * form.shape.k * products * warps
    return MatrixCount(name, warps, flops)


def _executed(entry: Frame) -> dict[int, tuple[int, int]]:
    """Warps and threads that executed each instruction, by its position in the text."""
    found: dict[int, tuple[int, int]] = {}
    for code in entry.codes():
        warps = threads = 0
        for index, instruction in enumerate(code.counted_instructions()):
            entered = code.entries.get(index, (0, 0))
            warps, threads = warps + entered[0], threads + entered[1]
            if warps:
                before = found.get(instruction.position, (0, 0))
                found[instruction.position] = (before[0] + warps, before[1] + threads)
    return found


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
