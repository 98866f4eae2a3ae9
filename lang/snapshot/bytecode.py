"""What a function's code may read of what is outside of it, found in its bytecode.

Bytecode is what runs, source or not, and CPython has a handful of instructions that reach out of a
function: those that load names, and those that import. Everything else works on what these gave.
"""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from .code_text import code_text
from .paths import Path
from .scan import Scan


class CodeReads(NamedTuple):
    """What code may read.

    Attributes:
        text: what it does, without where it stands.
        paths: what it reads from outside, in order.
        names: the attributes that it takes of what it holds, and the words in its texts.
        any_name: whether it may take attributes whose names are in neither.
        any_class: whether it may call a class that it does not name.
        set_order: whether it may depend on the order of a set.
    """

    text: str
    paths: tuple[Path, ...]
    names: frozenset[str]
    any_name: bool
    any_class: bool
    set_order: bool


@lru_cache(maxsize=2048)
def reads(code: CodeType) -> CodeReads:
    """What a function's code may read, functions inside of it included.

    Raises:
        UnknownInstructionError: in a Python whose instructions are not known.
    """
    found = Scan(code)
    inner = [reads(const) for const in code.co_consts if isinstance(const, CodeType)]
    paths = dict.fromkeys([*found.paths, *(path for one in inner for path in one.paths)])
    return CodeReads(
        code_text(code),
        tuple(paths),
        frozenset(found.names).union(*(one.names for one in inner)),
        found.any_name or any(one.any_name for one in inner),
        found.any_class or any(one.any_class for one in inner),
        found.set_order or any(one.set_order for one in inner),
    )
