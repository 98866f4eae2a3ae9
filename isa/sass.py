"""What a multiplication becomes in machine code, by architecture: native or emulated.

NVIDIA does not document it. Measured: the tensor instructions that ptxas 13.0.88 and 13.5.37 write
at -O1 for one instruction, on every architecture they know (sm_75 on); the two agree. Where a form
is emulated its rounding is that of the instructions it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import zip_longest

from .form_classes import Family, Form, Product
from .mma import Mma
from .targets import TARGETS, Target
from .wmma import WmmaMma


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


@singledispatch
def _executions(form: Form) -> tuple[Execution, ...]:
    """The same, on architectures that may lack the form too; by the form's class."""
    if form.family in (Family.WGMMA, Family.WGMMA_SP):
        return (Execution(90, _WARPGROUP_OPCODES[form.operand("a").type.name], 1),)
    return ()


_WARPGROUP_OPCODES = (
    dict.fromkeys(("f16", "bf16", "tf32"), "HGMMA")
    | dict.fromkeys(("e4m3", "e5m2"), "QGMMA")
    | {"s8": "IGMMA", "u8": "IGMMA", "b1": "BGMMA"}
)


@_executions.register
def _mma(form: Mma) -> tuple[Execution, ...]:
    match form.operand("a").type.name:
        case "f16" if form.products == 4:
            steps = 2 if form.operand("d").type.name == "f16" else 4
            return (Execution(75, "HMMA", steps), Execution(80, "FFMA", 0, emulated=True))
        case "f16" | "bf16" | "tf32":
            return (Execution(75, "HMMA", 1),)
        case "f64":
            return _doubles(form)
        case "s8" | "u8":
            return (Execution(75, "IMMA", 1),)
        case "s4" | "u4" | "b1":
            return _narrow(form)
    if form.kind is not None:
        return (Execution(120, "OMMA" if form.kind.startswith("mxf4") else "QMMA", 1),)
    emulation = Execution(90, "HMMA", 2, emulated=True)
    return (Execution(89, "QMMA", 1), emulation, Execution(120, "QMMA", 1))


@_executions.register
def _wmma(form: WmmaMma) -> tuple[Execution, ...]:
    match form.operand("a").type.name:
        case "f16":
            return (Execution(75, "HMMA", 4), Execution(80, "HMMA", 2))
        case "s8" | "u8":
            return (Execution(75, "IMMA", 4), Execution(80, "IMMA", 2))
        case "bf16":
            return (Execution(80, "HMMA", 2),)
        case "tf32":
            return (Execution(80, "HMMA", 4),)
        case "f64":
            return _doubles(form)
    return _narrow(form)


def _doubles(form: Product) -> tuple[Execution, ...]:
    """f64."""
    if form.shape.m == 8:
        return (Execution(80, "DMMA", 1),)
    return (
        Execution(90, "DMMA", 1),
        Execution(100, "DMMA", form.shape.k // 2, emulated=True),
    )


def _narrow(form: Product) -> tuple[Execution, ...]:
    """Integers of 4 bits, and single bits."""
    if form.bit_op is None:
        return (Execution(75, "IMMA", 1), Execution(90, "IMMA", 2, emulated=True))
    first = Execution(75, "BMMA", 1)
    last = Execution(100, "IMMA", form.shape.k // 32, emulated=True)
    if form.bit_op == "and":
        return first, last
    return first, Execution(90, "BMMA", 2, emulated=True), last


def execution(form: Form, target: Target) -> Execution | None:
    """How `target` executes `form`; None where unknown, or where it lacks the form."""
    if form.min_ptx(target) is None:
        return None
    ranges = [e for e in executions(form) if e.since <= target.number]
    return ranges[-1] if ranges else None


def sorts_metadata(form: Form, target: Target) -> bool:
    """Whether plain `.sp` becomes code that sorts the metadata first."""
    return (
        form.sparsity is not None
        and not form.sparsity.ordered
        and form.operand("a").type.name in ("f16", "s8", "u8")
        and target.number >= 100
    )
