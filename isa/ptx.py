"""A form as PTX text: the instruction with its operands in the order that the ISA gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .forms import Form, MatrixMemory, Mma, MovMatrix, WmmaMemory, WmmaMma


def brace(registers: Sequence[str]) -> str:
    """Registers as PTX lists them."""
    return "{" + ", ".join(registers) + "}"


Registers = Mapping[str, Sequence[str]]
"""For each matrix operand, selector or address by name, the registers or immediates it is in."""


def assembly(form: Form, registers: Registers, space: str = "shared") -> str:
    """The instruction as PTX text, semicolon included.

    Args:
        form: the form.
        registers: what stands for each operand, result and selector; `address` (and, of a
            wmma load or store, optionally `stride`) for the memory operand.
        space: state space of the address; empty for a generic one.
    """

    def matrix(name: str) -> str:
        return brace(registers[name])

    def scalar(name: str) -> str:
        (one,) = registers[name]
        return one

    match form:
        case Mma():
            words = [matrix("d"), matrix("a"), matrix("b"), matrix("c")]
            if form.sparsity:
                words += [scalar("e"), scalar("selector")]
            if form.scaling:
                for side in "ab":
                    ids = brace([scalar(f"byte_id_{side}"), scalar(f"thread_id_{side}")])
                    words += [scalar(f"sf{side}"), ids]
        case WmmaMma():
            words = [matrix("d"), matrix("a"), matrix("b"), matrix("c")]
        case WmmaMemory() | MatrixMemory():
            address = f"[{scalar('address')}]"
            inside = matrix((*form.results, *form.operands)[0].name)
            words = [inside, address] if form.results else [address, inside]
            if "stride" in registers:
                words.append(scalar("stride"))
        case MovMatrix():
            words = [scalar("d"), scalar("a")]
        case _:
            raise AssertionError(form.family)
    return f"{form.mnemonic(space)} {', '.join(words)};"
