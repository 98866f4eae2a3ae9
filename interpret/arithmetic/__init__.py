"""The three arithmetics."""

from collections.abc import Mapping
from types import MappingProxyType

from tilec.isa import UnknownNameError

from .algebraic import Algebraic
from .base import Arithmetic, ProductOf
from .hardware import Hardware
from .shadow import Shadow

ARITHMETICS: Mapping[str, Arithmetic] = MappingProxyType(
    {one.name: one for one in (Hardware(), Shadow(), Algebraic())}
)
"""The arithmetics by name."""


def arithmetic_of(name: str) -> Arithmetic:
    """The arithmetic called `name`.

    Raises:
        UnknownNameError: if there is none.
    """
    if name not in ARITHMETICS:
        raise UnknownNameError("arithmetic", name, ARITHMETICS)
    return ARITHMETICS[name]


__all__ = ["ARITHMETICS", "Arithmetic", "ProductOf", "arithmetic_of"]
