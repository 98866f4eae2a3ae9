"""Scale factors in shared memory, in the order in which `tcgen05.cp` copies them."""

from __future__ import annotations

from tilec.ir.mlir import ir
from tilec.ir.state import per_context
from tilec.layout import LinearLayout

from .dialect import SharedAttr
from .tensor import SCALES

FACTORS = SCALES
"""Scale factors of a row that lie side by side."""


def image_rows(rows: int) -> int:
    """Rows of a buffer for the factors of so many: whole pieces, as many as a power of two."""
    from tilec.layout.tensor_memory import SCALE_ROWS  # noqa: PLC0415 (for Blackwell only)

    return max(SCALE_ROWS, 1 << (rows - 1).bit_length())


def image_space(rows: int) -> SharedAttr:
    """The space of a buffer of so many rows of four factors."""
    from tilec.layout.tensor_memory import scale_image  # noqa: PLC0415 (for Blackwell only)

    return SharedAttr.get(ir.StringAttr.get(str(scale_image(rows))))


@per_context()
def image_of(type_: ir.MemRefType) -> int:
    """Rows of each matrix of a memref that holds scale factors in that order; 0 of others."""
    from tilec.layout.tensor_memory import SCALE_ROWS, scale_image  # noqa: PLC0415

    space = type_.memory_space
    if not isinstance(space, SharedAttr) or type_.rank < 2:
        return 0
    *_, rows, cols = type_.shape
    text = space.swizzle.value
    if "->" not in text or cols != FACTORS or rows % SCALE_ROWS or rows & (rows - 1):
        return 0
    return rows if LinearLayout.parse(text) == scale_image(rows) else 0
