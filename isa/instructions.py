"""The table of instructions that are not matrix instructions, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Protocol

from . import bulk_copies, mbarriers, ordering
from .errors import TilecError
from .instruction_class import Instruction, operand_type
from .lazy import cached_property

__all__ = ["Instruction", "instructions", "named", "operand_type"]


class _Families(Protocol):
    """A module of a group of families."""

    def instructions(self) -> Iterable[Instruction]:
        """Every one."""
        ...


_TENSOR_OPCODES = ("tcgen05.", "clusterlaunchcontrol.")
"""Of what is made when one of it, or everything, is asked for: two thirds of the table."""


class _Instructions(Mapping[str, Instruction]):
    """Every instruction, by key."""

    @cached_property
    def _others(self) -> dict[str, Instruction]:
        """All that do not have to do with tensor memory."""
        return _by_key({}, (bulk_copies, mbarriers, ordering))

    @cached_property
    def _whole(self) -> dict[str, Instruction]:
        from . import tensor_memory, tensor_products  # noqa: PLC0415 (for Blackwell only)

        return _by_key(self._others, (tensor_memory, tensor_products))

    def __getitem__(self, key: str) -> Instruction:
        return (self._whole if key.startswith(_TENSOR_OPCODES) else self._others)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)


def _by_key(
    known: Mapping[str, Instruction], families: Iterable[_Families]
) -> dict[str, Instruction]:
    """Those known and those of some modules, by key.

    Raises:
        TilecError: if two have one.
    """
    table = dict(known)
    for one in (one for module in families for one in module.instructions()):
        if one.ptx in table:
            raise TilecError(f"two instructions called {one.ptx}")
        table[one.ptx] = one
    return table


@cache
def instructions() -> Mapping[str, Instruction]:
    """Every instruction, by mnemonic."""
    return _Instructions()


def named(mnemonic: str, a: str | None = None) -> Instruction | None:
    """The instruction of a mnemonic or key; None if there is none.

    Args:
        mnemonic: of which several differ only in where A lies; the first is meant.
        a: where A lies, if it is not the first place.

    Raises:
        TilecError: if it does not offer a choice for the location of A.
    """
    table = instructions()
    if mnemonic in table:
        if a is not None and not mnemonic.endswith(f".a::{a}"):
            raise TilecError(f"{mnemonic} does not offer a choice for the location of A")
        return table[mnemonic]
    if not mnemonic.startswith(_TENSOR_OPCODES):
        return None
    from .tensor_products import A_PLACES  # noqa: PLC0415 (for Blackwell only)

    places = (a,) if a is not None else A_PLACES
    return next((found for one in places if (found := table.get(f"{mnemonic}.a::{one}"))), None)
