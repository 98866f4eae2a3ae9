"""The section `probes`."""

from __future__ import annotations

from collections.abc import Iterator

from ..driver import Cuda
from ..pack import Pack
from . import edges, grouping, metadata
from .answer import Row


def run(cuda: Cuda, pack: Pack) -> Iterator[Row]:
    """The rows of all probes."""
    for probe in (grouping, edges, metadata):
        yield from probe.probes(cuda, pack.target)
