"""Deliberate faults in the PTX that kernels of tiles become for sm_100a: each is found.

A fault is a change of the text by a pattern, wherever it matches. The simulator must report one of
the kinds named, whatever the result is.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tilec
from tilec.sim import SimulationError, UnsupportedInstructionError

from . import kernels_of_tiles as cases

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
EXTENTS = {
    "gemm": (200, 300, 200),  # several tiles of a pair, which come to an accumulator again
    "gemm_fp8": (130, 300, 288),
    "scaled_gemm": (300, 300, 288),
    "attention": (1, 130, 200),
}


class Fault(NamedTuple):
    """A change of the text.

    Attributes:
        old: a pattern.
        new: what stands there instead.
        kinds: of one of the findings; `refused` where the text is, before it runs.
        kernels: those that have it.
    """

    old: str
    new: str | Callable[[re.Match[str]], str]
    kinds: str
    kernels: tuple[str, ...] = tuple(EXTENTS)


_RING = ("gemm",)
_COPIED = ("scaled_gemm", "attention")
_TIMED = r"(?P<wait>mbarrier\.try_wait[^\n]*\n(?:[^\n]*\n){1,3}?)[^\n]*bra [^\n]*\n"
_DESCRIBED = r"(tcgen05\.mma[^\n]*, )(\d+)((?:, \[%r\d+\]){0,2}, %p\d+;)"
_FIRST = r"(setp\.\w+\.\w+ \t)(%p\d+)(, [^\n]*;\n(?:[^\n]*\n)*?[^\n]*tcgen05\.mma[^\n]* \2;)"
FAULTS = {
    "nobody waits for an mbarrier": Fault(_TIMED, r"\g<wait>", "async|tensor-memory|proxy|race"),
    "no commits": Fault(r"tcgen05\.commit[^\n]*", "", "deadlock"),
    "no waits for loads": Fault(r"tcgen05\.wait::ld[^\n]*", "", "tensor-memory"),
    "no waits for stores": Fault(r"tcgen05\.wait::st[^\n]*", "", "tensor-memory", ("attention",)),
    "no fences after": Fault(r"tcgen05\.fence::after[^\n]*", "", "tensor-memory"),
    "no fences before": Fault(r"tcgen05\.fence::before[^\n]*", "", "tensor-memory"),
    "no proxy fences": Fault(r"fence\.proxy\.async[^\n]*", "", "proxy", _COPIED),
    "too few columns": Fault(
        r"(tcgen05\.(?:de)?alloc[^\n]*), \d+;", r"\1, 32;", "tensor-memory|uninitialised"
    ),
    "columns that nobody gives back": Fault(r"tcgen05\.dealloc[^\n]*", "", "tensor-memory"),
    "two commits are awaited": Fault(
        r"(mov\.b32 \t%r\d+, )1;(?=\n[^\n]*\n[^\n]*mbarrier\.init)", r"\g<1>2;", "deadlock"
    ),
    "another N": Fault(
        _DESCRIBED, lambda found: f"{found[1]}{int(found[2]) ^ 1 << 18}{found[3]}",
        "tensor-memory|uninitialised|race",
    ),
    "a type of A that there is not": Fault(
        _DESCRIBED, lambda found: f"{found[1]}{int(found[2]) ^ 7 << 7}{found[3]}", "refused"
    ),
    "another warp's lanes": Fault(
        r"(shl\.b32 \t%r\d+, %r\d+, )16;", r"\g<1>15;", "tensor-memory|uninitialised",
    ),
    "copies that are not there yet": Fault(
        r"cp\.async\.wait_group \t\d+;", "cp.async.wait_group \t9;", "race|async|proxy",
        ("scaled_gemm",),
    ),
    "no barriers": Fault(r"bar\.sync \t\d+(, \d+)?;", "", "race|tensor-memory|async|proxy"),
    "scale factors that nobody copies": Fault(
        r"tcgen05\.cp[^\n]*", "", "uninitialised", ("scaled_gemm",)
    ),
    "bytes short": Fault(
        r"(mov\.b32 \t%r\d+, )49152;(?=\n[^\n]*\n[^\n]*expect_tx)", r"\g<1>1024;",
        "deadlock|async|race", _RING,
    ),
}  # fmt: skip


@cache
def compiled(name: str) -> tilec.Compiled:
    """A kernel for sm_100a."""
    return tilec.compile(KERNELS / f"{name}.mlir", target="sm_100a")


def changed(name: str, ptx: str) -> tilec.Compiled:
    """The kernel with another PTX."""
    found = copy.copy(compiled(name))
    vars(found)["ptx"] = ptx
    return found


def run(name: str, program: tilec.Compiled) -> Any:
    """Launch a program on random numbers."""
    kernel = next(one for one in cases.KERNELS if one.file == name)
    of = kernel.run(np.random.default_rng(0), EXTENTS[name])
    program.launch(*of.arguments, grid=of.grid, kernel=kernel.name, device="sim", sms=2)
    return of


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTENTS)
def test_without_a_fault(name: str) -> None:
    of = run(name, changed(name, compiled(name).ptx))
    assert np.abs(of.result - of.expected).max() <= of.tolerance * np.abs(of.expected).max()


def _cases() -> list[Any]:
    found = []
    for fault, what in FAULTS.items():
        found += [pytest.param(name, fault, id=f"{name}: {fault}") for name in what.kernels]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), _cases())
def test_faults_are_found(name: str, fault: str) -> None:
    what = FAULTS[fault]
    ptx, count = re.subn(what.old, what.new, compiled(name).ptx)
    assert count
    if what.kinds == "refused":
        with pytest.raises(UnsupportedInstructionError, match=r"<ptx>:\d+:\d+: .*type code"):
            run(name, changed(name, ptx))
        return
    with pytest.raises(SimulationError) as found:
        run(name, changed(name, ptx))
    assert found.value.report is not None
    kinds = [finding.kind for finding in found.value.report.findings]
    assert any(re.fullmatch(what.kinds, kind) for kind in kinds), kinds
