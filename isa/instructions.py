"""The table of instructions that are not matrix instructions, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from . import bulk_copies, mbarriers, ordering
from .errors import TilecError
from .instruction_class import Instruction, operand_type

__all__ = ["Instruction", "instructions", "operand_type"]

_FAMILIES = (bulk_copies, mbarriers, ordering)
"""A module a group of families; each has a function `instructions`."""


@cache
def instructions() -> Mapping[str, Instruction]:
    """Every instruction, by mnemonic.

    Raises:
        TilecError: if two have one.
    """
    table: dict[str, Instruction] = {}
    for one in (one for module in _FAMILIES for one in module.instructions()):
        if one.ptx in table:
            raise TilecError(f"two instructions called {one.ptx}")
        table[one.ptx] = one
    return MappingProxyType(table)
