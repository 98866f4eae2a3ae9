"""Printed IR as people read it: ops in their custom forms, what is long by a short name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

_STRING = r'"(?:\\.|[^"\\])*"'
_FLAT = rf'<(?:{_STRING}|->|[^<>"])*>'
_NESTED = rf'<(?:{_STRING}|->|[^<>"]|{_FLAT})*>'
_DEEP = rf'<(?:{_STRING}|->|[^<>"]|{_NESTED})*>'
# Strings are matched, and left alone, so that nothing inside one is taken for a type. A type
# first: what it is defined as has its attributes written out.
_KINDS = (
    re.compile(rf"(!tile\.\w+{_DEEP})|{_STRING}"),
    re.compile(rf"(#tile\.\w+{_NESTED})|{_STRING}"),
)


def to_text(module: Any, *, locations: bool = False, generic: bool = False) -> str:
    """The text of a module; it parses again to the same module.

    Args:
        module: an `ir.Module`.
        locations: print the operations' locations.
        generic: print every operation in the generic form.
    """
    from tilec.ir.assembly import shortened, to_custom  # noqa: PLC0415 (imports MLIR)

    text = module.operation.get_asm(enable_debug_info=locations, print_generic_op_form=generic)
    text = with_aliases(shortened(text))
    return text if generic else to_custom(text)


def with_aliases(text: str) -> str:
    """Printed IR with what is long named above the module.

    A name follows from what it stands for alone: no other type or layout renumbers it.
    """
    definitions: list[str] = []
    for pattern in _KINDS:
        names = _names(dict.fromkeys(m[1] for m in pattern.finditer(text) if m[1]))
        if names:
            text = pattern.sub(partial(_named, names), text)
            definitions += (f"{name} = {spelling}\n" for spelling, name in names.items())
    return "".join(definitions) + text


def _names(spellings: Mapping[str, None]) -> dict[str, str]:
    """The aliases of those that have one."""
    from tilec.dialects.tile.alias_names import alias_of  # noqa: PLC0415 (imports MLIR)

    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for spelling in spellings:
        for digits in (4, 8):
            name = alias_of(spelling, digits)
            if name is None or taken.setdefault(name, spelling) == spelling:
                break
        if name is not None:
            found[spelling] = name
    return found


def _named(names: Mapping[str, str], match: re.Match[str]) -> str:
    return names.get(match[0], match[0])
