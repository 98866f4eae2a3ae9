"""A program around one product in tensor memory: operands by TMA, sums out by `tcgen05.ld`."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

from dataclasses import dataclass

LANES = "lane [1,0] [2,0] [4,0] [8,0] [16,0]"


@dataclass(frozen=True)
class Product:
    """What is multiplied: A, (m, k), and B, (n, k) or transposed, to D.

    Attributes:
        kind: the instruction's words from `cta_group` on, without where A lies.
        types: of D, A and B, as PTX has them.
        elements: those in memory.
        m, n, k: extents.
        step: elements along K of one instruction.
        swizzle: of A and B in shared memory.
        transposed: whether B is contiguous along N.
        a_in_tensor: whether A goes through tensor memory.
        stationary: whether it is `.ws`.
    """

    kind: str
    types: str
    elements: tuple[str, str, str]
    m: int
    n: int
    k: int
    step: int
    swizzle: str = "128B"
    transposed: bool = False
    a_in_tensor: bool = False
    stationary: bool = False

    @property
    def words(self) -> str:
        """What stands behind `d` and `a` in their spaces."""
        return " ws" * self.stationary

    def text(self) -> str:
        """The program."""
        d, a, b = self.elements
        box = (self.k, self.n) if self.transposed else (self.n, self.k)
        size = {"f16": 2, "bf16": 2, "f32": 4}
        count = self.k * (self.m * size.get(a, 1) + self.n * size.get(b, 1))
        return f"""
