"""What the table says of an instruction form: operands, qualifiers, versions, the road to it.

A form is one fully qualified PTX instruction. Its key is `Form.ptx`: the mnemonic with every
qualifier written and the state space left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .errors import TilecError
from .operands import Major, Operand, Shape
from .targets import TARGETS, Since, Target, min_ptx
from .types import ElementType
from .versions import PtxVersion


class Family(StrEnum):
    """The instruction families; the `family` of `tile-isa list --format json`."""

    MMA = "mma"
    MMA_BLOCK_SCALE = "mma.block_scale"
    MMA_SP = "mma.sp"
    MMA_SP_BLOCK_SCALE = "mma.sp.block_scale"
    WMMA_LOAD = "wmma.load"
    WMMA_STORE = "wmma.store"
    WMMA_MMA = "wmma.mma"
    LDMATRIX = "ldmatrix"
    STMATRIX = "stmatrix"
    MOVMATRIX = "movmatrix"


@dataclass(frozen=True, slots=True)
class Selector:
    """A small integer that picks lanes or bytes: sparsity selector, byte id, thread id.

    Attributes:
        name: `selector`, `byte_id_a`, `thread_id_a`, `byte_id_b`, `thread_id_b`.
        legal: the values that are defined.
        bits: width of the integer.
        constant: whether it must be known at compile time.
    """

    name: str
    legal: tuple[int, ...]
    bits: int
    constant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One instruction form.

    Attributes:
        ptx: the key.
        family: its family.
        results: matrix operands written, in PTX order.
        operands: matrix operands read, in PTX order.
        since: targets and PTX versions, one clause each.
        intrinsic: the LLVM intrinsic, or None where only inline asm reaches the form.
        section: title of the PTX ISA section that defines it.
    """

    ptx: str
    family: Family
    results: tuple[Operand, ...]
    operands: tuple[Operand, ...]
    since: tuple[Since, ...]
    intrinsic: str | None
    section: str

    def __str__(self) -> str:
        return self.ptx

    def operand(self, name: str) -> Operand:
        """The operand or result called `name`; KeyError if the form has none."""
        for operand in (*self.results, *self.operands):
            if operand.name == name:
                return operand
        raise KeyError(name)

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has the form; None if it never does."""
        return min_ptx(self.since, target)

    def require(self, target: Target) -> PtxVersion:
        """The lowest PTX version with which `target` has the form.

        Raises:
            TilecError: if it never does, naming the targets that do.
        """
        found = self.min_ptx(target)
        if found is None:
            where = ", ".join(f"{t} from PTX {v}" for t, v in self.targets.items())
            raise TilecError(f"{self.ptx} is not on {target}; it is on {where}")
        return found

    @property
    def targets(self) -> dict[str, PtxVersion]:
        """The target of each clause and the lowest PTX version with which it has the form."""
        return {s.target: max(s.ptx, TARGETS[s.target].min_ptx) for s in self.since}

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The selectors that stand among the operands, in PTX order."""
        return ()

    @property
    def spaces(self) -> tuple[str, ...]:
        """The state spaces that the form's address may name, besides none; empty if it has none."""
        return ()

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed for an address in `space`; forms without one ignore it."""
        del space
        return self.ptx


class Sparsity(NamedTuple):
    """Structured sparsity of A.

    Attributes:
        ordered: `.sp::ordered_metadata` rather than `.sp`.
        chunk: logical elements of a row that share one 4-bit code: 2 (1:2), 4 (2:4), 8 (4:8).
        selectors: legal values of the sparsity selector.
    """

    ordered: bool
    chunk: int
    selectors: tuple[int, ...]

    @property
    def codes(self) -> tuple[int, ...]:
        """The codes that ordered metadata may hold: two ascending positions, the lower first."""
        return (0b0100, 0b1110) if self.chunk == 2 else (4, 8, 12, 9, 13, 14)

    @property
    def defined_codes(self) -> tuple[int, ...]:
        """The codes that the form's metadata may hold: plain `.sp` asks for no order."""
        if self.ordered or self.chunk == 2:
            return self.codes
        return tuple(code for code in range(16) if code & 3 != code >> 2)


