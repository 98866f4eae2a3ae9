"""The table of instructions that are no matrix instructions, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from . import bulk_copies, mbarriers, ordering, tensor_memory, tensor_products
from .errors import TilecError
from .instruction_class import Instruction, operand_type
from .tensor_products import A_PLACES

__all__ = ["Instruction", "instructions", "named", "operand_type"]

_FAMILIES = (bulk_copies, mbarriers, ordering, tensor_memory, tensor_products)
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


def named(mnemonic: str, a: str | None = None) -> Instruction | None:
    """The instruction of a mnemonic or key; None if there is none.

    Args:
        mnemonic: of which several differ only in where A lies; the first is meant.
        a: where A lies, if it is not the first place.

    Raises:
        TilecError: if it leaves no choice of where A lies.
    """
    table = instructions()
    if mnemonic in table:
        if a is not None and not mnemonic.endswith(f".a::{a}"):
            raise TilecError(f"{mnemonic} leaves no choice of where A lies")
        return table[mnemonic]
    places = (a,) if a is not None else A_PLACES
    return next((found for one in places if (found := table.get(f"{mnemonic}.a::{one}"))), None)