!MA = memref<?x?x{a}, strided<[?, 1]>>
!MB = memref<?x?x{b}, strided<[?, 1]>>
!MC = memref<?x?x{d}, strided<[?, 1]>>
!A = memref<{self.m}x{self.k}x{a}, #tile.shared<"{self.swizzle}">>
!B = memref<{box[0]}x{box[1]}x{b}, #tile.shared<"{self.swizzle}">>
!D = memref<{self.m}x{self.n}x{d}, #tile.tensor<"d{self.words}">>
!P = memref<{self.m}x{self.k}x{a}, #tile.tensor<"a{self.words}">>
!Bar = memref<1xi64, #tile.shared<"none">>
!X = {self._fragment}
!Y = !tile.frag<tensor<32x{self.k}x{a}>, #tile.layout<"register {_ones(self.k)}; {LANES} -> row 32, col {self.k}">>
gpu.module @m {{
  gpu.func @k(%ma: !MA, %mb: !MB, %mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %false = arith.constant false
    {self._constants}
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %full = tile.alloc_shared : !Bar
    %done = tile.alloc_shared : !Bar
    %d = tile.alloc_tensor : !D
    %p = tile.alloc_tensor : !P
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %row = arith.muli %warp, %c{self._rows} : index
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %full[%c0] count 1 : !Bar
      tile.barrier_init %done[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    {self._left}
    scf.if %is_first {{
      tile.barrier_expect %full[%c0] bytes {count} : !Bar
      tile.tma_load %ma[%c0, %c0] to %a[%c0, %c0] signal %full[%c0] shape [{self.m}, {self.k}] : !MA to !A signal !Bar
      tile.tma_load %mb[%c0, %c0] to %b[%c0, %c0] signal %full[%c0] shape [{box[0]}, {box[1]}] : !MB to !B signal !Bar
      tile.barrier_wait %full[%c0] parity %false : !Bar
      {self._products}
      tile.tcgen05_commit %done[%c0] : !Bar
    }}
    tile.barrier_wait %done[%c0] parity %false : !Bar
    tile.tcgen05_fence after
    {self._sums}
    gpu.return
  }}
}}
"""

    @property
    def _rows(self) -> int:
        return 16 if self.m == 64 and not self.stationary else 32

    @property
    def _width(self) -> int:
        return self.n // (128 // self.m) if self.stationary else self.n

    @property
    def _load(self) -> str:
        pack = ".pack::16b" * (self.elements[0] == "f16")
        columns = self._width // 2 if pack else self._width
        if self._rows == 16:
            return f"16x64b.x{columns // 2}{pack}"
        return f"32x32b.x{columns}{pack}"

    @property
    def _fragment(self) -> str:
        columns, halves = self._width, self.elements[0] == "f16"
        registers, lanes = _ones(columns), LANES
        if self._rows == 16:
            # Of 16x64b a thread's number has lane 8 and the second column in its low bits.
            ones = [f"[0,{1 << bit}]" for bit in range(columns.bit_length() - 1)]
            second = ones.pop(1 if halves else 0)
            registers = " ".join(ones)
            lanes = f"lane [8,0] {second} [1,0] [2,0] [4,0]"
        layout = f"register {registers}; {lanes} -> row {self._rows}, col {columns}"
        element = self.elements[0]
        return f'!tile.frag<tensor<{self._rows}x{columns}x{element}>, #tile.layout<"{layout}">>'

    @property
    def _constants(self) -> str:
        numbers = set(range(0, self.k, self.step))
        numbers |= {bank * self._width for bank in range(self.n // self._width)}
        known = {0, 3, 5, 16, 32}
        lines = [f"%c{n} = arith.constant {n} : index" for n in sorted(numbers - known)]
        return "\n    ".join(lines)

    @property
    def _products(self) -> str:
        place = "tensor" if self.a_in_tensor else "descriptor"
        ws = ".ws" * self.stationary
        form = f"tcgen05.mma{ws}.{self.kind}.a::{place}"
        a, left = ("%p", "!P") if self.a_in_tensor else ("%a", "!A")
        flag = ", transpose_b" * self.transposed
        lines = []
        for at in range(0, self.k, self.step):
            where = f"%c{at}, %c0" if self.transposed else f"%c0, %c{at}"
            more = "%true" if at else "%false"
            lines.append(
                f"tile.tcgen05_mma {a}[%c0, %c{at}], %b[{where}], %d[%c0, %c0] if {more} "
                f'{{form = "{form}", types = "{self.types}"{flag}}} : {left}, !B, !D'
            )
        return "\n      ".join(lines)

    @property
    def _left(self) -> str:
        if not self.a_in_tensor:
            return ""
        words = self.k * {"f16": 16, "bf16": 16, "f32": 32}.get(self.elements[1], 8) // 32
        return f"""%left = tile.load %ma[%row, %c0] : !MA -> !Y
    tile.tcgen05_st %left, %p[%row, %c0] {{form = "tcgen05.st.sync.aligned.32x32b.x{words}.b32"}} : !Y, !P
    tile.tcgen05_wait_st
    tile.tcgen05_fence before
    gpu.barrier
    tile.tcgen05_fence after"""

    @property
    def _sums(self) -> str:
        form = f'{{form = "tcgen05.ld.sync.aligned.{self._load}.b32"}}'
        if not self.stationary:
            return f"""%x = tile.tcgen05_ld %d[%row, %c0] {form} : !D -> !X
    %sums = tile.tcgen05_wait_ld %x : !X
    tile.store %sums, %mc[%row, %c0] : !X, !MC"""
        parts = []
        for warp in range(4):
            row, bank = divmod(warp * 32, self.m)[::-1]
            column = bank * self._width
            parts.append(f"""%w{warp} = arith.constant {warp} : index
    %is{warp} = arith.cmpi eq, %warp, %w{warp} : index
    scf.if %is{warp} {{
      %x = tile.tcgen05_ld %d[%c{row}, %c{column}] {form} : !D -> !X
      %sums = tile.tcgen05_wait_ld %x : !X
      tile.store %sums, %mc[%c{row}, %c{column}] : !X, !MC
    }}""")
        return "\n    ".join(parts)


def _ones(columns: int) -> str:
    return " ".join(f"[0,{1 << bit}]" for bit in range(columns.bit_length() - 1))
