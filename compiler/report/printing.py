"""Printed IR as people read it: ops in their custom forms, what is long by a short name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

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
_OWN_FILE = re.compile(r'"-"(?=:\d+:\d+)')
"""What MLIR calls the text that it was handed, where a location prints it."""


class Style(NamedTuple):
    """How IR is printed; the names are those of MLIR's flags.

    Attributes:
        locations: print the operations' locations.
        file: what the program's own file is called in locations; as the parser calls it if empty.
        pretty_locations: print them for people; the text does not parse again.
        generic: print every operation in the generic form.
        own_generic: print so what is of no dialect of upstream's, attributes in full, as its tools
            read it.
        local_scope: print without aliases, so that each line stands by itself.
        elements_limit: leave out the elements of constants that have more.
        resource_limit: leave out resources whose text is longer.
        name_prefix: name values as their locations do.
        assume_verified: print without verifying first.
        skip_regions: print no regions.
    """

    locations: bool = False
    file: str = ""
    pretty_locations: bool = False
    generic: bool = False
    own_generic: bool = False
    local_scope: bool = False
    elements_limit: int | None = None
    resource_limit: int | None = None
    name_prefix: bool = False
    assume_verified: bool = False
    skip_regions: bool = False


def to_text(root: Any, *, locations: bool = False, generic: bool = False) -> str:
    """The text of a module or an operation; that of a module parses again to the same module.

    Args:
        root: an `ir.Module` or an operation.
        locations: print the operations' locations.
        generic: print every operation in the generic form.
    """
    return print_as(root, Style(locations=locations, generic=generic))


def print_as(root: Any, style: Style) -> str:
    """The text of a module or an operation.

    Args:
        root: an `ir.Module` or an operation.
        style: how to print it.
    """
    from tilec.ir.assembly import shortened, to_custom  # noqa: PLC0415 (imports MLIR)

    text = root.operation.get_asm(
        enable_debug_info=style.locations,
        pretty_debug_info=style.pretty_locations,
        print_generic_op_form=style.generic,
        use_local_scope=style.local_scope,
        large_elements_limit=style.elements_limit,
        large_resource_limit=style.resource_limit,
        use_name_loc_as_prefix=style.name_prefix,
        assume_verified=style.assume_verified,
        skip_regions=style.skip_regions,
    )
    if not style.own_generic:
        text = shortened(text)
    if not style.local_scope:
        text = with_aliases(text)
    if style.file:
        text = _OWN_FILE.sub(lambda _: json.dumps(style.file, ensure_ascii=False), text)
    return text if style.generic or style.own_generic else to_custom(text)


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
