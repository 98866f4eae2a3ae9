"""The first PTX version of instructions that are in no table here, by words of their names.

What a module needs beside matrix instructions, conversions and reductions: "PTX ISA Notes" and
"Target ISA Notes" of each. Only what may come later than the first version that knows a target.
"""

from __future__ import annotations

import re

from .conversions import FLOAT8
from .targets import Since, Target, min_ptx
from .versions import PtxVersion


def _always(version: str) -> tuple[Since, ...]:
    return (Since.of("sm_70", version),)


_FEATURES: tuple[tuple[re.Pattern[str], tuple[Since, ...]], ...] = tuple(
    (re.compile(pattern), since)
    for pattern, since in (
        (r"activemask", _always("6.2")),
        (r"nanosleep", _always("6.3")),
        (r"tanh\.approx|ex2\.approx\.f16|redux\.sync|cp\.async|mbarrier", _always("7.0")),
        (r"L2::\d+B|L2::cache_hint|createpolicy|applypriority|discard\.", _always("7.4")),
        (
            r"try[._]wait|mapa|cluster|griddepcontrol|ex2\.approx.*bf16|tanh\.approx.*bf16",
            _always("7.8"),
        ),
        (r"mbarrier\.[\w.]*\.(?:release|acquire)\.", _always("8.0")),
        (r"cp\.async\.bulk|setmaxnreg|elect\.sync|fence\.(proxy|mbarrier)", _always("8.0")),
        (r"wgmma|prefetch\.tensormap", _always("8.0")),
        (r"e4m3|e5m2", FLOAT8),
        (r"e2m1|e2m3|e3m2|ue8m0|tcgen05", _always("8.6")),
    )
)
"""Words as intrinsics and inline assembly spell them, and since when they are."""


def first_version(text: str, target: Target) -> PtxVersion:
    """The lowest PTX version on `target` that has all that a text names.

    Args:
        text: names of intrinsics, lines of assembly.
        target: where; what it does not have at all does not count.
    """
    versions = [min_ptx(since, target) for words, since in _FEATURES if words.search(text)]
    return max((v for v in versions if v is not None), default=target.min_ptx)
