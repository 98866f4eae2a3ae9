"""The section `probes`."""

from __future__ import annotations

from collections.abc import Iterator

from ..driver import Cuda
from ..pack import Pack
from . import absent, edges, grouping, metadata, quad_pairs
from .answer import Row


def run(cuda: Cuda, pack: Pack) -> Iterator[Row]:
    """The rows of all probes."""
    for probe in (grouping, quad_pairs, edges, absent, metadata):
        yield from probe.probes(cuda, pack.target)
