"""What the table says of an instruction form: operands, qualifiers, versions, the road to it.

A form is one fully qualified PTX instruction. Its key is `Form.ptx`: the mnemonic with every
qualifier written and the state space left out; where operands alone tell forms apart, with
a word for that. A family of forms is a class: what differs from one to the other is data or a
method here, so that nobody outside need ask which class a form is of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .errors import TilecError
from .form_parts import BlockScaling, ExecutionScope, Memory, Selector, Sparsity
from .operands import Operand, Shape
from .targets import Available, Since


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
    WGMMA = "wgmma"
    WGMMA_SP = "wgmma.sp"
    TCGEN05_LD = "tcgen05.ld"
    TCGEN05_ST = "tcgen05.st"
    TCGEN05_LD_RED = "tcgen05.ld.red"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Form(Available):
    """One instruction form.

    Attributes:
        ptx: the key.
        family: its family, one of `Family` or a new one.
        results: matrix operands written, in PTX order.
        operands: matrix operands read, in PTX order.
        since: targets and PTX versions, one clause each.
        intrinsic: the LLVM intrinsic, or None where only inline asm reaches the form.
        intrinsic_since: number of the first architecture for which LLVM 22 selects it, where
            that is not the form's own first.
        section: title of the PTX ISA section that defines it.
        scope: who executes it.
        asynchronous: whether it is still at work when the next instruction begins, until
            something waits for it.
        shape: extents of the product that it computes or moves an operand of, if there is one.
        products: independent products that it computes; 0 if it is a move.
        sparsity: of A, or None where it is dense.
        scaling: of A and B, or None.
    """

    ptx: str
    family: str
    results: tuple[Operand, ...]
    operands: tuple[Operand, ...]
    since: tuple[Since, ...]
    intrinsic: str | None
    intrinsic_since: int = 0
    section: str
    scope: ExecutionScope = ExecutionScope.WARP
    asynchronous: bool = False
    shape: Shape | None = None
    products: int = 0
    sparsity: Sparsity | None = None
    scaling: BlockScaling | None = None

    def __str__(self) -> str:
        return self.ptx

    # By its key alone: much is looked up by form.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.ptx == other.ptx

    def __hash__(self) -> int:
        return hash(self.ptx)

    # Operands

    @property
    def all_operands(self) -> tuple[Operand, ...]:
        """Results, then operands."""
        return (*self.results, *self.operands)

    @property
    def operand_names(self) -> tuple[str, ...]:
        """Names of results and operands, each once."""
        return tuple(dict.fromkeys(operand.name for operand in self.all_operands))

    def __repr__(self) -> str:
        matrices = (f"{o.name} {o.rows}x{o.cols} {o.type.name}" for o in self.all_operands)
        return f"<{self.ptx}:\n {', '.join(matrices)}>"

    def operand(self, name: str) -> Operand:
        """The operand or result called `name`.

        Raises:
            TilecError: if the form has none, naming those that it has.
        """
        for several in (self.results, self.operands):
            for operand in several:
                if operand.name == name:
                    return operand
        names = ", ".join(self.operand_names)
        raise TilecError(f"{self.ptx} has no operand '{name}'; it has {names}")

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The selectors that stand among the operands, in PTX order."""
        return ()

    def selectors_of(self, operand: str) -> tuple[Selector, ...]:
        """The selectors that pick a part of an operand; with an empty name, those of none."""
        return tuple(one for one in self.selectors if one.operand == operand)

    @property
    def memory(self) -> Memory | None:
        """What it reads or writes at an address; None if it takes no address."""
        return None

    @property
    def takes_stride(self) -> bool:
        """Whether a stride may follow its address."""
        return False

    @property
    def a_kind(self) -> str | None:
        """Where A lies if the mnemonic leaves it open: `descriptor` or `registers`; else None."""
        return None

    # How it is written

    @property
    def spaces(self) -> tuple[str, ...]:
        """The state spaces that the form's address may name, besides none; empty if it has none."""
        return ()

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed for an address in `space`; forms without one ignore it."""
        del space
        return self.ptx

    def other_spellings(self) -> Iterator[str]:
        """Mnemonics that PTX allows besides `mnemonic()`, which may be among them."""
        return iter(())

    def rare_spellings(self) -> Iterator[str]:
        """Mnemonics that are understood besides: of old PTX versions, in orders of ptxas alone."""
        return iter(())

    @property
    def preferred(self) -> str | None:
        """The key of a form that does the same and is faster somewhere; None if there is none."""
        return None

    @property
    def flops(self) -> int:
        """Multiplications and additions of one execution; 0 if it is a move."""
        return 0

    @property
    def facts(self) -> dict[str, str | int]:
        """What is particular to the family, by name: for people and JSON."""
        return {} if self.shape is None else {"shape": str(self.shape)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Product(Form):
    """D = A·B + C.

    Attributes:
        shape: logical extents of the product.
        products: independent products of that shape that it computes.
        kind: of a `.kind` qualifier: `f8f6f4`, `mxf8f6f4`, `mxf4`, `mxf4nvf4`; or None.
        satfinite: whether integer accumulation clamps.
        bit_op: `xor` or `and` of the b1 forms, else None.
        rounding: `rn`, `rz`, `rm`, `rp` of the f64 forms, else None.
    """

    shape: Shape
    products: int = 1
    kind: str | None = None
    satfinite: bool = False
    bit_op: str | None = None
    rounding: str | None = None

    @property
    def flops(self) -> int:
        """2·m·n·k of every product, zeros of a sparse A included."""
        return 2 * self.shape.m * self.shape.n * self.shape.k * self.products

    @property
    def chunk(self) -> int:
        """Logical elements along K that belong together: those of a chunk where A is sparse."""
        return self.sparsity.chunk if self.sparsity else 1
