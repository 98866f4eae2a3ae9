"""Fragments by what people remember of an instruction: its shape, an operand, a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilec.isa import Form, Product, UnknownNameError, form, forms_of
from tilec.isa.table import current

from .fragments import any_fragment_of, has_fragment
from .linear import LayoutError

if TYPE_CHECKING:
    from .repeated import Fragment


def fragment(
    form: Form | str,
    operand: str,
    dtype: str | None = None,
    *,
    sparse: bool = False,
    major: str | None = None,
) -> Fragment:
    """The layout of an operand, as `any_fragment_of` describes it.

    Args:
        form: a form, its full mnemonic, or a shape such as `m16n8k16`.
        operand: `a`, `b`, `c`, `d`, `e`, `sfa`, `sfb`, or `r` of a matrix load or store.
        dtype: element type of the operand, if `form` is a shape; for `e` that of A, for `sfa`
            and `sfb` that of the scale factors or of what they scale.
        sparse: whether the shape is one of `mma.sp`; `e` says so by itself.
        major: `row` or `col`, of A and B of m8n8k4 on f16.

    Raises:
        UnknownNameError: for a name that is not in the table, naming the nearest that are.
        LayoutError: if the shape and type leave open which layout is meant.

    Example:
        >>> a = fragment("m16n8k16", "a", "f16")
        >>> a(register=1, lane=14)
        (3, 5)
        >>> a.inverse()(row=3, col=5)
        (1, 14)
    """
    if isinstance(form, str):
        form = find_form(form, operand, dtype, sparse=sparse, major=major)
    return any_fragment_of(form, operand)


def find_form(
    name: str,
    operand: str,
    dtype: str | None = None,
    *,
    sparse: bool = False,
    major: str | None = None,
) -> Form:
    """The first form in the table that has such an operand.

    Args, Raises: as of `fragment`.
    """
    if "." in name:
        found = spelled_form(name, operand)
        any_fragment_of(found, operand)
        _check(found, operand, dtype, sparse=sparse, major=major)
        return found
    sparse = sparse or operand == "e"
    alike = [f for f in current().of_shape(name) if _operands(f)]
    named = [f for f in alike if bool(f.sparsity) == sparse]
    if not named:
        note = f"{name} is {'dense' if sparse else 'sparse'} only" if alike else ""
        what = "sparse shape" if sparse else "shape"
        every = (f for f in forms_of(Product) if _operands(f) and bool(f.sparsity) == sparse)
        raise UnknownNameError(what, name, (str(f.shape) for f in every), note=note)
    having = [f for f in named if operand in _operands(f)]
    if not having:
        legal = dict.fromkeys(n for f in named for n in _operands(f))
        raise UnknownNameError("operand", operand, legal, note=f"of {name}")
    if dtype is not None:
        typed = [f for f in having if dtype in types_of(f, operand)]
        if not typed:
            legal = dict.fromkeys(t for f in having for t in types_of(f, operand))
            raise UnknownNameError("type", dtype, legal, note=f"operand {operand} of {name}")
        having = typed
    if major is not None:
        majors = list(dict.fromkeys(str(m) for f in having if (m := f.operand(operand).major)))
        if major not in majors:
            if majors:
                raise UnknownNameError("major", major, majors)
            raise LayoutError(
                f"operand {operand} of {name} does not take a major; only a and b of m8n8k4 do"
            )
        having = [f for f in having if f.operand(operand).major == major]
    if len({any_fragment_of(f, operand) for f in having}) > 1:
        raise LayoutError(_ambiguous(name, operand, having))
    return having[0]


def spelled_form(name: str, operand: str) -> Form:
    """The form of a mnemonic; if that leaves open where A lies, the one with such a fragment.

    Raises:
        UnknownNameError: if there is none, naming the nearest.
    """
    several = current().named(name)
    if len(several) > 1:
        return next((f for f in several if operand in _operands(f)), several[0])
    return form(name)


def types_of(form: Form, operand: str) -> tuple[str, ...]:
    """The types by which an operand may be asked for, its own first.

    Metadata goes by the type of A: its codes have none.
    """
    if operand == "e":
        return (form.operand("a").type.name,)
    own = form.operand(operand).type.name
    return (own, form.operand(operand[-1]).type.name) if operand in ("sfa", "sfb") else (own,)


def _check(form: Form, operand: str, dtype: str | None, *, sparse: bool, major: str | None) -> None:
    """Refuse what contradicts a mnemonic given in full."""
    given = form.operand(operand)
    if dtype is not None and dtype not in types_of(form, operand):
        note = f"operand {operand} of {form.ptx}"
        raise UnknownNameError("type", dtype, types_of(form, operand), note=note)
    if sparse and not form.sparsity:
        raise LayoutError(f"{form.ptx} is not sparse")
    if major is not None and major != given.major:
        was = f"is {given.major}-major" if given.major else "does not take a major"
        raise LayoutError(f"operand {operand} of {form.ptx} {was}")


def _ambiguous(name: str, operand: str, found: Sequence[Form]) -> str:
    """What would tell the layouts of `found` apart."""
    types = dict.fromkeys(types_of(f, operand)[0] for f in found)
    majors = {f.operand(operand).major for f in found}
    if len(types) > 1:
        wanted = f"give its type: {', '.join(types)}"
    elif len(majors) > 1:
        wanted = "give its major: row or col"
    else:
        first = {any_fragment_of(f, operand): f.ptx for f in reversed(found)}
        wanted = f"give a full form: {', '.join(sorted(first.values()))}"
    return f"operand {operand} of {name} has more than one layout; {wanted}"


def _operands(form: Form) -> tuple[str, ...]:
    """The operands of which it is known which thread holds what."""
    return tuple(dict.fromkeys(o.name for o in form.all_operands if has_fragment(o)))
