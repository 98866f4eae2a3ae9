"""The section `probes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..driver import Cuda
from ..pack import Pack
from . import absent, edges, grouping, metadata, quad_pairs
from .answer import Row

_PROBES: Mapping[str, Callable[[Cuda, str], Iterator[Row]]] = {
    "grouping": grouping.probes,
    "quad_pairs": quad_pairs.probes,
    "edges": edges.probes,
    "absent": absent.probes,
    "metadata": metadata.probes,
}

SECONDS: Mapping[str, float] = {
    "grouping": 3.0,
    "quad_pairs": 1.0,
    "edges": 1.0,
    "absent": 1.0,
    "metadata": 3.0,
}
"""What each takes, most of it for what the hypotheses give."""


def run(cuda: Cuda, pack: Pack, name: str) -> Iterator[Row]:
    """The rows of a probe."""
    yield from _PROBES[name](cuda, pack.target)
