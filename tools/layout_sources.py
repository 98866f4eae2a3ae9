"""`tile-layout --sources`: which registers of which lanes feed one element of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tilec.isa import Form, Product, TilecError

from .layout_text import table
from .layout_view import LayoutView, Slot


@dataclass(frozen=True, slots=True)
class Term:
    """Products that are added up together, and where their factors are.

    Attributes:
        k: logical indices; one, or of a sparse form those of a chunk.
        feeds: slots of each operand that has a part: `a`, `b`, and where the form has them `e`,
            `sfa`, `sfb`.
    """

    k: range
    feeds: dict[str, list[Slot]]


@dataclass(frozen=True, slots=True)
class Sources:
    """What one element of D is made of, in one product of the warp."""

    result: Slot
    addend: Slot
    terms: tuple[Term, ...]


def sources(form: Form, element: Sequence[int], selectors: dict[str, int]) -> list[Sources]:
    """What feeds an element of D, for each product of the warp.

    Args:
        form: a product.
        element: its row and column.
        selectors: `selector`, `byte_id`, `thread_id` where given.

    Raises:
        TilecError: for another kind of form, an element that D has not, or selectors that no
            operand depends on.
    """
    if not isinstance(form, Product):
        raise TilecError(f"{form.ptx} is not a product: it has no sources")
    views = LayoutView.of_all(form, selectors)
    results, addends = views["d"].holders(element), views["c"].holders(element)
    row, col = element
    chunk = form.chunk
    stored = views["a"].extents[1] * chunk // form.shape.k
    found = []
    for product, (result, addend) in enumerate(zip(results, addends, strict=True)):

        def slot(name: str, *place: int, product: int = product) -> Slot:
            return views[name].holders(place)[product]

        terms = []
        for number in range(form.shape.k // chunk):
            k = range(number * chunk, (number + 1) * chunk)
            feeds = {
                "a": [slot("a", row, number * stored + s) for s in range(stored)],
                "b": [slot("b", at, col) for at in k],
            }
            if form.sparsity:
                feeds["e"] = [slot("e", row, number)]
            if form.scaling:
                block = k[0] * form.scaling.chunks // form.shape.k
                feeds["sfa"] = [slot("sfa", row, block)]
                feeds["sfb"] = [slot("sfb", block, col)]
            terms.append(Term(k, feeds))
        found.append(Sources(result, addend, tuple(terms)))
    return found


def text(form: Form, element: Sequence[int], found: Sequence[Sources]) -> str:
    """The sum, a line for each run of k that the same registers feed."""
    row, col = element
    parts = [f"{form.ptx}\nd {row},{col} = sum of a {row},k · b k,{col} over k, + c {row},{col}"]
    for number, one in enumerate(found):
        title = f"product {number}: " if len(found) > 1 else ""
        title += f"d in {_where([one.result])}, c in {_where([one.addend])}; lane:register by k"
        body, labels = [], []
        for cells, run in groupby(one.terms, _cells):
            ks = [k for term in run for k in term.k]
            body.append(cells)
            labels.append(f"{ks[0]}-{ks[-1]}" if len(ks) > 1 else str(ks[0]))
        parts.append(title + "\n" + table(body, labels, list(one.terms[0].feeds)))
    return "\n\n".join(parts)


def _cells(term: Term) -> list[str]:
    return [_where(slots) for slots in term.feeds.values()]


def _where(slots: Sequence[Slot]) -> str:
    return " ".join(dict.fromkeys(f"{slot.lane}:{slot.register}" for slot in slots))


def json(form: Form, element: Sequence[int], found: Sequence[Sources]) -> dict[str, Any]:
    """The same as data, bit ranges included."""
    return {
        "form": form.ptx,
        "element": list(element),
        "products": [
            {
                "d": one.result.json(),
                "c": one.addend.json(),
                "terms": [
                    {
                        "k": list(term.k),
                        **{name: [s.json() for s in slots] for name, slots in term.feeds.items()},
                    }
                    for term in one.terms
                ],
            }
            for one in found
        ],
    }
