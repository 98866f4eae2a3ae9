"""Attention at level 1, for any head dimension: the program of `examples/kernels/attention.mlir`.

Tiles of queries and keys are chosen here; layouts, shared memory and the pipeline are the passes'.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attention:
    """One kernel.

    Attributes:
        dimension: of a head.
        causal: whether a query looks at earlier keys alone.
        element: MLIR's element type of Q, K, V and O.
        queries, keys: of a tile.
        warps: of a CTA.
    """

    dimension: int
    causal: bool
    element: str = "f16"
    queries: int = 128
    keys: int = 64
    warps: int = 4

    @property
    def name(self) -> str:
        """As `f16-d128-causal`."""
        return f"{self.element}-d{self.dimension}{'-causal' if self.causal else ''}"

    @property
    def configuration(self) -> str:
        """As `128x64 w4`."""
        return f"{self.queries}x{self.keys} w{self.warps}"


def attention(kind: Attention) -> str:
    """The program: softmax of the scores, times V. Queries and keys fill whole tiles.

    The grid is queries / `kind.queries`, heads. The scale is log2(e) / sqrt(dimension).
    """
    q, k, d = kind.queries, kind.keys, kind.dimension
    promised = f"tile.aligned = 16 : i64, tile.strides = array<i64: {d}, {d}, 1>"
    heads = ", ".join(f"%{name}: !Heads {{{promised}}}" for name in "qkv")
    heads += f", %o: !Heads {{llvm.noalias, {promised}}}"
    return f"""
!Q = tensor<{q}x{d}x{kind.element}>
!Kt = tensor<{d}x{k}x{kind.element}>
!V = tensor<{k}x{d}x{kind.element}>
!S = tensor<{q}x{k}xf32>
!P = tensor<{q}x{k}x{kind.element}>
!O = tensor<{q}x{d}xf32>
!M = tensor<{q}xf32>
!M1 = tensor<{q}x1xf32>
!Number = tensor<{q}x{k}xi32>
!Inside = tensor<{q}x{k}xi1>
!Heads = memref<?x?x{d}x{kind.element}, strided<[?, {d}, 1]>>

gpu.module @attention [#nvvm.target<chip = "sm_80">] {{
  gpu.func @attention({heads}, %scale: f32)
      kernel attributes {{known_block_size = array<i32: {32 * kind.warps}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %step = arith.constant {k} : index
    %height = arith.constant {q} : index
    %tile = gpu.block_id x
    %head = gpu.block_id y
    %first = arith.muli %tile, %height : index
    %keys = memref.dim %k, %c1 : !Heads
    %scales = "tile.fill"(%scale) : (f32) -> !S
{_causal_start(kind)}
    %tq = "tile.load"(%q, %head, %first, %c0) : (!Heads, index, index, index) -> !Q
    %m0 = arith.constant dense<0xFF800000> : !M
    %l0 = arith.constant dense<0.0> : !M
    %none = arith.constant dense<0.0> : !S
    %o0 = arith.constant dense<0.0> : !O
    %m, %l, %sum = scf.for %at = %c0 to {_last(kind)} step %step
        iter_args(%m_old = %m0, %l_old = %l0, %o_old = %o0) -> (!M, !M, !O) {{
      %tk = "tile.load"(%k, %head, %at, %c0) {{transposed}}
          : (!Heads, index, index, index) -> !Kt
      %raw = "tile.dot"(%tq, %tk, %none) : (!Q, !Kt, !S) -> !S
      {_scaled(kind)} = arith.mulf %raw, %scales : !S
{_causal_mask(kind)}
      %m_tile = "tile.reduce"(%s) {{axis = 1 : i64, fn = "arith.maxnumf"}} : (!S) -> !M
      %m_new = arith.maxnumf %m_old, %m_tile : !M
      %m_col = "tile.expand"(%m_new) {{axis = 1 : i64}} : (!M) -> !M1
      %ms = "tile.broadcast"(%m_col) : (!M1) -> !S
      %shifted = arith.subf %s, %ms : !S
      %p32 = math.exp2 %shifted : !S
      %grown = arith.subf %m_old, %m_new : !M
      %alpha = math.exp2 %grown : !M
      %l_tile = "tile.reduce"(%p32) {{axis = 1 : i64, fn = "arith.addf"}} : (!S) -> !M
      %l_new = math.fma %l_old, %alpha, %l_tile : !M
      %p = arith.truncf %p32 : !S to !P
      %alpha_col = "tile.expand"(%alpha) {{axis = 1 : i64}} : (!M) -> !M1
      %alphas = "tile.broadcast"(%alpha_col) : (!M1) -> !O
      %o_scaled = arith.mulf %o_old, %alphas : !O
      %tv = "tile.load"(%v, %head, %at, %c0) : (!Heads, index, index, index) -> !V
      %o_new = "tile.dot"(%p, %tv, %o_scaled) : (!P, !V, !O) -> !O
      scf.yield %m_new, %l_new, %o_new : !M, !M, !O
    }}
    %l_col = "tile.expand"(%l) {{axis = 1 : i64}} : (!M) -> !M1
    %ls = "tile.broadcast"(%l_col) : (!M1) -> !O
    %mean = arith.divf %sum, %ls : !O
    %out = arith.truncf %mean : !O to !Q
    "tile.store"(%out, %o, %head, %first, %c0) : (!Q, !Heads, index, index, index) -> ()
    gpu.return
  }}
}}
"""


def _causal_start(kind: Attention) -> str:
    """Where the keys end, and the numbers of the queries."""
    if not kind.causal:
        return ""
    return """    %behind = arith.addi %first, %height : index
    %last = arith.minui %keys, %behind : index
    %lowest = arith.constant dense<0xFF800000> : !S
    %column = "tile.iota"() {axis = 1 : i64} : () -> !Number
    %row = "tile.iota"() {axis = 0 : i64} : () -> !Number
    %first32 = arith.index_cast %first : index to i32
    %firsts = "tile.fill"(%first32) : (i32) -> !Number
    %query = arith.addi %row, %firsts : !Number"""


def _causal_mask(kind: Attention) -> str:
    """The scores that count."""
    if not kind.causal:
        return ""
    return """      %at32 = arith.index_cast %at : index to i32
      %ats = "tile.fill"(%at32) : (i32) -> !Number
      %number = arith.addi %column, %ats : !Number
      %earlier = arith.cmpi sle, %number, %query : !Number
      %s = arith.select %earlier, %scaled, %lowest : !Inside, !S"""


def _last(kind: Attention) -> str:
    return "%last" if kind.causal else "%keys"


def _scaled(kind: Attention) -> str:
    return "%scaled" if kind.causal else "%s"
