"""The first PTX version of what a module needs beside matrix instructions.

What the table of instructions has, is looked up there: assembly by its mnemonics, what LLVM's
intrinsics are called by the mnemonic that each stands for. Of the rest, and of spellings without
qualifiers that the table writes, "PTX ISA Notes" and "Target ISA Notes" of each say what may
come later than the first version that knows a target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .conversions import FLOAT8
from .targets import Since, Target, min_ptx
from .versions import PtxVersion


def _always(version: str) -> tuple[Since, ...]:
    return (Since.of("sm_70", version),)


_UNLISTED: tuple[tuple[re.Pattern[str], tuple[Since, ...]], ...] = tuple(
    (re.compile(pattern), since)
    for pattern, since in (
        (r"activemask", _always("6.2")),
        (r"nanosleep", _always("6.3")),
        (r"tanh\.approx|ex2\.approx\.f16|redux\.sync|cp\.async|mbarrier", _always("7.0")),
        (r"L2::\d+B|L2::cache_hint|createpolicy|applypriority|discard\.", _always("7.4")),
        (r"try[._]wait|cluster|ex2\.approx.*bf16|tanh\.approx.*bf16", _always("7.8")),
        (r"mbarrier\.[\w.]*\.(?:release|acquire)\.", _always("8.0")),
        (r"e4m3|e5m2", FLOAT8),
        (r"e2m1|e2m3|e3m2|ue8m0|tcgen05", _always("8.6")),
    )
)
"""Words as intrinsics and inline assembly spell them, and since when they are."""

_TX = "mbarrier::complete_tx::bytes"
_LISTED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"llvm\.nvvm\.{pattern}"), mnemonic)
    for pattern, mnemonic in (
        (r"mapa|getctarank", "mapa.shared::cluster.u32"),
        (r"barrier\.cluster", "barrier.cluster.wait.acquire.aligned"),
        (r"griddepcontrol", "griddepcontrol.wait"),
        (r"elect\.sync", "elect.sync"),
        (r"setmaxnreg", "setmaxnreg.inc.sync.aligned.u32"),
        (r"wgmma\.", "wgmma.fence.sync.aligned"),
        (r"fence\.mbarrier", "fence.mbarrier_init.release.cluster"),
        (r"fence\.proxy\.async", "fence.proxy.async"),
        (r"fence\.proxy\.tensormap", "fence.proxy.tensormap::generic.release.gpu"),
        (r"prefetch\.tensormap", "prefetch.tensormap"),
        (r"tensormap\.replace", "tensormap.replace.tile.rank.global.b1024.b32"),
        (r"cp\.async\.bulk", f"cp.async.bulk.shared::cluster.global.{_TX}"),
        (r"cp\.async\.bulk\.(?:tensor\.g2s|global\.to\.shared)\.cta",
         f"cp.async.bulk.shared::cta.global.{_TX}"),
        (r"mbarrier\.\w+(?:\.\w+)*\.relaxed", "mbarrier.arrive.relaxed.cta.shared::cta.b64"),
    )
)  # fmt: skip
"""Names of intrinsics, and an instruction of the table that is as old as what they stand for."""
_MNEMONIC = re.compile(r"\b[a-z]\w*(?:\.[\w:]+)+")
_MAY_BE_LISTED = re.compile(
    r"cluster|bulk|mbarrier|wgmma|tensormap|fence\.|setmaxnreg|elect\.|griddep|createpolicy"
    r"|mapa|getctarank|st\.async|red\.async|tcgen05\."
)


def first_version(text: str, target: Target) -> PtxVersion:
    """The lowest PTX version on `target` that has all that a text names.

    Args:
        text: names of intrinsics, lines of assembly.
        target: where; what it does not have at all does not count.
    """
    versions = [min_ptx(since, target) for words, since in _UNLISTED if words.search(text)]
    if _MAY_BE_LISTED.search(text):
        versions += _listed(text, target)
    return max((v for v in versions if v is not None), default=target.min_ptx)


def _listed(text: str, target: Target) -> Iterator[PtxVersion | None]:
    """The versions of what the table of instructions has, which is imported only here."""
    from .instructions import instructions, named  # noqa: PLC0415 (for Hopper and later only)

    table = instructions()
    for pattern, mnemonic in _LISTED:
        if pattern.search(text):
            yield table[mnemonic].min_ptx(target)
    for word in dict.fromkeys(_MNEMONIC.findall(text)):
        if (one := named(word)) is not None:
            yield one.min_ptx(target)
