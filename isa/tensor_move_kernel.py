"""A complete PTX kernel around one `tcgen05.ld` or `.st`: a warp, columns of its own.

What tensor memory holds goes through `32x32b`, of which every thread has a lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .errors import TilecError
from .kernel_parts import (
    Buffer,
    Kernel,
    buffer_text,
    module,
    register_buffer,
    register_names,
    thread_base,
    transfer,
)
from .operands import LANES
from .ptx import assembly
from .targets import Target
from .tensor_memory import ALLOCATIONS, COLUMNS
from .tensor_moves import TensorMove

_CHUNK = 32
"""Columns that go between tensor memory and registers at once."""


def _span(form: TensorMove, chosen: Mapping[str, int]) -> int:
    """Columns from the first to behind the last that it touches.

    Raises:
        TilecError: if the second half of the warp reaches beyond tensor memory.
    """
    if form.move.halves == 1:
        return form.columns
    columns = chosen["offset"] + form.columns // 2
    if columns > COLUMNS:
        raise TilecError(
            f"offset {chosen['offset']} of {form.ptx} reaches column {columns - 1} of {COLUMNS}"
        )
    return max(columns, form.columns // 2)


def _chunks(columns: int) -> Iterator[tuple[int, int]]:
    """Start and length, a power of two, of what goes at once."""
    start = 0
    while start < columns:
        count = min(_CHUNK, 1 << (columns - start).bit_length() - 1)
        yield start, count
        start += count


def _registers(count: int) -> str:
    return "{" + ", ".join(f"%c{n}" for n in range(count)) + "}"


def _fill(columns: int, *, zeros: bool) -> Iterator[str]:
    """Put the buffer `memory`, or zeros, into tensor memory."""
    for start, count in _chunks(columns):
        for n in range(count):
            source = f"[%p_memory+{4 * (start + n)}]"
            yield f"mov.b32 %c{n}, 0;" if zeros else f"ld.global.b32 %c{n}, {source};"
        yield f"tcgen05.st.sync.aligned.32x32b.x{count}.b32 [%t0+{start}], {_registers(count)};"
    yield "tcgen05.wait::st.sync.aligned;"


def _drain(columns: int) -> Iterator[str]:
    """Bring tensor memory into the buffer `memory`."""
    for start, count in _chunks(columns):
        yield f"tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {_registers(count)}, [%t0+{start}];"
        yield "tcgen05.wait::ld.sync.aligned;"
        for n in range(count):
            yield f"st.global.b32 [%p_memory+{4 * (start + n)}], %c{n};"


def tensor_move_kernel(form: TensorMove, target: Target, chosen: Mapping[str, int]) -> Kernel:
    """The kernel that executes a load or store once, with one warp.

    The buffer `memory` is 32 lanes of columns of 32 bits: what a load finds there, or what is there
    after a store into zeros. Registers come and go lane by lane, in register order.

    Args:
        form: the form.
        target: the module's target.
        chosen: columns from the first half to the second, of a shape that has halves.

    Raises:
        TilecError: if `target` lacks the form, or it reaches beyond tensor memory.
    """
    version = form.require(target)
    columns = _span(form, chosen)
    allocated = next(size for size in ALLOCATIONS if size >= columns)
    inside = [one for one in form.all_operands if one.threads]
    buffers = [register_buffer(one, written=one in form.results) for one in inside]
    buffers.insert(
        len(form.results) * (not form.is_store),
        Buffer("memory", form.is_store, (LANES, columns), 32),
    )
    places = {one.name: register_names(one) for one in form.all_operands}
    immediates = {name: [str(value)] for name, value in chosen.items()}
    taken = f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], {allocated};"
    body = [*_declarations(form, buffers), "mov.u32 %lane, %tid.x;", taken]
    body += ["bar.warp.sync 0xffffffff;", "ld.shared.b32 %t0, [place];"]
    body += [*thread_base("memory", 4 * columns), *_fill(columns, zeros=form.is_store)]
    if form.is_store:
        body += transfer(form.fragment, places["r"], written=False)
    body.append(assembly(form, {**places, **immediates}))
    if form.is_store:
        body += ["tcgen05.wait::st.sync.aligned;", *_drain(columns)]
    else:
        body.append("tcgen05.wait::ld.sync.aligned;")
        for one in inside:
            body += transfer(one, places[one.name], written=True)
    body.append(f"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t0, {allocated};")
    comment = [form.ptx, "Launch one warp. Each parameter points to an array in global memory:"]
    comment += [buffer_text(buffer, "lanes") for buffer in buffers]
    comment += [f"  {name} = {value}" for name, value in chosen.items()]
    return module(target, version, comment, buffers, body, LANES)


def _declarations(form: TensorMove, buffers: list[Buffer]) -> Iterator[str]:
    for operand in form.all_operands:
        yield f".reg .{operand.register.ptx} {', '.join(register_names(operand))};"
    yield f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)};"
    yield f".reg .b32 %lane, %c<{_CHUNK}>;"
    yield ".shared .align 4 .b32 place;"
