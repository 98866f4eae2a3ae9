"""The table of instruction forms: every form once, found by its key or another spelling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from . import block_scale, matrix_memory, mma, mma_sp, wmma
from .errors import TilecError, UnknownNameError
from .forms import Form
from .spellings import modern, spellings, split_space

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


@cache
def _other_spellings() -> Mapping[str, Form]:
    table: dict[str, Form] = {}
    for form in forms().values():
        for spelling in spellings(form):
            if spelling in forms() or spelling in table:
                raise TilecError(f"'{spelling}' spells two forms")
            table[spelling] = form
    return MappingProxyType(table)


def form(ptx: str) -> Form:
    """The form that `ptx` spells, the state space left out.

    Raises:
        UnknownNameError: if there is none, naming the nearest.

    Example:
        >>> found = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        >>> [operand.name for operand in found.operands], str(found.shape)
        (['a', 'b', 'c'], 'm16n8k16')
    """
    found = forms().get(ptx) or _other_spellings().get(ptx)
    if found is None:
        raise UnknownNameError("instruction form", ptx, forms())
    return found


def instruction(mnemonic: str) -> tuple[Form, str]:
    """The form and the state space that a mnemonic names; the space is empty if generic.

    Raises:
        UnknownNameError: if there is no such form, or it takes no address in that space.

    Example:
        >>> form, space = instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
        >>> str(form), space
        ('ldmatrix.sync.aligned.m8n8.x4.b16', 'shared')
    """
    ptx, space = split_space(modern(mnemonic))
    found = form(ptx)
    if space and space not in found.spaces:
        legal = [found.mnemonic(s) for s in found.spaces] or [found.ptx]
        raise UnknownNameError("instruction form", mnemonic, legal)
    return found, space
