"""A complete PTX kernel around one `wgmma.mma_async`: a warpgroup, matrices by shared memory.

A matrix that a descriptor tells lies in shared memory without a swizzle: 16-byte chunks, chunk c of
line l at 16·(c·lines + l). PTX ISA 9.7.15.5.1, "Shared Memory Matrix Layout".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .forms import Form
from .kernel_parts import (
    Buffer,
    Kernel,
    buffer_text,
    module,
    register_buffer,
    register_names,
    transfer,
)
from .operands import WARPGROUP_THREADS, Operand
from .ptx import assembly
from .targets import Target

_CHUNK = 16
"""Bytes of a row of a core matrix, eight of which lie one after the other."""


@dataclass(frozen=True, slots=True)
class _Image:
    """A matrix on its way to shared memory.

    Attributes:
        operand: whose it is.
        lines: its rows or columns, each contiguous in global memory.
        line: what a line is, for people.
        bytes: of a line.
        transposed: whether lines go along K rather than lie side by side along M or N.
    """

    operand: Operand
    lines: int
    line: str
    bytes: int
    transposed: bool

    @property
    def name(self) -> str:
        """The operand's name."""
        return self.operand.name

    @property
    def chunks(self) -> int:
        """16-byte chunks of a line."""
        return self.bytes // _CHUNK

    @property
    def buffer(self) -> Buffer:
        """What the kernel takes."""
        return Buffer(self.name, False, (self.lines, self.bytes), 8)

    @property
    def text(self) -> str:
        """What the buffer holds, for a comment."""
        return f"  {self.name}: [{self.lines} {self.line}][{self.bytes} bytes], read"

    @property
    def strides(self) -> tuple[int, int]:
        """Leading and stride byte offset of the descriptor.

        From one core matrix to the next along K, and along M or N: chunks of 16 bytes are as far
        apart as all lines are long, runs of eight lines 128 bytes. The offsets swap their roles
        where the matrix is transposed.
        """
        across, down = _CHUNK * self.lines, 8 * _CHUNK
        return (down, across) if self.transposed else (across, down)


def _image(operand: Operand, chosen: Mapping[str, int]) -> _Image:
    """A matrix as it comes: lines along K, or along M or N if it is to be transposed."""
    transposed = bool(chosen.get(f"imm_trans_{operand.name}", 0))
    rows = (operand.name == "a") != transposed
    lines, along = operand.rows, operand.cols
    if not rows:
        lines, along = along, lines
    line = "rows" if rows else "columns"
    return _Image(operand, lines, line, along * operand.type.bits // 8, transposed)


def _fill(image: _Image) -> Iterator[str]:
    """Copy a matrix into shared memory, 16 bytes a thread at a time."""
    name, vectors = image.name, image.lines * image.chunks
    yield f"ld.param.u64 %p_{name}, [{name}];"
    yield f"cvta.to.global.u64 %p_{name}, %p_{name};"
    yield f"mov.u32 %at_{name}, image_{name};"
    for start in range(0, vectors, WARPGROUP_THREADS):
        guard = ""
        yield f"add.u32 %vector, %lane, {start};"
        if vectors - start < WARPGROUP_THREADS:
            yield f"setp.lt.u32 %some, %vector, {vectors};"
            guard = "@%some "
        yield f"div.u32 %chunk, %vector, {image.lines};"
        yield f"rem.u32 %line, %vector, {image.lines};"
        yield f"mul.lo.u32 %from, %line, {image.bytes};"
        yield f"mad.lo.u32 %from, %chunk, {_CHUNK}, %from;"
        yield f"mad.wide.u32 %far, %from, 1, %p_{name};"
        yield f"mad.lo.u32 %to, %vector, {_CHUNK}, %at_{name};"
        yield f"{guard}ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%far];"
        yield f"{guard}st.shared.v4.b32 [%to], {{%w0, %w1, %w2, %w3}};"


def _describe(image: _Image) -> Iterator[str]:
    """Put the descriptor into the operand's register: address, leading and stride byte offset."""
    name = image.name
    leading, stride = (offset >> 4 for offset in image.strides)
    (register,) = register_names(image.operand)
    yield f"shr.u32 %to, %at_{name}, 4;"
    yield "and.b32 %to, %to, 0x3fff;"
    yield f"cvt.u64.u32 {register}, %to;"
    yield f"or.b64 {register}, {register}, {leading << 16 | stride << 32:#x};"


def _declarations(form: Form, images: list[_Image], buffers: list[Buffer]) -> Iterator[str]:
    for operand in form.all_operands:
        if operand.tied is None:
            names = ", ".join(register_names(operand))
            yield f".reg .{operand.register.ptx} {names};"
    yield f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)}, %far;"
    yield ".reg .b32 %lane, %vector, %chunk, %line, %from, %to, %w0, %w1, %w2, %w3;"
    yield ".reg .pred %some;"
    for image in images:
        yield f".reg .b32 %at_{image.name};"
        yield f".shared .align 1024 .b8 image_{image.name}[{image.buffer.bytes}];"


def _comment(
    form: Form, buffers: list[Buffer], images: list[_Image], chosen: Mapping[str, int]
) -> Iterator[str]:
    yield form.ptx
    yield "Launch one warpgroup. Each parameter points to an array in global memory:"
    texts = {image.name: image.text for image in images}
    for buffer in buffers:
        yield texts.get(buffer.name) or buffer_text(buffer, "threads")
    yield from (f"  {name} = {value}" for name, value in chosen.items())


def wgmma_kernel(form: Form, target: Target, chosen: Mapping[str, int]) -> Kernel:
    """The kernel that executes a form of `wgmma.mma_async` once, with 128 threads.

    Matrices told by a descriptor come as they are: lines of A and of B go along K, rows of A and
    columns of B, or along M and N where the form is told to transpose them. All else comes as
    registers, thread by thread; D goes back so.

    Args:
        form: the form.
        target: the module's target.
        chosen: a legal value of every selector of the form.

    Raises:
        TilecError: if `target` lacks the form.
    """
    version = form.require(target)
    images = [_image(one, chosen) for one in form.operands if not one.threads]
    matrices = {image.name: image.buffer for image in images}
    buffers = [register_buffer(one, written=True) for one in form.results]
    buffers += [
        matrices.get(one.name) or register_buffer(one, written=False) for one in form.operands
    ]
    places = {one.name: register_names(one) for one in form.all_operands}
    body = ["mov.u32 %lane, %tid.x;"]
    for operand in form.operands:
        if operand.threads:
            body += transfer(operand, places[operand.tied or operand.name], written=False)
    for image in images:
        body += [*_fill(image), *_describe(image)]
    immediates = {name: [str(value)] for name, value in chosen.items()}
    body += [
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        assembly(form, {**places, **immediates}),
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
    ]
    for operand in form.results:
        body += transfer(operand, places[operand.name], written=True)
    body = [*_declarations(form, images, buffers), *body]
    comment = list(_comment(form, buffers, images, chosen))
    return module(target, version, comment, buffers, body, WARPGROUP_THREADS)
