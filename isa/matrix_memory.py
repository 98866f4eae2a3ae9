"""`ldmatrix`, `stmatrix` and `movmatrix`. PTX ISA 9.7.14.5.15 to 9.7.14.5.17."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from itertools import product as cross

from .form_classes import Family, Form
from .form_parts import Memory
from .operands import Operand, matrix
from .targets import Since


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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
    def fragment(self) -> Operand:
        """What it loads or stores."""
        (inside,) = self.all_operands
        return inside

    @property
    def is_store(self) -> bool:
        """Whether it is `stmatrix`."""
        return not self.results

    @property
    def memory(self) -> Memory:
        """The rows of all matrices."""
        rows = self.matrices * self.rows
        return Memory(rows, "rows", self.row_bytes, "bytes", 8, addresses=rows)

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

    def other_spellings(self) -> Iterator[str]:
        """The count, and `.trans` with it, before the shape."""
        head, _, rest = self.ptx.partition(".aligned.")
        words = rest.split(".")
        at = 3 if self.transposed else 2
        yield ".".join((f"{head}.aligned", *words[1:at], words[0], *words[at:]))

    def rare_spellings(self) -> Iterator[str]:
        """Shape, count and `.trans` in any order."""
        head, _, rest = self.ptx.partition(".aligned.")
        words = rest.split(".")
        at = 3 if self.transposed else 2
        for order in permutations(words[:at]):
            yield ".".join((f"{head}.aligned", *order, *words[at:]))

    @property
    def facts(self) -> dict[str, str | int]:
        """Its rows and their size."""
        return {"rows": self.matrices * self.rows, "row_bytes": self.row_bytes}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MovMatrix(Form):
    """`movmatrix`: the transpose of an 8×8 matrix of 16-bit elements within a warp."""


_BLACKWELL = (
    # sm_110 is sm_101 under the name it has from PTX 9.0 on
    *(Since.of(f"sm_{n}a", v) for n, v in ((100, "8.6"), (101, "8.6"), (110, "9.0"), (120, "8.7"))),
    *(Since.of(f"sm_{n}f", v) for n, v in ((100, "8.8"), (101, "8.8"), (110, "9.0"), (120, "8.8"))),
)
_SIGN_EXTENDING = (
    Since.of("sm_90a", "9.4"),
    *(Since.of(f"sm_{n}f", "9.4") for n in (100, 110, 120)),
)


def _move(
    family: Family,
    geometry: str,
    count: int,
    type_name: str,
    since: tuple[Since, ...],
    *,
    trans: bool = False,
    source: str | None = None,
    in_llvm: bool = True,
) -> MatrixMemory:
    """One form; `geometry` is `m8n8` and so on, `type_name` that of the elements in registers."""
    rows, cols = (int(n) for n in geometry.removeprefix("m").split("n"))
    load = family is Family.LDMATRIX
    inside = (matrix("r", type_name, rows * count, cols),)
    # `.b8x16` says that b8 elements come unpacked, sixteen at a time.
    written = f"{'b8x16' if type_name == 'b8' else type_name}.{source}" if source else type_name
    ptx = f"{family}.sync.aligned.{geometry}.x{count}{'.trans' if trans else ''}.{written}"
    return MatrixMemory(
        ptx=ptx,
        family=family,
        results=inside if load else (),
        operands=() if load else inside,
        since=since,
        intrinsic=f"llvm.nvvm.{ptx}" if in_llvm else None,
        section="9.7.14.5.15" if load else "9.7.14.5.16",
        matrices=count,
        # m16n8.b8 is stored by columns, of which it has 8.
        rows=cols if geometry == "m16n8" else rows,
        row_bytes=8 if source == "s4" else 16,
        transposed=trans,
        source=source,
    )


def forms() -> Iterator[Form]:
    """Every form."""
    sources = ("b6x16_p32", "b4x16_p64")
    load, store = Family.LDMATRIX, Family.STMATRIX
    for count, trans in cross((1, 2, 4), (False, True)):
        yield _move(load, "m8n8", count, "b16", (Since.of("sm_75", "6.5"),), trans=trans)
    for count, source in cross((1, 2), (None, *sources)):
        yield _move(load, "m16n16", count, "b8", _BLACKWELL, trans=True, source=source)
    for count, source in cross((1, 2, 4), sources):
        yield _move(load, "m8n16", count, "b8", _BLACKWELL, source=source)
    for count in (1, 2, 4):
        # Younger than LLVM 22.
        yield _move(load, "m8n16", count, "s8", _SIGN_EXTENDING, source="s4", in_llvm=False)
    for count, trans in cross((1, 2, 4), (False, True)):
        yield _move(store, "m8n8", count, "b16", (Since.of("sm_90", "7.8"),), trans=trans)
    for count in (1, 2, 4):
        yield _move(store, "m16n8", count, "b8", _BLACKWELL, trans=True)
    yield MovMatrix(
        ptx="movmatrix.sync.aligned.m8n8.trans.b16",
        family=Family.MOVMATRIX,
        results=(matrix("d", "b16", 8, 8, listed=False),),
        operands=(matrix("a", "b16", 8, 8, listed=False),),
        since=(Since.of("sm_75", "7.8"),),
        intrinsic=None,  # LLVM 22 has none
        section="9.7.14.5.17",
    )
