"""The form in `tilec.isa` of a matrix instruction of a text."""

from __future__ import annotations

from functools import cache

from tilec.isa import Form, UnknownNameError
from tilec.isa import form as find_form
from tilec.isa import instruction as find_instruction
from tilec.isa.spellings import every_spelling, split_space
from tilec.isa.table import warp_forms

from .alu.bits import is_type
from .ptx.module import Instruction, Vector

_LAYOUTS = ("row", "col")

_Words = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def matrix_form(found: Instruction) -> Form:
    """The form of an instruction; of `wgmma` by where A lies, too.

    As ptxas does, it takes the qualifiers in any order; types and layouts among themselves have
    that of their operands.

    Raises:
        UnknownNameError: if there is none.
    """
    if found.opcode == "wgmma":
        return _warpgroup_form(found)
    try:
        return find_instruction(found.mnemonic)[0]
    except UnknownNameError:
        mnemonic, space = split_space(found.mnemonic)
        form = _by_words().get(_words(mnemonic))
        if form is None or (space and space not in form.spaces):
            raise
        return form


def _warpgroup_form(found: Instruction) -> Form:
    words = list(found.modifiers)
    if words[-1] == "satfinite":
        words.insert(words.index("s32"), words.pop())
    kind = "registers" if isinstance(found.operands[1], Vector) else "descriptor"
    return find_form(f"{'.'.join((found.opcode, *words))}.a::{kind}")


def _words(mnemonic: str) -> _Words:
    """The words of a mnemonic as far as their order tells something."""
    opcode, *words = mnemonic.split(".")
    types = tuple(word for word in words if is_type(word))
    layouts = tuple(word for word in words if word in _LAYOUTS)
    others = sorted(word for word in words if word not in (*types, *layouts))
    return opcode, types, layouts, tuple(others)


@cache
def _by_words() -> dict[_Words, Form]:
    """The forms of a warp by their words, whose order tells no two apart."""
    return {
        _words(spelling): form
        for form in warp_forms().values()
        for spelling in (form.ptx, *every_spelling(form))
    }
