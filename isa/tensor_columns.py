"""PTX that brings columns of tensor memory from and to global memory, in a kernel around one form.

Through `32x32b`, of which every thread has a lane.
"""

from __future__ import annotations

from collections.abc import Iterator

from .kernel_parts import thread_base

_CHUNK = 32
"""Columns that go between tensor memory and registers at once, of which there are few."""
REGISTERS = f".reg .b32 %c<{_CHUNK}>;"
"""What that takes, besides what `thread_base` does."""


def _chunks(columns: int) -> Iterator[tuple[int, int]]:
    """Start and length, a power of two, of what goes at once."""
    start = 0
    while start < columns:
        count = min(_CHUNK, 1 << (columns - start).bit_length() - 1)
        yield start, count
        start += count


def _listed(count: int) -> str:
    return "{" + ", ".join(f"%c{n}" for n in range(count)) + "}"


def put(
    name: str,
    columns: int,
    place: str,
    first: int = 0,
    *,
    zeros: bool = False,
    thread: str = "%lane",
) -> Iterator[str]:
    """Bring a buffer into tensor memory, each warp the lanes that it reaches.

    Args:
        name: the buffer, as many words of each thread as there are columns.
        columns: how many.
        place: the register with the address of the warp's own lanes.
        first: columns from there to the first.
        zeros: whether zeros go there instead.
        thread: the register with the number of the thread, whose lane it is.
    """
    if not zeros:
        yield from thread_base(name, 4 * columns, thread)
    for start, count in _chunks(columns):
        for n in range(count):
            source = f"[%p_{name}+{4 * (start + n)}]"
            yield f"mov.b32 %c{n}, 0;" if zeros else f"ld.global.b32 %c{n}, {source};"
        address = f"[{place}+{first + start}]"
        yield f"tcgen05.st.sync.aligned.32x32b.x{count}.b32 {address}, {_listed(count)};"
    yield "tcgen05.wait::st.sync.aligned;"


def get(name: str, columns: int, place: str, *, thread: str = "%lane") -> Iterator[str]:
    """Bring tensor memory into a buffer; arguments as of `put`."""
    yield from thread_base(name, 4 * columns, thread)
    for start, count in _chunks(columns):
        address = f"[{place}+{start}]"
        yield f"tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {_listed(count)}, {address};"
        yield "tcgen05.wait::ld.sync.aligned;"
        for n in range(count):
            yield f"st.global.b32 [%p_{name}+{4 * (start + n)}], %c{n};"
