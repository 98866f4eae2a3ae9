"""The sections of a run, their entries, and what they share in a process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tilec.isa import target as find_target

from . import attention, forms, gemm, overhead, programs, rates, runtime, suite
from .compare import Loaded
from .driver import Cuda
from .machine import Sampler
from .matrix import BYTES
from .pack import Pack
from .peers import Peers
from .plan import ROUNDS, Entry, Estimates
from .probes import run as probes
from .workloads import WORKLOADS

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

COMPARED = (4096, 8192)
"""Squares that everybody compares, and on which configurations are."""

HEADS = ((32, 8192), (128, 1024), (64, 2048), (64, 4096), (16, 16384))
"""Heads of all batches, and queries of each; 8,192 queries are those that everybody compares."""


class Context:
    """What entries share that run in one process, each made when it is first asked for.

    Args:
        cuda: the GPU.
        pack: the pack.
    """

    def __init__(self, cuda: Cuda, pack: Pack) -> None:
        self.cuda, self.pack = cuda, pack
        self._loaded: dict[str, Loaded] = {}

    @cached_property
    def sampler(self) -> Sampler:
        """Of the clocks."""
        return Sampler()

    @cached_property
    def peers(self) -> Peers:
        """What kernels are timed beside."""
        return Peers()

    @cached_property
    def pools(self) -> None:
        """Nothing: raises if random numbers here are not those of the pack."""
        forms.check_pools(self.pack)

    def loaded(self, work: str) -> Loaded:
        """The kernels of one kind of work."""
        return self._loaded.setdefault(work, Loaded(self.cuda, self.pack, work))

    def refusals(self) -> Iterator[Row]:
        """A row of what peers refused, if any did."""
        if "peers" in vars(self) and self.peers.refusals:
            yield {"refusals": dict(self.peers.refusals)}

    def close(self) -> None:
        """End what runs beside."""
        if "sampler" in vars(self):
            self.sampler.stop()


@dataclass(frozen=True)
class Section:
    """A part of a run.

    Attributes:
        name: of the section.
        entries: what it consists of.
        run: gives the rows of an entry; begins nothing after the time, as `time.monotonic` counts.
    """

    name: str
    entries: Callable[[Pack, Estimates], Iterator[Entry]]
    run: Callable[[Context, Any, float], Iterator[Row]]


def _single(name: str, worth: int, seconds: float, *, alone: bool = False) -> Any:
    """The entries of a section that is one."""

    def entries(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
        del pack, estimates
        yield Entry(name, name, worth, seconds, alone=alone)

    return entries


# GEMMs


def _bits(fields: Mapping[str, Any], operand: str) -> int:
    return 8 * BYTES[fields["elements"][operand]]


def _gemm_entries(
    pack: Pack, estimates: Estimates, *, work: str, shapes: Mapping[tuple[int, int, int], int]
) -> Iterator[Entry]:
    """Of every shape, whose worth is given, and type."""
    described = [fields for fields in pack.kernels() if fields["work"] == work]
    dtypes = list(dict.fromkeys(fields["dtype"] for fields in described))
    for (m, n, k), worth in shapes.items():
        for dtype in dtypes:
            kernels = [f for f in described if f["dtype"] == dtype and gemm.takes(f, (m, n, k))]
            if not kernels:
                continue
            wide = _bits(kernels[0], "a")
            nbytes = (m * k + k * n) * wide // 8 + m * n * _bits(kernels[0], "d") // 8
            ms = estimates.milliseconds(2 * m * n * k, wide, nbytes)
            triton = None if kernels[0]["sparse"] else (work, dtype)
            seconds = estimates.compared(ms, len(kernels), 2 if triton else 1, triton)
            what = {"shape": [m, n, k], "dtype": dtype}
            later = 0 if dtype in FIRST else 2 if worth == 0 else 1
            yield Entry(work, f"{dtype} {m}x{n}x{k}", worth + later, seconds, what)


FIRST = ("f16", "e4m3", "bf16-nk")
"""Types that come before others of the same shape."""


def _gemms(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    squares = sorted(SQUARES, key=lambda size: size not in COMPARED)
    shapes = {(size,) * 3: 0 if size in COMPARED else 4 for size in squares}
    yield from _gemm_entries(
        pack, estimates, work="gemm", shapes={**shapes, **dict.fromkeys(LLM, 4)}
    )


def _sweeps(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    shapes = {(size,) * 3: 6 for size in COMPARED}
    yield from _gemm_entries(pack, estimates, work="sweep", shapes=shapes)


def _gemm(context: Context, what: Any, until: float, work: str = "gemm") -> Iterator[Row]:
    return gemm.run(
        context.cuda,
        context.pack,
        context.peers,
        shapes=[tuple(what["shape"])],
        dtypes=[what["dtype"]],
        kernels=context.loaded(work),
        rounds=ROUNDS,
        sampler=context.sampler,
        until=until,
    )


# Attention


def _attentions(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    described = [fields for fields in pack.kernels() if fields["work"] == "attention"]
    dtypes = list(dict.fromkeys(fields["dtype"] for fields in described))
    for heads, queries in HEADS:
        for dtype in dtypes:
            kernels = [fields for fields in described if fields["dtype"] == dtype]
            deep, causal = kernels[0]["dimension"], kernels[0]["causal"]
            flops = 4 * heads * queries**2 * deep / (2 if causal else 1)
            ms = estimates.milliseconds(flops, 16, 8 * heads * queries * deep)
            seconds = estimates.compared(ms, len(kernels), 5, dtype)
            worth = 0 if queries == 8192 and deep == 128 else 2 if queries == 8192 else 5
            what = {"heads": heads, "queries": queries, "dtype": dtype}
            yield Entry("attention", f"{dtype} {heads}x{queries}", worth, seconds, what)


def _attention(context: Context, what: Any, until: float) -> Iterator[Row]:
    return attention.run(
        context.cuda,
        context.pack,
        context.peers,
        problems=[(what["heads"], what["queries"])],
        dtypes=[what["dtype"]],
        kernels=context.loaded("attention"),
        rounds=ROUNDS,
        sampler=context.sampler,
        until=until,
    )


# The rest of a library


def _cases(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    for case in suite.cases(pack):
        for number, sizes in enumerate(case["problems"]):
            problem = WORKLOADS[case["workload"]](sizes, case["about"])
            ms = estimates.milliseconds(problem.flops, problem.bits, problem.bytes()[1])
            triton = case["name"] if case["workload"] == "products" else None
            kernels = len(case["kernels"])
            seconds = estimates.compared(ms, kernels, 3, triton)
            worth = (0, 2, 4, 5)[case["worth"]] + number
            what = {"case": case["name"], "number": number}
            yield Entry("kernels", f"{case['name']}, {number + 1}", worth, seconds, what)


def _case(context: Context, what: Any, until: float) -> Iterator[Row]:
    (case,) = (one for one in suite.cases(context.pack) if one["name"] == what["case"])
    return suite.run(
        context.cuda,
        context.pack,
        context.peers,
        chosen=[{**case, "problems": [case["problems"][what["number"]]]}],
        rounds=ROUNDS,
        sampler=context.sampler,
        until=until,
    )


# Proofs

_FORM_SECONDS = 0.02
_FORM_BYTES = 120e6
"""What making inputs and checksums takes: of a launch, and bytes a second. Both as measured on one
core by `test/unit/device_pack/test_plan.py -m slow`, with room."""

_PROGRAM_SECONDS = 0.1
"""Of a program, run five times on little memory, and loaded."""

_PROGRAMS = 24
"""Programs in an entry."""


def _forms(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    del estimates
    for module in pack.form_modules():
        seconds = LOADING
        for trial in module.trials:
            for run in trial.runs:
                nbytes = run.ctas * sum(place.bytes for place in trial.places)
                seconds += _FORM_SECONDS + nbytes / _FORM_BYTES
        yield Entry("forms", module.name, 3, round(seconds, 2), [module.name])


LOADING = 0.2
"""Seconds to load a module of many kernels."""


def _form(context: Context, what: Any, until: float) -> Iterator[Row]:
    assert context.pools is None
    return forms.run(context.cuda, context.pack, until, what)


def _programs(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    del estimates
    count = len(pack.read("programs.json"))
    for first in range(0, count, _PROGRAMS):
        end = min(count, first + _PROGRAMS)
        seconds = (end - first) * _PROGRAM_SECONDS
        yield Entry("programs", f"{first} to {end - 1}", 1, seconds, [first, end])


def _probes(pack: Pack, estimates: Estimates) -> Iterator[Entry]:
    del pack, estimates
    for name, seconds in probes.SECONDS.items():
        yield Entry("probes", name, 1, seconds, name)


SECTIONS = (
    Section("gemm", _gemms, _gemm),
    Section("attention", _attentions, _attention),
    Section("kernels", _cases, _case),
    Section("programs", _programs, lambda c, what, _: programs.run(c.cuda, c.pack, *what)),
    Section("probes", _probes, lambda c, what, _: probes.run(c.cuda, c.pack, what)),
    Section("forms", _forms, _form),
    Section(
        "rates",
        _single("rates", 3, 6.0),
        lambda c, _, until: rates.run(c.cuda, c.pack.target, until),
    ),
    Section("overhead", _single("overhead", 3, 4.0), lambda c, _, __: overhead.run(c.cuda)),
    Section(
        "runtime", _single("runtime", 3, 6.0, alone=True), lambda c, _, __: runtime.run(c.pack)
    ),
    Section("sweep", _sweeps, lambda c, what, until: _gemm(c, what, until, "sweep")),
)


def entries(pack: Pack, chosen: Iterator[str] | list[str]) -> Iterator[Entry]:
    """Of some sections all entries."""
    estimates = Estimates(find_target(pack.target))
    names = set(chosen)
    for section in SECTIONS:
        if section.name in names:
            yield from section.entries(pack, estimates)


def run_entry(context: Context, entry: Entry, until: float) -> Iterator[Row]:
    """The rows of an entry."""
    (section,) = (one for one in SECTIONS if one.name == entry.section)
    yield from section.run(context, entry.what, until)


def until(seconds: float) -> float:
    """The moment in so many seconds."""
    return time.monotonic() + (seconds if math.isfinite(seconds) else 1e9)
