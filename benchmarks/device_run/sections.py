"""The sections of a run, in their order, and how long each may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import attention, forms, gemm, overhead, programs, rates, runtime
from .driver import Cuda
from .machine import Sampler
from .pack import Pack
from .peers import Peers
from .probes import run as probes

Row = dict[str, Any]

SQUARES = (512, 1024, 2048, 4096, 8192, 16384)
LLM = (
    (2048, 6144, 4096),
    (2048, 4096, 4096),
    (2048, 28672, 4096),
    (2048, 4096, 14336),
    (8192, 10240, 8192),
    (8192, 57344, 8192),
    (8192, 8192, 28672),
)
"""M, N and K of the layers of Llama 3 8B at 2,048 tokens and of 70B at 8,192: the projections of
attention, in and out, and of the feed-forward network, up with its gate, and down."""


@dataclass(frozen=True)
class Section:
    """A part of a run.

    Attributes:
        name: of the section.
        share: of the whole time, at most; together they may be more than the whole.
        run: gives its rows; begins nothing after the time, as `time.monotonic` counts.
    """

    name: str
    share: float
    run: Callable[[Cuda, Pack, float], Iterator[Row]]


SWEPT = (4096, 8192)
"""Squares on which configurations are compared."""

HEADS = ((128, 1024), (64, 2048), (64, 4096), (32, 8192), (16, 16384))
"""Heads of all batches, and queries of each; 8,192 queries are those that everybody compares."""

ROUNDS = 15


def _gemm(cuda: Cuda, pack: Pack, until: float) -> Iterator[Row]:
    # The sizes that everybody compares come first.
    ordered = sorted(SQUARES, key=lambda size: (size not in (4096, 8192), size))
    shapes = [*((size,) * 3 for size in ordered), *LLM]
    return _timed(cuda, pack, gemm.run, shapes=shapes, until=until)


def _sweep(cuda: Cuda, pack: Pack, until: float) -> Iterator[Row]:
    shapes = [(size,) * 3 for size in SWEPT]
    return _timed(cuda, pack, gemm.run, shapes=shapes, until=until, work="sweep")


def _attention(cuda: Cuda, pack: Pack, until: float) -> Iterator[Row]:
    ordered = sorted(HEADS, key=lambda problem: problem[1] != 8192)
    return _timed(cuda, pack, attention.run, problems=ordered, until=until)


def _timed(cuda: Cuda, pack: Pack, run: Callable[..., Iterator[Row]], **how: Any) -> Iterator[Row]:
    sampler, peers = Sampler(), Peers()
    try:
        yield from run(cuda, pack, peers, rounds=ROUNDS, sampler=sampler, **how)
        if peers.refusals:
            yield {"refusals": dict(peers.refusals)}
    finally:
        sampler.stop()


SECTIONS = (
    Section("forms", 0.4, forms.run),
    Section("programs", 0.1, lambda cuda, pack, _: programs.run(cuda, pack)),
    Section("probes", 0.1, lambda cuda, pack, _: probes.run(cuda, pack)),
    Section("runtime", 0.05, lambda _, pack, __: runtime.run(pack)),
    Section("rates", 0.05, lambda cuda, pack, until: rates.run(cuda, pack.target, until)),
    Section("gemm", 0.45, _gemm),
    Section("attention", 0.2, _attention),
    Section("sweep", 0.1, _sweep),
    Section("overhead", 0.05, lambda cuda, _, __: overhead.run(cuda)),
)


def until(seconds: float) -> float:
    """The moment in so many seconds."""
    return time.monotonic() + seconds
