"""The form in `tilec.isa` of a matrix instruction of a text."""

from __future__ import annotations

from tilec.isa import Form
from tilec.isa import form as find_form
from tilec.isa import instruction as find_instruction

from .ptx.module import Instruction, Vector


def matrix_form(found: Instruction) -> Form:
    """The form of an instruction; of `wgmma` by where A lies, too.

    Raises:
        UnknownNameError: if there is none.
    """
    if found.opcode != "wgmma":
        return find_instruction(found.mnemonic)[0]
    words = list(found.modifiers)
    if words[-1] == "satfinite":
        words.insert(words.index("s32"), words.pop())
    kind = "registers" if isinstance(found.operands[1], Vector) else "descriptor"
    return find_form(f"{'.'.join((found.opcode, *words))}.a::{kind}")
