"""The table of instruction forms: every form once, found by its key or another spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from types import MappingProxyType
from typing import TypeVar, cast

from .errors import TilecError, UnknownNameError
from .forms import Family, Form
from .spellings import every_spelling, split_space

_Kind = TypeVar("_Kind", bound=Form)


class Table:
    """Forms by key, by spelling and by class.

    Raises:
        TilecError: if two forms have one key.
    """

    def __init__(self, found: Iterable[Form]) -> None:
        table: dict[str, Form] = {}
        for one in found:
            if one.ptx in table:
                raise TilecError(f"two forms called {one.ptx}")
            table[one.ptx] = one
        self.forms: Mapping[str, Form] = MappingProxyType(table)
        """Every form by its key, in the order of the families' files."""
        self._kinds: dict[type[Form], tuple[Form, ...]] = {}

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that there are: those of `Family`, then others."""
        return tuple(dict.fromkeys((*Family, *(one.family for one in self.forms.values()))))

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """The forms of a class, in the table's order."""
        found = self._kinds.get(kind)
        if found is None:
            found = tuple(one for one in self.forms.values() if isinstance(one, kind))
            self._kinds[kind] = found
        return cast("tuple[_Kind, ...]", found)

    @cached_property
    def _spelled(self) -> Mapping[str, tuple[Form, ...]]:
        """The forms of every spelling that is no key: several if only operands tell them apart."""
        table: dict[str, tuple[Form, ...]] = {}
        for one in self.forms.values():
            for spelling in every_spelling(one):
                others = table.get(spelling, ())
                if spelling in self.forms or any(o.mnemonic() != one.mnemonic() for o in others):
                    raise TilecError(f"'{spelling}' spells two forms")
                table[spelling] = (*others, one)
        return MappingProxyType(table)

    @cached_property
    def opcodes(self) -> tuple[str, ...]:
        """First words of the mnemonics."""
        return tuple(dict.fromkeys(key.partition(".")[0] for key in self.forms))

    def named(self, ptx: str) -> tuple[Form, ...]:
        """The forms that `ptx` spells, the state space left out; several as `form` says."""
        if ptx in self.forms:
            return (self.forms[ptx],)
        return self._spelled.get(ptx, ())

    def form(self, ptx: str) -> Form:
        """The form that `ptx` spells, as `form` has it."""
        found = self.named(ptx)
        if not found:
            raise UnknownNameError("instruction form", ptx, self.forms)
        if len(found) > 1:
            keys = ", ".join(one.ptx for one in found)
            raise TilecError(f"'{ptx}' is said of several forms; give one of {keys}")
        return found[0]


def _families() -> Iterator[Iterable[Form]]:
    """The forms of each family, or generation of families, in the table's order."""
    # Imported with the table's forms: who only asks for targets or types does without them all.
    from . import block_scale, matrix_memory, mma_dense, mma_sp, wmma  # noqa: PLC0415

    for module in (mma_dense, block_scale, mma_sp, wmma, matrix_memory):
        yield module.forms()


@cache
def _whole() -> Table:
    return Table(one for family in _families() for one in family)


_extended: list[Table] = []


def current() -> Table:
    """The table that is asked: PTX's, within `extend` with further forms."""
    return _extended[-1] if _extended else _whole()


@contextmanager
def extend(*further: Form) -> Iterator[Table]:
    """Further forms in the table, for as long as a `with` lasts: to try what PTX does not have.

    Raises:
        TilecError: if the table has a form of this key.
    """
    larger = Table((*current().forms.values(), *further))
    _extended.append(larger)
    try:
        yield larger
    finally:
        _extended.remove(larger)


def forms() -> Mapping[str, Form]:
    """Every form by its key, in the order of the families' files."""
    return current().forms


def forms_of(kind: type[_Kind]) -> tuple[_Kind, ...]:
    """The forms of a class, in the table's order."""
    return current().of(kind)


def form(ptx: str) -> Form:
    """The form that `ptx` spells, the state space left out.

    Raises:
        UnknownNameError: if there is none, naming the nearest.
        TilecError: if there are several, which only their operands tell apart, naming their keys.

    Example:
        >>> found = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        >>> [operand.name for operand in found.operands], str(found.shape)
        (['a', 'b', 'c'], 'm16n8k16')
    """
    return current().form(ptx)


def instruction(mnemonic: str) -> tuple[Form, str]:
    """The form and the state space that a mnemonic names; the space is empty if generic.

    Raises:
        UnknownNameError: if there is no such form, or it takes no address in that space.
        TilecError: as of `form`.

    Example:
        >>> form, space = instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
        >>> str(form), space
        ('ldmatrix.sync.aligned.m8n8.x4.b16', 'shared')
    """
    ptx, space = split_space(mnemonic)
    found = form(ptx)
    if space and space not in found.spaces:
        legal = [found.mnemonic(s) for s in found.spaces] or [found.ptx]
        raise UnknownNameError("instruction form", mnemonic, legal)
    return found, space
