"""What kernels that try one instruction have in common: buffers, selectors, the module around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import TilecError
from .form_classes import Form
from .operands import LANES, Operand
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
            elements; of `memory` of a matrix load or store, rows and their bytes; of a matrix
            that goes to shared memory, lines and their bytes.
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
    """One kernel.

    Attributes:
        ptx: the module.
        buffers: its parameters in order.
        version: the module's `.version`.
        threads: of the one block that it is launched with.
    """

    ptx: str
    buffers: tuple[Buffer, ...]
    version: PtxVersion
    threads: int = LANES


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


def register_buffer(operand: Operand, *, written: bool) -> Buffer:
    """The buffer with the registers of each thread."""
    shape = (operand.threads, operand.registers)
    return Buffer(operand.name, written, shape, operand.register.bits)


def register_names(operand: Operand) -> list[str]:
    """What the registers of an operand are called."""
    return [f"%{operand.name}{n}" for n in range(operand.registers)]


def thread_base(name: str, stride: int, thread: str = "%lane") -> list[str]:
    """Put into `%p_<name>` the global address of the thread's share of a buffer.

    Args:
        name: the buffer.
        stride: bytes of a share.
        thread: the register with the thread's number.
    """
    return [
        f"ld.param.u64 %p_{name}, [{name}];",
        f"cvta.to.global.u64 %p_{name}, %p_{name};",
        f"mad.wide.u32 %p_{name}, {thread}, {stride}, %p_{name};",
    ]


def transfer(operand: Operand, registers: Sequence[str], *, written: bool) -> list[str]:
    """Move an operand between registers and memory, thread by thread in register order."""
    width = operand.register.bits // 8
    lines = thread_base(operand.name, operand.registers * width)
    for number, register in enumerate(registers):
        place = f"[%p_{operand.name}+{number * width}]"
        if written:
            lines.append(f"st.global.{operand.register.ptx} {place}, {register};")
        else:
            lines.append(f"ld.global.{operand.register.ptx} {register}, {place};")
    return lines


def buffer_text(buffer: Buffer, holders: str) -> str:
    """What a buffer of registers holds, for a comment."""
    outer, inner = buffer.shape
    what = f"[{outer} {holders}][{inner} register{'s' * (inner > 1)}] of {buffer.bits} bits"
    return f"  {buffer.name}: {what}, {'written' if buffer.written else 'read'}"


def module(
    target: Target,
    version: PtxVersion,
    comment: Sequence[str],
    buffers: Sequence[Buffer],
    body: Sequence[str],
    threads: int,
    directives: Sequence[str] = (),
) -> Kernel:
    """The module with one kernel, and what it takes.

    Args:
        target: its target.
        version: its PTX version.
        comment: lines above it.
        buffers: its parameters.
        body: its lines, the last `ret` left out.
        threads: of its block.
        directives: further lines of its head.
    """
    # One called `param` is not a pointer but a tensor map itself.
    kinds = {"param": ".align 64 .b8 param[128]"}
    names = (kinds.get(buffer.name, f".u64 {buffer.name}") for buffer in buffers)
    parameters = ",\n".join(f"    .param {name}" for name in names)
    lines = [
        *(f"// {line}" for line in comment),
        f".version {version}",
        f".target {target}",
        ".address_size 64",
        "",
        f".visible .entry {ENTRY}(\n{parameters}\n)" if buffers else f".visible .entry {ENTRY}()",
        f".reqntid {threads}",
        *directives,
        "{",
        *(f"    {line}" for line in (*body, "ret;")),
        "}",
    ]
    return Kernel("\n".join(lines) + "\n", tuple(buffers), version, threads)
