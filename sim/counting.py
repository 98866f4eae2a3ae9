"""The report of a run, from what was executed."""

from __future__ import annotations

from collections import Counter

from tilec.isa import WARPGROUP_WARPS, ExecutionScope
from tilec.isa import form as find_form

from .frames import Frame
from .matrix_forms import matrix_form
from .program import Program
from .ptx.module import Instruction
from .report import Finding, Line, MatrixCount, Report
from .traffic import Accesses
from .traits import Sync, traits


def report(program: Program, entry: Frame, findings: list[Finding], *, completed: bool) -> Report:
    """What a run found and counted."""
    machine, module = program.machine, program.module
    touched = {} if machine.observer is None else machine.observer.traffic.accesses
    made = Report(program.placement.kernel.name, findings)
    made.completed, made.output = completed, "".join(machine.output)
    made.steps = machine.steps
    kinds: Counter[str] = Counter()
    matrix: Counter[str] = Counter()
    for position, (instruction, warps, threads) in sorted(_executed(entry).items()):
        kinds[instruction.opcode] += warps
        made.thread_instructions += threads
        what = traits(instruction)
        if what.matrix:
            matrix[matrix_form(instruction).ptx] += warps
        if what.waits:
            made.waits += warps
        if what.sync is Sync.CTA:
            made.barriers += warps
        found = touched.get(position, Accesses())
        line = Line(
            module.line(instruction), module.origin(instruction), instruction.mnemonic,
            warps, threads, found.requests, found.sectors, found.wavefronts, found.conflicts,
            found.copied,
            found.operands,
            found.waits_in_vain,
        )  # fmt: skip
        made.lines.append(line)
    made.warp_instructions = kinds.total()
    made.instructions = dict(kinds.most_common())
    made.matrix = [
        MatrixCount(name, warps, find_form(name).flops * warps // _warps(name))
        for name, warps in matrix.most_common()
    ]
    made.matrix += [
        MatrixCount(name, times, flops * times)
        for (name, flops), times in machine.tensor_products.most_common()
    ]
    made.requests = sum(line.requests for line in made.lines if line.sectors)
    made.sectors = sum(line.sectors for line in made.lines)
    made.wavefronts = sum(line.wavefronts for line in made.lines)
    made.copied = sum(line.copied for line in made.lines)
    made.operand_bytes = sum(line.operands for line in made.lines)
    made.waits_in_vain = sum(line.waits_in_vain for line in made.lines)
    made.conflicts = sum(line.conflicts for line in made.lines)
    return made


def _warps(name: str) -> int:
    """Warps that execute a form together."""
    return WARPGROUP_WARPS if find_form(name).scope is ExecutionScope.WARPGROUP else 1


def _executed(entry: Frame) -> dict[int, tuple[Instruction, int, int]]:
    """Each instruction with the warps and threads that executed it, by its position in the text."""
    found: dict[int, tuple[Instruction, int, int]] = {}
    for code in entry.codes():
        warps = threads = 0
        for index, instruction in enumerate(code.counted_instructions()):
            entered = code.entries.get(index, (0, 0))
            warps, threads = warps + entered[0], threads + entered[1]
            if warps:
                _, *before = found.get(instruction.position, (instruction, 0, 0))
                found[instruction.position] = (instruction, before[0] + warps, before[1] + threads)
    return found
