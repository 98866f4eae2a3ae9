"""A complete PTX kernel around one `tcgen05.ld` or `.st`: a warp, columns of its own."""

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
    transfer,
)
from .operands import LANES
from .ptx import assembly
from .targets import Target
from .tensor_columns import REGISTERS, get, put
from .tensor_memory import ALLOCATIONS, COLUMNS
from .tensor_moves import TensorMove


def _span(form: TensorMove, chosen: Mapping[str, int]) -> int:
    """Columns from the first to after the last that it touches.

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
    body += put("memory", columns, "%t0", zeros=form.is_store)
    if form.is_store:
        body += transfer(form.fragment, places["r"], written=False)
    body.append(assembly(form, {**places, **immediates}))
    if form.is_store:
        body += ["tcgen05.wait::st.sync.aligned;", *get("memory", columns, "%t0")]
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
    yield ".reg .b32 %lane;"
    yield REGISTERS
    yield ".shared .align 4 .b32 place;"
