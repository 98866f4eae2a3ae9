"""Which lanes meet in which banks of shared memory, as a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from tilec.layout.banks import BANK_BYTES, BANKS, LINE_BYTES
from tilec.layout.drawing import Cell, Grid

CHUNK_BYTES = 16
"""Of a cell: four banks of a line."""
_PER_LINE = LINE_BYTES // CHUNK_BYTES


class Phase(NamedTuple):
    """Lanes that are served together.

    Attributes:
        instruction: which instruction of the warp it belongs to.
        lanes: the lanes that supply the addresses.
        addresses: their byte addresses.
        wavefronts: different words that the busiest bank serves.
    """

    instruction: int
    lanes: range
    addresses: list[int]
    wavefronts: int


class Touch(NamedTuple):
    """Lanes of a phase that access one chunk.

    Attributes:
        phase: its number, counted over the instructions of the access.
        lanes: the lanes, ascending.
        conflicts: whether a bank of theirs serves another word in that phase, too.
    """

    phase: int
    lanes: list[int]
    conflicts: bool


def touches(phases: Sequence[Phase], width: int) -> dict[int, list[Touch]]:
    """What accesses each chunk of 16 bytes, by its number, in the order of the phases.

    Args:
        phases: what is served together.
        width: bytes that a lane accesses.
    """
    found: dict[int, list[Touch]] = defaultdict(list)
    for number, phase in enumerate(phases):
        served: dict[int, set[int]] = defaultdict(set)
        lanes: dict[int, list[int]] = defaultdict(list)
        chunks: dict[int, set[int]] = defaultdict(set)
        for lane, address in zip(phase.lanes, phase.addresses, strict=True):
            for word in range(address // BANK_BYTES, -(-(address + width) // BANK_BYTES)):
                served[word % BANKS].add(word)
                chunk = word * BANK_BYTES // CHUNK_BYTES
                chunks[chunk].add(word % BANKS)
                if lane not in lanes[chunk]:
                    lanes[chunk].append(lane)
        for chunk, banks in chunks.items():
            crowded = any(len(served[bank]) > 1 for bank in banks)
            found[chunk].append(Touch(number, sorted(lanes[chunk]), crowded))
    return found


def lanes_grid(title: str, phases: Sequence[Phase], width: int, lines: Sequence[str]) -> Grid:
    """Who accesses each 16 bytes, line by line of 128.

    A cell `2:8-9` is lanes 8 and 9 in phase 2, the first that comes there. Cells are red where a
    bank of theirs has another word to serve in that phase.

    Args:
        title: what stands above.
        phases: what is served together.
        width: bytes that a lane accesses.
        lines: the byte address of each line.
    """
    found = touches(phases, width)
    cells = [
        [_cell(found.get(line * _PER_LINE + at, []), address, at) for at in range(_PER_LINE)]
        for line, address in enumerate(lines)
    ]
    banks = [f"banks {at * 4}-{at * 4 + 3}" for at in range(_PER_LINE)]
    return Grid(title, cells, lines, banks)


def _cell(found: list[Touch], line: str, at: int) -> Cell:
    where = f"line at {line}, banks {at * 4}-{at * 4 + 3}"
    if not found:
        return Cell("", f"{where}: not accessed", None)
    about = "; ".join(
        f"phase {one.phase}: lanes {_span(one.lanes)}{', conflict' if one.conflicts else ''}"
        for one in found
    )
    first, more = found[0], "+" if len(found) > 1 else ""
    red = any(one.conflicts for one in found)
    text = f"{first.phase}:{_span(first.lanes)}{more}"
    return Cell(text, f"{where}: {about}", (first.phase % 7 + 1) * 4, is_wrong=red)


def _span(lanes: list[int]) -> str:
    """`3`, `0-7`, or the lanes one by one where they do not follow each other."""
    if len(lanes) == 1:
        return str(lanes[0])
    if lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}-{lanes[-1]}"
    return ",".join(map(str, lanes))
