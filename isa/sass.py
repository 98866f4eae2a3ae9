"""What a multiplication becomes in machine code, by architecture: native or emulated.

NVIDIA does not document it. Measured: the tensor instructions that ptxas 13.0.88 and 13.5.37 write
at -O1 for one instruction, on every architecture they know (sm_75 on); the two agree. Where a form
is emulated its rounding is that of the instructions it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest

from .forms import Form, Mma, WmmaMma
from .targets import TARGETS, Target


@dataclass(frozen=True, slots=True)
class Execution:
    """One form on one range of architectures.

    Attributes:
        since: number of the first architecture of the range.
        opcode: tensor instruction, or `FFMA` where there is none: scalar arithmetic.
        count: how many of them; 0 for scalar arithmetic.
        emulated: whether the architecture has no instruction for the form's own types.
    """

    since: int
    opcode: str
    count: int
    emulated: bool = False


def _bits(form: Mma | WmmaMma) -> tuple[Execution, ...]:
    first = Execution(75, "BMMA", 1)
    last = Execution(100, "IMMA", form.shape.k // 32, emulated=True)
    if form.bit_op == "and":
        return first, last
    return first, Execution(90, "BMMA", 2, emulated=True), last


def executions(form: Form) -> tuple[Execution, ...]:
    """The ranges of architectures on which `form` is executed alike, ascending.

    Empty for forms that are not multiplications. Architectures before the first range's are
    unknown, or lack the form.
    """
    first = min(TARGETS[name].number for name in form.targets)
    ranges = _executions(form)
    return tuple(
        replace(one, since=max(one.since, first))
        for one, later in zip_longest(ranges, ranges[1:])
        if later is None or later.since > first
    )


def _executions(form: Form) -> tuple[Execution, ...]:
    """The same, on architectures that may lack the form too."""
    if not isinstance(form, (Mma, WmmaMma)):
        return ()
    type_ = form.operand("a").type
    wmma = isinstance(form, WmmaMma)
    match type_.name:
        case "f16" if isinstance(form, Mma) and form.products == 4:
            steps = 2 if form.operand("d").type.name == "f16" else 4
            return (Execution(75, "HMMA", steps), Execution(80, "FFMA", 0, emulated=True))
        case "f16" | "s8" | "u8" if wmma:
            opcode = "HMMA" if type_.name == "f16" else "IMMA"
            return (Execution(75, opcode, 4), Execution(80, opcode, 2))
        case "bf16" | "tf32" if wmma:
            return (Execution(80, "HMMA", 2 if type_.name == "bf16" else 4),)
        case "f16" | "bf16" | "tf32":
            return (Execution(75, "HMMA", 1),)
        case "f64" if form.shape.m == 16:
            emulation = Execution(100, "DMMA", form.shape.k // 2, emulated=True)
            return (Execution(90, "DMMA", 1), emulation)
        case "f64":
            return (Execution(80, "DMMA", 1),)
        case "s8" | "u8":
            return (Execution(75, "IMMA", 1),)
        case "s4" | "u4":
            return (Execution(75, "IMMA", 1), Execution(90, "IMMA", 2, emulated=True))
        case "b1":
            return _bits(form)
    kind = form.kind if isinstance(form, Mma) else None
    if kind is not None:
        return (Execution(120, "OMMA" if kind.startswith("mxf4") else "QMMA", 1),)
    emulation = Execution(90, "HMMA", 2, emulated=True)
    return (Execution(89, "QMMA", 1), emulation, Execution(120, "QMMA", 1))


def execution(form: Form, target: Target) -> Execution | None:
    """How `target` executes `form`; None where unknown, or where it lacks the form."""
    if form.min_ptx(target) is None:
        return None
    ranges = [e for e in executions(form) if e.since <= target.number]
    return ranges[-1] if ranges else None


def sorts_metadata(form: Form, target: Target) -> bool:
    """Whether plain `.sp` becomes code that sorts the metadata first."""
    return (
        isinstance(form, Mma)
        and form.sparsity is not None
        and not form.sparsity.ordered
        and form.operand("a").type.name in ("f16", "s8", "u8")
        and target.number >= 100
    )
