"""`bra`, `brx.idx`, `ret` and `exit`. PTX ISA, "Control Flow Instructions"."""

from __future__ import annotations

from ..binding import Binding
from ..blocks import EXIT, RETURN, Exit, Indexed, Return, Where
from ..ptx.module import Instruction, Name
from ..traits import First, Flow, Traits
from .registry import ending


def _to_label(branch: Instruction) -> Traits:
    target = branch.operands[0] if branch.operands else None
    labels = (target.text,) if isinstance(target, Name) else ()
    return Traits(flow=Flow.BRANCH, labels=labels)


@ending("bra", traits=_to_label)
def _bra(binding: Binding) -> Where:
    target = binding.operands[0] if binding.operands else None
    if not isinstance(target, Name):
        raise binding.error("'bra' takes a label")
    return binding.frame.label(target.text, binding.instruction)


def _listed(branch: Instruction) -> tuple[str, ...]:
    """The labels of the list that the branch names; empty of one that is not known."""
    listed = branch.operands[1] if len(branch.operands) == 2 else None
    return (branch.scope.targets(listed.text) or ()) if isinstance(listed, Name) else ()


def _to_one(branch: Instruction) -> Traits:
    return Traits(flow=Flow.BRANCH, labels=_listed(branch), first=First.SOURCE)


@ending("brx", traits=_to_one)
def _brx(binding: Binding) -> Indexed:
    instruction = binding.instruction
    blocks = [binding.frame.label(name, instruction) for name in _listed(instruction)]
    numbers = [b for b in blocks if isinstance(b, int)]
    if not numbers or len(numbers) != len(blocks):
        raise binding.error("'brx.idx' takes an index and a .branchtargets list")
    return Indexed(binding.source(binding.operands[0], "u32"), tuple(numbers))


@ending("ret", traits=Traits(flow=Flow.END))
def _ret(binding: Binding) -> Return:
    del binding
    return RETURN


@ending("exit", traits=Traits(flow=Flow.END))
def _exit(binding: Binding) -> Exit:
    del binding
    return EXIT
