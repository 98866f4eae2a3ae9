"""Shared-memory matrix descriptors: solved from where a matrix lies; of wgmma also read back.

PTX ISA 9.7.15.5.1, "Matrix Descriptor Format", "Strides", "Canonical Layouts"; 9.7.16.4.1 says the
same of tcgen05, whose `tilec.isa.matrix_descriptor` writes other bits. A core matrix is
eight lines of sixteen bytes. What repeats it along the index that is contiguous, and along the
other, are the leading and the stride byte offset: which is which depends on the swizzle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilec.isa import Form, Storage
from tilec.isa.wording import counted

from .linear import LayoutError
from .shared_matrix import Digit, SharedMatrix
from .swizzle import CHUNK_BYTES, SWIZZLES, Swizzle

_CODES = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
_CHUNK = 8 * CHUNK_BYTES
"""Bits of a chunk."""
_CORE = 8
"""Lines of a core matrix."""
ADDRESSES = 1 << 18
"""Bytes of shared memory that a descriptor tells apart, of starts and offsets."""
UNUSED = CHUNK_BYTES
"""An offset that the hardware does not look at."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a descriptor says besides where the matrix starts.

    Attributes:
        leading: leading dimension byte offset.
        stride: stride dimension byte offset.
        swizzle: one of `SWIZZLES`.

    Raises:
        LayoutError: for an offset that its fourteen bits do not hold, in units of 16 bytes.
    """

    leading: int
    stride: int
    swizzle: Swizzle

    def __post_init__(self) -> None:
        for name, value in (("leading", self.leading), ("stride", self.stride)):
            if value % CHUNK_BYTES or not 0 <= value < ADDRESSES:
                raise LayoutError(
                    f"a {name} byte offset of {value} is not a multiple of 16 below {ADDRESSES}"
                )

    def encode(self, start: int) -> int:
        """The 64 bits, for a matrix that starts at an address of shared memory.

        Raises:
            LayoutError: for an address that is not a multiple of 16, or beyond shared memory.
        """
        if start % CHUNK_BYTES or not 0 <= start < ADDRESSES:
            raise LayoutError(f"a start of {start} is not a multiple of 16 below {ADDRESSES}")
        mode = _CODES[str(self.swizzle)]
        return start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | mode << 62

    @classmethod
    def decode(cls, word: int) -> tuple[Descriptor, int]:
        """A descriptor and the address where its matrix starts.

        Raises:
            LayoutError: if it has a base offset, which is 0 where matrices start at multiples of
                their swizzle's pattern.
        """
        base = word >> 49 & 7
        if base:
            raise LayoutError(f"descriptor {word:#018x} has the base offset {base}, not 0")
        leading, stride = ((word >> at & 0x3FFF) << 4 for at in (16, 32))
        name = next(name for name, code in _CODES.items() if code == word >> 62 & 3)
        return cls(leading, stride, SWIZZLES[name]), (word & 0x3FFF) << 4

    def matrix(
        self, extents: dict[str, int], bits: int, k: str, *, transposed: bool
    ) -> SharedMatrix:
        """What one instruction reads: the inverse of `solve_descriptor`.

        Args:
            extents: of the operand, by index.
            bits: of an element.
            k: which index counts along K.
            transposed: whether the other one is contiguous; its extent is rounded up to whole
                lines of the swizzle.
        """
        (other,) = (name for name in extents if name != k)
        contiguous, lines = (other, k) if transposed else (k, other)
        across, down = _offsets(self, transposed=transposed)
        line = self.swizzle.line
        width = 8 * line // bits
        panels = -(-extents[contiguous] // width)
        digits = (
            Digit(contiguous, min(width, extents[contiguous]), bits),
            Digit(contiguous, panels, 8 * across),
            Digit(lines, _CORE, 8 * line),
            Digit(lines, extents[lines] // _CORE, 8 * down),
        )
        return SharedMatrix(bits, digits, self.swizzle)

    def __str__(self) -> str:
        return f"leading {self.leading}, stride {self.stride}, swizzle {self.swizzle}"


def _offsets(descriptor: Descriptor, *, transposed: bool) -> tuple[int, int]:
    """Bytes between panels of the contiguous index, and between core matrices along the other."""
    if transposed and not descriptor.swizzle.bits:
        return descriptor.stride, descriptor.leading
    return descriptor.leading, descriptor.stride


@dataclass(frozen=True, slots=True)
class DescribedOperand:
    """How the instructions of a product are told an operand in shared memory.

    Attributes:
        descriptor: the same for all of them, but for the start.
        transposed: what `imm_trans_a` or `imm_trans_b` must be.
        steps: bytes from the matrix's start to that of each instruction along K.
        blocks: bytes to each instruction along M or N; both are added.
        alignment: what the matrix's start must be a multiple of.
    """

    descriptor: Descriptor
    transposed: bool
    steps: tuple[int, ...]
    blocks: tuple[int, ...]
    alignment: int


def solve_descriptor(form: Form, name: str, matrix: SharedMatrix) -> DescribedOperand:
    """The descriptor by which a form is told an operand that lies in shared memory.

    Args:
        form: a form that takes it by descriptor.
        name: `a` or `b`.
        matrix: where it lies, its indices `row` and `col`: a whole number of the instruction's
            operands along both, or along M or N one, and a part of the panel where it ends. A
            sparse A is as stored.

    Raises:
        LayoutError: if none does, saying why.
    """
    operand = form.operand(name)
    if operand.storage is not Storage.SHARED:
        raise LayoutError(
            f"no descriptor of {form.mnemonic()} can describe this operand {name}: it lies in "
            f"{operand.storage}"
        )
    along, _ = indices(name)
    extents = {"row": operand.rows, "col": operand.cols}
    halves = operand.type.bits == 16
    read = SharedRead(form.mnemonic(), name, extents, along, operand.type.bits, halves)
    return solve_read(read, matrix)


@dataclass(frozen=True, slots=True)
class SharedRead:
    """What one instruction reads by a descriptor.

    Attributes:
        what: the instruction, for errors.
        name: of the operand, for errors.
        extents: of `row` and `col`, in elements.
        along: which of them counts along M or N, the other along K.
        bits: of an element.
        transposes: whether it may be contiguous along M or N.
        transposed: what may, for errors.
    """

    what: str
    name: str
    extents: dict[str, int]
    along: str
    bits: int
    transposes: bool
    transposed: str = "f16 and bf16"

    @property
    def k(self) -> str:
        """Which index counts along K."""
        return "col" if self.along == "row" else "row"


def solve_read(read: SharedRead, matrix: SharedMatrix) -> DescribedOperand:
    """The descriptor by which an instruction is told what it reads.

    Args:
        read: what it reads at once.
        matrix: where it lies, as `solve_descriptor` has it.

    Raises:
        LayoutError: if none does, saying why.
    """
    return _Solving(read, matrix).solve()


def indices(name: str) -> tuple[str, str]:
    """Which index of an operand counts along M or N, and which along K."""
    return ("row", "col") if name == "a" else ("col", "row")


@dataclass(frozen=True, slots=True)
class _Solving:
    """What is read, and the matrix that it is to be read from."""

    read: SharedRead
    matrix: SharedMatrix

    def solve(self) -> DescribedOperand:
        read, matrix = self.read, self.matrix
        if matrix.bits != read.bits:
            raise self.failed(f"its elements have {read.bits} bits, not {matrix.bits}")
        if matrix.swizzle not in SWIZZLES.values():
            raise self.failed(f"{matrix.swizzle} is not one of {', '.join(SWIZZLES)}")
        along, k, own = read.along, read.k, read.extents
        for index, extent in own.items():
            there = matrix.extents.get(index, 1)
            is_one = index == along and extent <= there < 2 * extent
            if there % extent and not is_one:
                raise self.failed(f"its {there} {index}s are not a multiple of {extent}")
        transposed = self.is_transposed(along, k)
        if transposed:
            across, down = self.offsets(along, own[along], k, own[k])
        else:
            across, down = self.offsets(k, own[k], along, own[along])
        pair = (down, across) if transposed and not matrix.swizzle.bits else (across, down)
        try:
            descriptor = Descriptor(*pair, matrix.swizzle)
        except LayoutError as error:
            raise self.failed(str(error)) from None
        return DescribedOperand(
            descriptor,
            transposed,
            self.starts(k, own[k]),
            self.starts(along, own[along]),
            matrix.alignment,
        )

    def failed(self, why: str) -> LayoutError:
        return LayoutError(
            f"no descriptor of {self.read.what} can describe this operand {self.read.name}: {why}"
        )

    def is_transposed(self, along: str, k: str) -> bool:
        """Whether the matrix is contiguous along M or N."""
        matrix = self.matrix
        if matrix.plain(k, 1) == matrix.bits:
            return False
        if matrix.plain(along, 1) != matrix.bits:
            raise self.failed("neither its rows nor its columns are contiguous")
        if not self.read.transposes:
            raise self.failed(
                f"it is contiguous along {self.mn(along)}, and must be along K: only "
                f"{self.read.transposed} are transposed"
            )
        return True

    def mn(self, index: str) -> str:
        """M, N, or K."""
        if index != self.read.along:
            return "K"
        return "N" if self.read.name == "b" else "M"

    def offsets(self, contiguous: str, width: int, lines: str, height: int) -> tuple[int, int]:
        """Bytes between panels of the contiguous index and between core matrices of the other.

        Args:
            contiguous: that index.
            width: its extent in the operand.
            lines: the other index.
            height: its extent in the operand.
        """
        matrix, swizzle = self.matrix, self.matrix.swizzle
        line = matrix.line
        panel = 8 * line // matrix.bits
        if self.mn(contiguous) == "K" and swizzle.bits and width > panel:
            raise self.failed(
                f"an instruction reads {counted(width * matrix.bits // 8, 'byte')} along K, more "
                "than a line "
                f"of swizzle {swizzle}"
            )
        across = UNUSED * 8
        if width > panel:
            across = matrix.plain(contiguous, panel)
        self.check(
            contiguous,
            width,
            lambda at: at // panel * across + at % panel * matrix.bits,
            f"{counted(line, 'byte')} along {self.mn(contiguous)}, then one offset on",
        )
        down = matrix.plain(lines, _CORE) if height > _CORE else 8 * line * _CORE
        self.check(
            lines,
            height,
            lambda at: at // _CORE * down + at % _CORE * 8 * line,
            f"eight lines {counted(line, 'byte')} apart along {self.mn(lines)}, then one offset on",
        )
        return across // 8, down // 8

    def check(self, index: str, extent: int, wanted: Callable[[int], int], what: str) -> None:
        """Hold an index, within the operand, against what the hardware reads."""
        for at in range(extent):
            found = self.matrix.plain(index, at)
            if found != wanted(at):
                raise self.failed(
                    f"with swizzle {self.matrix.swizzle} it must be {what}; {index} {at} lies "
                    f"{counted(found // 8, 'byte')} from the start, not {wanted(at) // 8}"
                )

    def starts(self, index: str, extent: int) -> tuple[int, ...]:
        """Bytes to each instruction's part along an index; all parts must lie alike."""
        matrix = self.matrix
        found = []
        for first in range(0, matrix.extents.get(index, 1) - extent + 1, extent):
            start = matrix.plain(index, first)
            for at in range(extent):
                if matrix.plain(index, first + at) - start != matrix.plain(index, at):
                    raise self.failed(
                        f"{index}s {first} to {first + extent - 1} are not laid out like the first "
                        "ones"
                    )
            if start % _CHUNK:
                raise self.failed(f"{index} {first} starts within 16 bytes")
            found.append(start // 8)
        return tuple(found)
