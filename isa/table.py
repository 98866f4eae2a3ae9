"""The table of instruction forms: every form once, found by its key or another spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import TypeVar, cast

from tilec.isa.lazy import cached_property

from .chapters import TENSOR, WARPGROUP, Chapter
from .errors import TilecError, UnknownNameError
from .form_classes import Family, Form, Product
from .form_parts import ExecutionScope
from .lazy_forms import ChainedForms
from .spellings import every_spelling, split_space

_Kind = TypeVar("_Kind", bound=Form)


class Table:
    """Forms by key, by spelling and by class.

    Args:
        found: forms.
        later: more of them, made when they are asked for.

    Raises:
        TilecError: if two forms have one key.
    """

    def __init__(self, found: Iterable[Form], later: Sequence[Chapter] = ()) -> None:
        table: dict[str, Form] = {}
        for one in found:
            if one.ptx in table:
                raise TilecError(f"two forms called {one.ptx}")
            table[one.ptx] = one
        self.made: Mapping[str, Form] = MappingProxyType(table)
        """The forms that are made with the table."""
        self.later = tuple(later)
        self._kinds: dict[type[Form], tuple[Form, ...]] = {}

    @cached_property
    def forms(self) -> Mapping[str, Form]:
        """Every form by its key, in the order of the families' files."""
        return ChainedForms((self.made, *self.later))

    @cached_property
    def of_warps(self) -> Mapping[str, Form]:
        """The forms that a warp executes, by key."""
        found = {key: one for key, one in self.made.items() if one.scope is ExecutionScope.WARP}
        return MappingProxyType(found)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that there are: those of `Family`, then others."""
        return tuple(dict.fromkeys((*Family, *(one.family for one in self.made.values()))))

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """The forms of a class, in the table's order."""
        found = self._kinds.get(kind)
        if found is None:
            several = [chapter.forms for chapter in self.later if chapter.may_have(kind)]
            every = ChainedForms((self.made, *several)).values()
            found = tuple(one for one in every if isinstance(one, kind))
            self._kinds[kind] = found
        return cast("tuple[_Kind, ...]", found)

    def of_shape(self, shape: str) -> tuple[Product, ...]:
        """The products of a shape such as `m16n8k16`."""
        several = [chapter.of_shape(shape) for chapter in self.later]
        every = ChainedForms((self.made, *several)).values()
        return tuple(f for f in every if isinstance(f, Product) and str(f.shape) == shape)

    @cached_property
    def _spelled(self) -> Mapping[str, tuple[Form, ...]]:
        """The forms of every spelling that is not a key; several if only operands differ."""
        table: dict[str, tuple[Form, ...]] = {}
        for one in self.made.values():
            for spelling in every_spelling(one):
                others = table.get(spelling, ())
                if spelling in self.made or any(o.mnemonic() != one.mnemonic() for o in others):
                    raise TilecError(f"'{spelling}' spells two forms")
                table[spelling] = (*others, one)
        return MappingProxyType(table)

    @cached_property
    def opcodes(self) -> tuple[str, ...]:
        """First words of the mnemonics."""
        words = (key.partition(".")[0] for key in self.made)
        return tuple(dict.fromkeys((*words, *(chapter.opcode for chapter in self.later))))

    def named(self, ptx: str) -> tuple[Form, ...]:
        """The forms that `ptx` spells, the state space left out; several as `form` says."""
        if ptx in self.made:
            return (self.made[ptx],)
        for chapter in self.later:
            if chapter.has(ptx):
                return chapter.named(ptx)
        return self._spelled.get(ptx, ())

    def form(self, ptx: str, a: str | None = None) -> Form:
        """The form that `ptx` spells, as `form` has it."""
        found = self.named(ptx)
        if a is not None:
            found = tuple(one for one in found if one.a_kind == a) or _refuse_kind(found, ptx, a)
        if not found:
            raise self._unknown(ptx)
        if len(found) > 1:
            keys = ", ".join(one.ptx for one in found)
            raise TilecError(f"'{ptx}' is ambiguous; give one of {keys}")
        return found[0]

    def _unknown(self, ptx: str) -> UnknownNameError:
        """The error that says what `ptx` may have meant."""
        for chapter in self.later:
            if chapter.has(ptx):
                return UnknownNameError("instruction form", ptx, chapter.near(ptx), every=False)
        return UnknownNameError("instruction form", ptx, self.made)


def _refuse_kind(found: Sequence[Form], ptx: str, a: str) -> tuple[Form, ...]:
    """Raise if forms are called `ptx`, none of which has A in such a place."""
    legal = [one.a_kind for one in found if one.a_kind is not None]
    if found and not legal:
        raise TilecError(f"{ptx} does not offer a choice for the location of A")
    if legal:
        raise UnknownNameError("place of A", a, legal)
    return ()


def _families() -> Iterator[Iterable[Form]]:
    """The forms of each family, or generation of families, in the table's order."""
    # Imported with the table's forms: who only asks for targets or types does without them all.
    from . import block_scale, matrix_memory, mma_dense, mma_sp, wmma  # noqa: PLC0415

    for module in (mma_dense, block_scale, mma_sp, wmma, matrix_memory):
        yield module.forms()


@cache
def _whole() -> Table:
    return Table((one for family in _families() for one in family), (WARPGROUP, TENSOR))


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
    smaller = current()
    larger = Table((*smaller.made.values(), *further), smaller.later)
    _extended.append(larger)
    try:
        yield larger
    finally:
        _extended.remove(larger)


def forms() -> Mapping[str, Form]:
    """Every form by its key, in the order of the families' files.

    There are thousands; those of a warpgroup are made when they are asked for.
    """
    return current().forms


def warp_forms() -> Mapping[str, Form]:
    """Every form that a warp executes, by its key, in the order of the families' files."""
    return current().of_warps


def forms_of(kind: type[_Kind]) -> tuple[_Kind, ...]:
    """The forms of a class, in the table's order."""
    return current().of(kind)


def form(ptx: str, a: str | None = None) -> Form:
    """The form that `ptx` spells, the state space left out.

    Args:
        ptx: its key or another spelling.
        a: where A lies, `descriptor` or `registers`, if the mnemonic leaves that open.

    Raises:
        UnknownNameError: if there is none, naming the nearest.
        TilecError: if there are several, which only their operands tell apart, naming their keys.

    Example:
        >>> found = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        >>> [operand.name for operand in found.operands], str(found.shape)
        (['a', 'b', 'c'], 'm16n8k16')
    """
    return current().form(ptx, a)


def instruction(mnemonic: str, a: str | None = None) -> tuple[Form, str]:
    """The form and the state space that a mnemonic names; the space is empty if generic.

    Args:
        mnemonic: the mnemonic, or a form's key.
        a: as of `form`.

    Raises:
        UnknownNameError: if there is no such form, or it takes no address in that space.
        TilecError: as of `form`.

    Example:
        >>> form, space = instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
        >>> str(form), space
        ('ldmatrix.sync.aligned.m8n8.x4.b16', 'shared')
    """
    ptx, space = split_space(mnemonic)
    found = form(ptx, a)
    if space and space not in found.spaces:
        legal = [found.mnemonic(s) for s in found.spaces] or [found.ptx]
        raise UnknownNameError("instruction form", mnemonic, legal)
    return found, space