class BlockScaling(NamedTuple):
    """Scale factors of A and B.

    Attributes:
        type: `ue8m0` or `ue4m3`.
        chunks: scale factors along K, the number in `.scale_vec::NX`.
        byte_ids: legal byte selectors, of A and of B alike.
    """

    type: ElementType
    chunks: int
    byte_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mma(Form):
    """`mma` and `mma.sp`, block-scaled or not.

    Attributes:
        shape: logical extents of the product.
        products: independent products of that shape that a warp computes (4 for m8n8k4 f16).
        kind: `f8f6f4`, `mxf8f6f4`, `mxf4`, `mxf4nvf4` or None.
        satfinite: whether integer accumulation clamps.
        bit_op: `xor` or `and` of the b1 forms, else None.
        rounding: `rn`, `rz`, `rm`, `rp` of the f64 forms, else None.
        sparsity: of A, or None where it is dense.
        scaling: of A and B, or None.
    """

    shape: Shape
    products: int = 1
    kind: str | None = None
    satfinite: bool = False
    bit_op: str | None = None
    rounding: str | None = None
    sparsity: Sparsity | None = None
    scaling: BlockScaling | None = None

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """Sparsity selector, then byte and thread ids of A and of B."""
        found: list[Selector] = []
        if self.sparsity:
            found.append(Selector("selector", self.sparsity.selectors, 32, constant=True))
        if self.scaling:
            for side, threads in (("a", 2), ("b", 4)):
                found.append(Selector(f"byte_id_{side}", self.scaling.byte_ids, 16, constant=False))
                found.append(
                    Selector(f"thread_id_{side}", tuple(range(threads)), 16, constant=False)
                )
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class WmmaMma(Form):
    """`wmma.mma`. Which element a register holds is not defined by the ISA."""

    shape: Shape
    satfinite: bool = False
    bit_op: str | None = None
    rounding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WmmaMemory(Form):
    """`wmma.load` and `wmma.store`; the memory operand has a stride in elements.

    Attributes:
        shape: extents of the product whose fragment it is.
        alignment: bytes to which every row (column, if `.col`) must be aligned.
    """

    shape: Shape
    alignment: int

    @property
    def spaces(self) -> tuple[str, ...]:
        """Global and shared memory."""
        return ("global", "shared", "shared::cta")

    @property
    def default_stride(self) -> int:
        """Elements from one row (column, if `.col`) to the next when no stride is given."""
        (inside,) = (*self.results, *self.operands)
        return inside.cols if inside.major is Major.ROW else inside.rows

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed for an address in `space`; generic if empty."""
        head, _, kind = self.ptx.rpartition(".")
        return f"{head}.{space}.{kind}" if space else self.ptx


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixMemory(Form):
    """`ldmatrix` and `stmatrix`.

    Attributes:
        matrices: the number in `.xN`.
        rows: rows in memory of one matrix, each at an address of its own.
        row_bytes: bytes of a row, padding included; a row is aligned to them.
        transposed: whether `.trans` is written.
        source: format in memory where it is not that of the registers: `b6x16_p32` and
            `b4x16_p64` are padded to 16 bytes and zero-extended, `s4` is sign-extended.
    """

    matrices: int
    rows: int
    row_bytes: int
    transposed: bool
    source: str | None = None

    @property
    def spaces(self) -> tuple[str, ...]:
        """Shared memory."""
        return ("shared", "shared::cta")

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed for an address in `space`; generic if empty."""
        if not space:
            return self.ptx
        words = self.ptx.split(".")
        at = len(words) - (2 if self.source else 1)
        return ".".join((*words[:at], space, *words[at:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class MovMatrix(Form):
    """`movmatrix`: the transpose of an 8×8 matrix of 16-bit elements within a warp."""
