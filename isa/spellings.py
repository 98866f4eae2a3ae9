"""Other spellings that PTX allows for a form: qualifiers left out, qualifiers in another order.

The key of a form is one of its spellings; these are the rest. The ISA documents the defaults; the
orders are those that NVIDIA's own headers and examples print, and ptxas takes them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from .forms import Form, MatrixMemory, Mma, WmmaMemory, WmmaMma

_SPACES = ("global", "shared", "shared::cta")


def _mma(form: Mma) -> Iterator[str]:
    """Default rounding and `scale_vec`; `.kind` before the shape; `.satfinite` at the end."""
    head, _, rest = form.ptx.partition(".aligned.")
    words = rest.split(".")
    shape, layout = words[:1], words[1:3]
    scaled = [w for w in words if w.startswith(("kind::", "block_scale", "scale_vec::"))]
    types = [w for w in words[3:] if w not in (*scaled, "satfinite")]
    groups = [scaled]
    # PTX ISA, "Block Scaling for mma.sync": mxf4nvf4 has no default.
    if form.scaling and form.kind != "mxf4nvf4":
        groups.append(scaled[:-1])
    ends = [(["satfinite"], []), ([], ["satfinite"])] if form.satfinite else [([], [])]
    tails = [types]
    if form.rounding:
        tails.append([types[-1], *types[:-1]])
    if form.rounding == "rn":
        tails.append(types[:-1])
    for group, (before, after), tail in product(groups, ends, tails):
        orders = [[*shape, *layout, *group]]
        if group:
            orders.append([*group, *shape, *layout])
        for order in orders:
            yield ".".join((f"{head}.aligned", *order, *before, *tail, *after))


def _wmma(form: WmmaMma | WmmaMemory) -> Iterator[str]:
    """Default rounding; the shape before the layout."""
    head, _, rest = form.ptx.partition(".aligned.")
    words = rest.split(".")
    at = words.index(str(form.shape))
    tails = [words[at + 1 :]]
    if isinstance(form, WmmaMma) and form.rounding == "rn":
        tails.append(words[at + 2 :])
    for tail in tails:
        yield ".".join((f"{head}.aligned", *words[: at + 1], *tail))
        yield ".".join((f"{head}.aligned", words[at], *words[:at], *tail))


def _matrix(form: MatrixMemory) -> Iterator[str]:
    """The shape, the count and `.trans` in any order."""
    head, _, rest = form.ptx.partition(".aligned.")
    words = rest.split(".")
    at = 3 if form.transposed else 2
    for order in permutations(words[:at]):
        yield ".".join((f"{head}.aligned", *order, *words[at:]))


def spellings(form: Form) -> tuple[str, ...]:
    """Every other spelling of `form`, the state space left out."""
    match form:
        case Mma():
            found = _mma(form)
        case WmmaMma() | WmmaMemory():
            found = _wmma(form)
        case MatrixMemory():
            found = _matrix(form)
        case _:
            found = iter(())
    return tuple(s for s in dict.fromkeys(found) if s != form.ptx)


def modern(mnemonic: str) -> str:
    """A mnemonic with the `.aligned` that wmma had not before PTX 6.3.

    PTX ISA, "wmma.load: PTX ISA Notes".
    """
    head, sync, rest = mnemonic.partition(".sync.")
    if mnemonic.startswith("wmma.") and sync and not rest.startswith("aligned."):
        return f"{head}.sync.aligned.{rest}"
    return mnemonic


def split_space(mnemonic: str) -> tuple[str, str]:
    """A mnemonic without its state space, and the space, empty where none is named."""
    words = mnemonic.split(".")
    space = next((word for word in words if word in _SPACES), "")
    return ".".join(word for word in words if word not in _SPACES), space
