"""The section `probes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..driver import Cuda
from ..pack import Pack
from . import (
    absent,
    base_offsets,
    codes,
    edges,
    fences,
    fills,
    grouping,
    metadata,
    nans,
    narrow_boxes,
    quad_pairs,
    single_bits,
    sparse_lines,
    tensor_map_bytes,
)
from .answer import Row

_PROBES: Mapping[str, Callable[[Cuda, str], Iterator[Row]]] = {
    "grouping": grouping.probes,
    "grouping of warpgroups": grouping.of_warpgroups,
    "quad_pairs": quad_pairs.probes,
    "edges": edges.probes,
    "absent": absent.probes,
    "metadata": metadata.probes,
    "codes": codes.probes,
    "nans": nans.probes,
    "base offsets": base_offsets.probes,
    "narrow boxes": narrow_boxes.probes,
    "fills": fills.probes,
    "fences": fences.probes,
    "single bits": single_bits.probes,
    "sparse lines": sparse_lines.probes,
    "tensor map bytes": tensor_map_bytes.probes,
}

SECONDS: Mapping[str, float] = {
    "grouping": 3.0,
    "grouping of warpgroups": 6.0,
    "quad_pairs": 1.0,
    "edges": 1.0,
    "absent": 1.0,
    "metadata": 3.0,
    "codes": 1.0,
    "nans": 1.0,
    "base offsets": 1.0,
    "narrow boxes": 1.0,
    "fills": 1.0,
    "fences": 2.0,
    "single bits": 2.0,
    "sparse lines": 0.5,
    "tensor map bytes": 0.5,
}
"""What each takes, most of it for what the hypotheses give."""


def run(cuda: Cuda, pack: Pack, name: str) -> Iterator[Row]:
    """The rows of a probe."""
    yield from _PROBES[name](cuda, pack.target)
