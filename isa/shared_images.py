"""Matrices that a kernel brings from global into shared memory, where a descriptor tells them.

They lie there without a swizzle: 16-byte chunks, chunk c of line l at 16·(c·lines + l). Elements of
32 bits along M or N lie in panels of 128 bytes, in which the swizzle of tcgen05 for them moves
pieces of 32 bytes. PTX ISA 9.7.15.5.1, 9.7.16.4.1, "Shared Memory Matrix Layout".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .kernel_parts import Buffer, register_names
from .operands import WARPGROUP_THREADS, Operand

_CHUNK = 16
"""Bytes of a row of a core matrix, eight of which lie one behind the other."""
_PANEL = 128
"""Bytes of a line of a panel."""
_REPEAT = 4
"""Lines after which the swizzle of panels repeats."""
_WORD = 32


@dataclass(frozen=True, slots=True)
class Image:
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
    def in_panels(self) -> bool:
        """Whether it lies in panels, swizzled."""
        return self.transposed and self.operand.container == _WORD

    @property
    def room(self) -> int:
        """Bytes of shared memory that it takes."""
        if not self.in_panels:
            return self.buffer.bytes
        return -(-self.bytes // _PANEL) * _PANEL * self.lines

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
        where the matrix is transposed. Of panels: to the next panel, and to the next four lines.
        """
        if self.in_panels:
            return _PANEL * self.lines, _PANEL * _REPEAT
        across, down = _CHUNK * self.lines, 8 * _CHUNK
        return (down, across) if self.transposed else (across, down)


def image_of(operand: Operand, *, transposed: bool) -> Image:
    """A matrix as it comes: lines along K, or along M or N if it is to be transposed."""
    rows = (operand.name == "a") != transposed
    lines, along = operand.rows, operand.cols
    if not rows:
        lines, along = along, lines
    line = "rows" if rows else "columns"
    return Image(operand, lines, line, along * operand.container // 8, transposed)


def fill(image: Image, part: str = "") -> Iterator[str]:
    """Copy a matrix into shared memory, 16 bytes a thread at a time.

    Args:
        image: the matrix.
        part: the register that says which one is copied, of several behind each other.
    """
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
        if part:
            yield f"mad.lo.u32 %from, {part}, {image.buffer.bytes}, %from;"
        yield f"mad.wide.u32 %far, %from, 1, %p_{name};"
        yield from _target(image)
        yield f"{guard}ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%far];"
        yield f"{guard}st.shared.v4.b32 [%to], {{%w0, %w1, %w2, %w3}};"


def _target(image: Image) -> Iterator[str]:
    """Where the chunk goes that a thread copies."""
    if not image.in_panels:
        yield f"mad.lo.u32 %to, %vector, {_CHUNK}, %at_{image.name};"
        return
    yield f"and.b32 %to, %line, {_REPEAT - 1};"
    yield "shl.b32 %from, %to, 5;"  # pieces of 32 bytes, exchanged by the line's number
    yield "and.b32 %to, %chunk, 7;"
    yield "shl.b32 %to, %to, 4;"
    yield "xor.b32 %to, %to, %from;"
    yield f"mad.lo.u32 %to, %line, {_PANEL}, %to;"
    yield "shr.u32 %from, %chunk, 3;"
    yield f"mad.lo.u32 %to, %from, {_PANEL * image.lines}, %to;"
    yield f"add.u32 %to, %to, %at_{image.name};"


def describe(image: Image, fixed: int = 0) -> Iterator[str]:
    """Put the descriptor into the operand's register: address, leading and stride byte offset.

    Args:
        image: the matrix.
        fixed: bits that it has besides.
    """
    name = image.name
    leading, stride = (offset >> 4 for offset in image.strides)
    (register,) = register_names(image.operand)
    yield f"shr.u32 %to, %at_{name}, 4;"
    yield "and.b32 %to, %to, 0x3fff;"
    yield f"cvt.u64.u32 {register}, %to;"
    yield f"or.b64 {register}, {register}, {fixed | leading << 16 | stride << 32:#x};"


def declarations(image: Image) -> Iterator[str]:
    """Its room in shared memory, and the address of that."""
    yield f".reg .b32 %at_{image.name};"
    yield f".shared .align 1024 .b8 image_{image.name}[{image.room}];"


REGISTERS = (
    ".reg .b64 %far;",
    ".reg .b32 %lane, %vector, %chunk, %line, %from, %to, %w0, %w1, %w2, %w3;",
    ".reg .pred %some;",
)
"""What filling takes; `%lane` is the thread."""
