"""A complete PTX kernel around one instruction, to try it on hardware or on a simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import TilecError
from .form_parts import ExecutionScope, Memory
from .forms import Form
from .operands import LANES, Operand
from .ptx import Registers, assembly
from .targets import Target
from .versions import PtxVersion

ENTRY = "try_instruction"
"""Name of the kernel."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A pointer parameter of the kernel and the array in global memory that it points to.

    Attributes:
        name: the operand; `memory` for what a load reads and a store writes.
        written: whether the kernel writes it rather than reads it.
        shape: extents, outermost first: lanes and registers; rows (columns, if `.col`) and their
            elements; of `memory` of a matrix load or store, rows and their bytes.
        bits: of an element.
    """

    name: str
    written: bool
    shape: tuple[int, int]
    bits: int

    @property
    def bytes(self) -> int:
        """Bytes of the whole."""
        return self.shape[0] * self.shape[1] * self.bits // 8


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel, to be launched with one warp.

    Attributes:
        ptx: the module.
        buffers: its parameters in order.
        version: the module's `.version`.
    """

    ptx: str
    buffers: tuple[Buffer, ...]
    version: PtxVersion


def _buffers(form: Form) -> tuple[Buffer, ...]:
    """Results, then operands; memory where PTX writes the address."""

    def registers(operand: Operand, *, written: bool) -> Buffer:
        shape = (operand.threads, operand.registers)
        return Buffer(operand.name, written, shape, operand.register.bits)

    results = [registers(operand, written=True) for operand in form.results]
    operands = [registers(operand, written=False) for operand in form.operands]
    memory = form.memory
    if memory is None:
        return (*results, *operands)
    image = Buffer("memory", not form.results, (memory.lines, memory.extent), memory.bits)
    return (*results, image, *operands)


def _names(operand: Operand) -> list[str]:
    return [f"%{operand.name}{n}" for n in range(operand.registers)]


def _lane_base(name: str, stride: int) -> list[str]:
    """Put into `%p_<name>` the global address of the lane's share of a buffer."""
    return [
        f"ld.param.u64 %p_{name}, [{name}];",
        f"cvta.to.global.u64 %p_{name}, %p_{name};",
        f"mad.wide.u32 %p_{name}, %lane, {stride}, %p_{name};",
    ]


def _transfer(operand: Operand, *, written: bool) -> list[str]:
    """Move an operand between registers and memory, lane by lane in register order."""
    width = operand.register.bits // 8
    lines = _lane_base(operand.name, operand.registers * width)
    for number, register in enumerate(_names(operand)):
        place = f"[%p_{operand.name}+{number * width}]"
        if written:
            lines.append(f"st.global.{operand.register.ptx} {place}, {register};")
        else:
            lines.append(f"ld.global.{operand.register.ptx} {register}, {place};")
    return lines


def _copy(buffer: Buffer, *, out: bool) -> list[str]:
    """Copy `memory` between global and shared memory, a word a lane at a time."""
    lines = _lane_base(buffer.name, 4)
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


def choose(form: Form, selectors: Mapping[str, int]) -> dict[str, int]:
    """The value of every selector of a form; the first legal one where none is given.

    Raises:
        TilecError: for a selector that the form does not have, or a value that is out of range.
    """
    known = {selector.name: selector for selector in form.selectors}
    for name, value in selectors.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise TilecError(f"{form.ptx} has no selector '{name}'; it has {names}")
        if value not in known[name].legal:
            legal = ", ".join(map(str, known[name].legal))
            raise TilecError(f"{name} {value} of {form.ptx} is out of range; legal: {legal}")
    return {n: selectors.get(n, s.legal[0]) for n, s in known.items()}


def _comment(form: Form, buffers: tuple[Buffer, ...], chosen: Mapping[str, int]) -> list[str]:
    lines = [form.ptx, "Launch one warp. Each parameter points to an array in global memory:"]
    for buffer in buffers:
        outer, inner = buffer.shape
        if buffer.name != "memory" or form.memory is None:
            what = f"[{outer} lanes][{inner} register{'s' * (inner > 1)}] of {buffer.bits} bits"
        else:
            what = f"[{outer} {form.memory.line}][{inner} {form.memory.unit}]"
            if form.memory.unit != "bytes":
                what += f" of {buffer.bits} bits"
        lines.append(f"  {buffer.name}: {what}, {'written' if buffer.written else 'read'}")
    lines += [f"  {name} = {value}" for name, value in chosen.items()]
    return [f"// {line}" for line in lines]


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
        f".reg .{operand.register.ptx} {', '.join(_names(operand))};"
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
        raise TilecError(f"no kernel of one warp tries {form.ptx}: it has {where}")
    if form.asynchronous or form.scope is not ExecutionScope.WARP:
        how = "asynchronous" if form.asynchronous else f"executed by a {form.scope}"
        raise TilecError(f"no kernel of one warp tries {form.ptx}: it is {how}")


def kernel(form: Form, target: Target, *, selectors: Mapping[str, int] | None = None) -> Kernel:
    """The kernel that executes `form` once.

    Each lane loads its operands' registers from global memory, lane by lane and each lane's in
    register order; the instruction runs; each lane stores its results in the same order. What
    a load reads, or a store writes, passes through shared memory.

    Args:
        form: the form.
        target: the module's target.
        selectors: values of the form's selectors by name; the first legal one by default.

    Raises:
        TilecError: if `target` lacks the form, a selector is unknown or out of range, or the
            form is no instruction that one warp executes on its registers at once.
    """
    version = form.require(target)
    _check(form)
    buffers = _buffers(form)
    chosen = choose(form, selectors or {})
    inside = {operand.name: _names(operand) for operand in form.all_operands}
    body = ["mov.u32 %lane, %laneid;"]
    for operand in form.operands:
        body += _transfer(operand, written=False)
    immediates = {name: [str(value)] for name, value in chosen.items()}
    body += _instruction(form, buffers, {**inside, **immediates})
    for operand in form.results:
        body += _transfer(operand, written=True)
    parameters = ",\n".join(f"    .param .u64 {buffer.name}" for buffer in buffers)
    lines = [
        *_comment(form, buffers, chosen),
        f".version {version}",
        f".target {target}",
        ".address_size 64",
        "",
        f".visible .entry {ENTRY}(\n{parameters}\n)",
        ".reqntid 32",
        "{",
        *(f"    {line}" for line in (*_declarations(form, buffers), *body, "ret;")),
        "}",
    ]
    return Kernel("\n".join(lines) + "\n", buffers, version)
