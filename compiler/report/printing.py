"""Printed IR with aliases for the tile dialect's types and attributes, which upstream expands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

_STRING = r'"(?:\\.|[^"\\])*"'
_FLAT = rf'<(?:{_STRING}|->|[^<>"])*>'
_NESTED = rf'<(?:{_STRING}|->|[^<>"]|{_FLAT})*>'
_DEEP = rf'<(?:{_STRING}|->|[^<>"]|{_NESTED})*>'
# An attribute first: a type is then written with the aliases of the attributes inside it.
_KINDS = (rf"#tile\.(\w+){_NESTED}", rf"!tile\.(\w+){_DEEP}")


def to_text(module: Any, *, locations: bool = False, generic: bool = False) -> str:
    """The text of a module; it parses again to the same module.

    Args:
        module: an `ir.Module`.
        locations: print the operations' locations.
        generic: print every operation in the generic form.
    """
    text = module.operation.get_asm(enable_debug_info=locations, print_generic_op_form=generic)
    return with_aliases(text)


def with_aliases(text: str) -> str:
    """Printed IR in which what stands more than once is named above the module."""
    definitions: list[str] = []
    for kind in _KINDS:
        # Strings are matched, and left alone, so that nothing inside one is taken for a type.
        pattern = re.compile(f"{kind}|{_STRING}")
        found = Counter(m[0] for m in pattern.finditer(text) if m[1])
        names: dict[str, str] = {}
        taken: Counter[str] = Counter()
        for spelling, count in found.items():
            if count < 2:
                continue
            word = re.match(kind, spelling)
            assert word
            stem = spelling[0] + word[1]
            names[spelling] = f"{stem}{taken[stem] or ''}"
            taken[stem] += 1
            definitions.append(f"{names[spelling]} = {spelling}\n")
        if names:
            text = pattern.sub(partial(_named, names), text)
    return "".join(definitions) + text


def _named(names: Mapping[str, str], match: re.Match[str]) -> str:
    return names.get(match[0], match[0])
