"""What each warp holds of the fragments of a warpgroup."""

from __future__ import annotations

from functools import lru_cache

from tilec.isa import LANES, WARPGROUP_THREADS, Form
from tilec.layout import LinearLayout, any_fragment_of


@lru_cache(maxsize=256)
def warp_unit(form: Form, name: str) -> LinearLayout:
    """(register, lane) -> place of a warp's sixteen rows of an operand of `wgmma`.

    Args:
        form: a form of `wgmma`.
        name: `a` in registers, `c` or `d`; of the latter N is a power of two.
    """
    whole = any_fragment_of(form, name)
    assert isinstance(whole, LinearLayout)
    rows, cols = whole.out_sizes.values()
    bases = whole.bases
    return LinearLayout.of(
        {"register": bases["register"], "lane": bases["lane"]},
        {"row": rows * LANES // WARPGROUP_THREADS, "col": cols},
    )
