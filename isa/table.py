"""The table of instruction forms: every form once, found by its key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from . import block_scale, matrix_memory, mma, mma_sp, wmma
from .errors import TilecError, UnknownNameError
from .forms import Form

_FAMILIES = (mma, block_scale, mma_sp, wmma, matrix_memory)


@cache
def forms() -> Mapping[str, Form]:
    """Every form by its key, in the order of the families' files."""
    table: dict[str, Form] = {}
    for module in _FAMILIES:
        for form in module.forms():
            if form.ptx in table:
                raise TilecError(f"two forms called {form.ptx}")
            table[form.ptx] = form
    return MappingProxyType(table)


def form(ptx: str) -> Form:
    """The form whose key is `ptx`.

    Raises:
        UnknownNameError: if there is none, naming the nearest.
    """
    try:
        return forms()[ptx]
    except KeyError:
        raise UnknownNameError("instruction form", ptx, forms()) from None
