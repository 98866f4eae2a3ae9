"""The report of a run, from what was executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from .frames import Frame
from .machine import Machine
from .ptx import Module
from .ptx.module import Function, Instruction
from .report import Finding, Line, MatrixCount, Report
from .traffic import Accesses
from .traits import Sync, Traits, generation, traits


@dataclass(frozen=True, slots=True)
class Counts:
    """What CTAs of a launch executed.

    Attributes:
        steps: instructions run, each for all threads that were together.
        output: what was printed.
        executed: warps and threads that executed each instruction, by its position in the text.
        accesses: what each did to memory, likewise.
        products: products in tensor memory, by the key of their `DescribedProduct` and its FLOPs.
    """

    steps: int
    output: str
    executed: Mapping[int, tuple[int, int]]
    accesses: Mapping[int, Accesses]
    products: Mapping[tuple[str, int], int]


def counts(machine: Machine, entry: Frame) -> Counts:
    """What has been executed so far."""
    observer = machine.observer
    accesses = {} if observer is None else observer.traffic.accesses
    touched = {position: replace(found) for position, found in accesses.items()}
    products, output = dict(machine.tensor_products), "".join(machine.output)
    return Counts(machine.steps, output, _executed(entry), touched, products)


def together(parts: Sequence[Counts]) -> Counts:
    """What CTAs executed that ran apart."""
    executed: dict[int, tuple[int, int]] = {}
    accesses: dict[int, Accesses] = {}
    products: Counter[tuple[str, int]] = Counter()
    for part in parts:
        products.update(part.products)
        for position, (warps, threads) in part.executed.items():
            before = executed.get(position, (0, 0))
            executed[position] = before[0] + warps, before[1] + threads
        for position, found in part.accesses.items():
            known = astuple(accesses.get(position, Accesses()))
            sums = [a + b for a, b in zip(known, astuple(found), strict=True)]
            accesses[position] = Accesses(*sums)
    steps, output = sum(part.steps for part in parts), "".join(part.output for part in parts)
    return Counts(steps, output, executed, accesses, products)


def since(now: Counts, before: Counts) -> Counts:
    """What CTAs have executed of late."""
    executed = {}
    for position, (warps, threads) in now.executed.items():
        known = before.executed.get(position, (0, 0))
        if warps > known[0]:
            executed[position] = warps - known[0], threads - known[1]
    accesses = {}
    for position, found in now.accesses.items():
        known_ones = astuple(before.accesses.get(position, Accesses()))
        some = [a - b for a, b in zip(astuple(found), known_ones, strict=True)]
        if any(some):
            accesses[position] = Accesses(*some)
    products = Counter(now.products)
    products.subtract(before.products)
    output = now.output[len(before.output) :]
    return Counts(now.steps - before.steps, output, executed, accesses, +products)


def report(
    module: Module, kernel: str, counted: Counts, findings: list[Finding], *, completed: bool
) -> Report:
    """What a run found and counted."""
    touched = counted.accesses
    made = Report(kernel, findings)
    made.completed, made.output = completed, counted.output
    made.steps = counted.steps
    kinds: Counter[str] = Counter()
    matrix: Counter[str] = Counter()
    text: dict[int, _Text] = {}
    for function in module.functions.values():
        text |= function.once(_texts, generation())
    nothing = Accesses()
    for position, (warps, threads) in sorted(counted.executed.items()):
        instruction, what, mnemonic = text[position]
        kinds[instruction.opcode] += warps
        made.thread_instructions += threads
        if what.matrix:
            from .matrix_forms import matrix_form  # noqa: PLC0415 (few kernels have any)

            matrix[matrix_form(instruction).ptx] += warps
        if what.waits:
            made.waits += warps
        if what.sync is Sync.CTA:
            made.barriers += warps
        found = touched.get(position, nothing)
        line = Line(
            module.line(instruction), module.origin(instruction), mnemonic, warps, threads,
            found.requests, found.sectors, found.wavefronts, found.conflicts, found.copied,
            found.operands, found.waits_in_vain,
        )  # fmt: skip
        made.lines.append(line)
    made.warp_instructions = kinds.total()
    made.instructions = dict(kinds.most_common())
    made.matrix = [
        MatrixCount(name, warps, _flops(name, warps)) for name, warps in matrix.most_common()
    ]
    made.matrix += [
        MatrixCount(name, times, flops * times)
        for (name, flops), times in Counter(counted.products).most_common()
    ]
    made.requests = sum(line.requests for line in made.lines if line.sectors)
    made.sectors = sum(line.sectors for line in made.lines)
    made.wavefronts = sum(line.wavefronts for line in made.lines)
    made.copied = sum(line.copied for line in made.lines)
    made.operand_bytes = sum(line.operands for line in made.lines)
    made.waits_in_vain = sum(line.waits_in_vain for line in made.lines)
    made.conflicts = sum(line.conflicts for line in made.lines)
    return made


_Text = tuple[Instruction, Traits, str]
"""An instruction, its traits, and its mnemonic."""


def _texts(function: Function) -> dict[int, _Text]:
    """The instructions of a function by their positions."""
    return {one.position: (one, traits(one), one.mnemonic) for one in function.body or ()}


def _flops(name: str, warps: int) -> int:
    """What so many warps compute that execute a form, by themselves or as warpgroups."""
    from tilec.isa import WARPGROUP_WARPS, ExecutionScope, form  # noqa: PLC0415 (as above)

    found = form(name)
    together = WARPGROUP_WARPS if found.scope is ExecutionScope.WARPGROUP else 1
    return found.flops * warps // together


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
                found[instruction.position] = before[0] + warps, before[1] + threads
    return found
