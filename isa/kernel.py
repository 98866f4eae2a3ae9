"""A complete PTX kernel around one instruction, to try it on hardware or on a simulator."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import TilecError
from .form_classes import Family, Form
from .form_parts import ExecutionScope, Memory
from .kernel_parts import (
    ENTRY,
    Buffer,
    Kernel,
    buffer_text,
    choose,
    module,
    register_buffer,
    register_names,
    thread_base,
    transfer,
)
from .operands import LANES, Storage
from .ptx import Registers, assembly
from .targets import Target

__all__ = ["ENTRY", "Buffer", "Kernel", "choose", "kernel"]


def _buffers(form: Form) -> tuple[Buffer, ...]:
    """Results, then operands; memory where PTX writes the address."""
    results = [register_buffer(operand, written=True) for operand in form.results]
    operands = [register_buffer(operand, written=False) for operand in form.operands]
    memory = form.memory
    if memory is None:
        return (*results, *operands)
    image = Buffer("memory", not form.results, (memory.lines, memory.extent), memory.bits)
    return (*results, image, *operands)


def _copy(buffer: Buffer, *, out: bool) -> list[str]:
    """Copy `memory` between global and shared memory, a word a lane at a time."""
    lines = thread_base(buffer.name, 4)
    words = buffer.bytes // 4
    for start in range(0, words, LANES):
        guard = ""
        if words - start < LANES:
            lines.append(f"setp.lt.u32 %some, %lane, {words - start};")
            guard = "@%some "
        far, near = f"[%p_memory+{4 * start}]", f"[%word+{4 * start}]"
        if out:
            lines += [f"{guard}ld.shared.b32 %copy, {near};", f"{guard}st.global.b32 {far}, %copy;"]
        else:
            lines += [f"{guard}ld.global.b32 %copy, {far};", f"{guard}st.shared.b32 {near}, %copy;"]
    return lines


def _address(memory: Memory) -> list[str]:
    """Put the address operand into `%address`: one line a lane, or the matrix's start."""
    if not memory.addresses:
        return ["mov.u32 %address, image;"]
    # Lanes past the last row repeat the first ones: sm_75 wants every address to be valid.
    return [
        f"and.b32 %row, %lane, {memory.addresses - 1};",
        "mov.u32 %address, image;",
        f"mad.lo.u32 %address, %row, {memory.extent * memory.bits // 8}, %address;",
    ]


def _comment(form: Form, buffers: tuple[Buffer, ...], chosen: Mapping[str, int]) -> list[str]:
    lines = [form.ptx, "Launch one warp. Each parameter points to an array in global memory:"]
    for buffer in buffers:
        if buffer.name != "memory" or form.memory is None:
            lines.append(buffer_text(buffer, "lanes"))
            continue
        outer, inner = buffer.shape
        what = f"[{outer} {form.memory.line}][{inner} {form.memory.unit}]"
        if form.memory.unit != "bytes":
            what += f" of {buffer.bits} bits"
        lines.append(f"  {buffer.name}: {what}, {'written' if buffer.written else 'read'}")
    return lines + [f"  {name} = {value}" for name, value in chosen.items()]


def _instruction(form: Form, buffers: tuple[Buffer, ...], places: Registers) -> list[str]:
    """The instruction, and around it the way through shared memory of a load or store."""
    if form.memory is None:
        return [assembly(form, places)]
    (memory,) = (buffer for buffer in buffers if buffer.name == "memory")
    before, after = ["mov.u32 %word, image;", "mad.lo.u32 %word, %lane, 4, %word;"], []
    if memory.written:
        after = ["bar.warp.sync 0xffffffff;", *_copy(memory, out=True)]
    else:
        before += [*_copy(memory, out=False), "bar.warp.sync 0xffffffff;"]
    line = assembly(form, {**places, "address": ["%address"]}, "shared")
    return [*before, *_address(form.memory), line, *after]


def _declarations(form: Form, buffers: tuple[Buffer, ...]) -> list[str]:
    lines = [
        f".reg .{operand.register.ptx} {', '.join(register_names(operand))};"
        for operand in form.all_operands
    ]
    lines.append(f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)};")
    lines.append(".reg .b32 %lane;")
    for buffer in buffers:
        if buffer.name == "memory":
            lines.append(".reg .b32 %word, %row, %address, %copy;")
            lines.append(".reg .pred %some;")
            lines.append(f".shared .align 128 .b8 image[{buffer.bytes}];")
    return lines


def _check(form: Form) -> None:
    """Refuse what needs more around it than such a kernel has."""
    apart = [operand for operand in form.all_operands if operand.threads != LANES]
    if apart:
        where = ", ".join(f"{operand.name} in {operand.storage}" for operand in apart)
        raise TilecError(f"no one-warp kernel exercises {form.ptx}: it has {where}")
    if form.asynchronous or form.scope is not ExecutionScope.WARP:
        how = "asynchronous" if form.asynchronous else f"executed by a {form.scope}"
        raise TilecError(f"no one-warp kernel exercises {form.ptx}: it is {how}")


def kernel(form: Form, target: Target, *, selectors: Mapping[str, int] | None = None) -> Kernel:
    """The kernel that executes `form` once.

    Each lane loads its operands' registers from global memory, lane by lane and each lane's in
    register order; the instruction runs; each lane stores its results in the same order. What
    a load reads, or a store writes, passes through shared memory. Of `wgmma`: as `wgmma_kernel`
    says, with a warpgroup. Of loads and stores of tensor memory: as `tensor_move_kernel` says.

    Args:
        form: the form.
        target: the module's target.
        selectors: values of the form's selectors by name; the first legal one by default.

    Raises:
        TilecError: if `target` lacks the form, a selector is unknown or out of range, or the
            form is not an instruction that one warp executes on its registers at once.
    """
    version = form.require(target)
    if form.family in (Family.WGMMA, Family.WGMMA_SP):
        from .wgmma_kernel import wgmma_kernel  # noqa: PLC0415 (for those alone)

        return wgmma_kernel(form, target, choose(form, selectors or {}))
    if any(operand.storage is Storage.TENSOR for operand in form.all_operands):
        from .tensor_move_kernel import tensor_move_kernel  # noqa: PLC0415 (likewise)
        from .tensor_moves import TensorMove  # noqa: PLC0415 (likewise)

        assert isinstance(form, TensorMove)
        return tensor_move_kernel(form, target, choose(form, selectors or {}))
    _check(form)
    buffers = _buffers(form)
    chosen = choose(form, selectors or {})
    inside = {operand.name: register_names(operand) for operand in form.all_operands}
    body = ["mov.u32 %lane, %laneid;"]
    for operand in form.operands:
        body += transfer(operand, register_names(operand), written=False)
    immediates = {name: [str(value)] for name, value in chosen.items()}
    body += _instruction(form, buffers, {**inside, **immediates})
    for operand in form.results:
        body += transfer(operand, register_names(operand), written=True)
    body = [*_declarations(form, buffers), *body]
    return module(target, version, _comment(form, buffers, chosen), buffers, body, LANES)
