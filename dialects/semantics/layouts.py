"""How layouts go through an op."""

from __future__ import annotations

from enum import Enum


class LayoutRule(Enum):
    """What an op asks of the layouts of the tiles that it takes and gives."""

    UNKNOWN = "unknown"
    """It takes no tiles without layouts, as far as is known."""
    FREE = "free"
    """Its result can be had under any layout, and under another for each use."""
    JOINED = "joined"
    """All tiles that it takes and gives have one layout: it works element by element."""
    RELATED = "related"
    """That of its result follows from that of operand 0, or the other way round.

    The op's class says how, as `tilec.dialects.tile.ops.base.RelatedOp`.
    """
    MOVED = "moved"
    """It moves a tile from or to memory, under any layout that the memory allows.

    The op's class says which, as `tilec.dialects.tile.ops.memory.MemoryOp`. Tiles that say where,
    or whether, each element is moved have the layout of what is moved.
    """
    PRODUCT = "product"
    """Those of an instruction's fragments; accumulator and result have one."""
    CONVERTED = "converted"
    """It is what changes them."""
    CARRIED = "carried"
    """It hands tiles on, through regions: `ControlFlow` says which becomes which."""
