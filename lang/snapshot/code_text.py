"""Code as a text that tells it from other code, wherever it stands."""

from __future__ import annotations

from hashlib import blake2b
from types import CodeType

from .exact import exact


def code_text(code: CodeType) -> str:
    """A digest of what a code object does; of places it holds only those within the function.

    So a function that moves within its file, or to another, keeps its text.
    """
    parts = (
        code.co_name,
        code.co_flags,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_code,
        code.co_exceptiontable,
        code.co_linetable,  # lines are counted from the function's first
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        *map(_constant, code.co_consts),
    )
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _constant(value: object) -> str:
    if isinstance(value, CodeType):
        return code_text(value)
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_constant, value))}"
    if isinstance(value, tuple):
        return f"tuple {[*map(_constant, value)]}"
    return str(exact(value))
