"""Faults put into the GEMM of `examples/blackwell`, and the line that must be named of each."""

from __future__ import annotations

from .hopper_faults import EXPECT, FULL, LOAD_A, LOAD_B, STORE, Fault

EMPTY, DONE = "tile.barrier_wait %empty", "tile.barrier_wait %done"
FIRST, LAST = "if %adds {form", "%c48], %d[%c0, %c0]"
SUMS = "%x0 = tile.tcgen05_ld"
COMMIT = "tile.tcgen05_commit %empty"
_WAIT = "      tile.barrier_wait %done[%c0] parity %false : !Bar\n"
_FORM = '{form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.'
_SUMS = """        %sums:2 = tile.tcgen05_wait_ld %x0, %x1 : !X, !X
        %y0 = tile.cast arith.truncf %sums#0 : !X to !Y
        %y1 = tile.cast arith.truncf %sums#1 : !X to !Y
"""
_UNAWAITED = """
        %y0 = tile.cast arith.truncf %x0 : !X to !Y
        %y1 = tile.cast arith.truncf %x1 : !X to !Y
"""

FAULTS = [
    Fault("nobody waits for the sums", _WAIT, "", "tensor-memory", SUMS, LAST),
    Fault("the sums' other parity is waited for", _WAIT, _WAIT.replace("%false", "%true"),
          "tensor-memory", SUMS, LAST),
    Fault("sums that begin with what was there", "%adds = arith.cmpi ne, %k, %c0",
          "%adds = arith.cmpi uge, %k, %c0", "uninitialised", FIRST),
    Fault("another warp's quarter", "%quarter = arith.andi %warp, %c3",
          "%quarter = arith.subi %warp, %c2", "tensor-memory", SUMS),
    Fault("stages released before products are done", f"          {COMMIT}[%stage] : !Bars\n",
          "          tile.barrier_arrive %empty[%stage] : !Bars\n", "async", LOAD_A, FIRST),
    Fault("a commit that is missing", "        tile.tcgen05_commit %done[%c0] : !Bar\n", "",
          "deadlock", DONE),
    Fault("two commits are awaited", "%empty[%s] count 1", "%empty[%s] count 2", "deadlock",
          EMPTY, "%empty[%s] count 2"),
    Fault("bytes short", "bytes 49152", "bytes 32768", "deadlock", FULL, EXPECT),
    Fault("nothing expects the bytes", "bytes 49152", "bytes 0", "async", FIRST, FULL),
    Fault("a wrong box", "shape [128, 64] : !M to !A", "shape [64, 64] : !M to !A",
          "deadlock", FULL, LOAD_A),
    Fault("the CTA goes before its commits have arrived",
          "          tile.barrier_wait %empty[%stage] parity %parity : !Bars\n          %next = ",
          "          %next = ", "async", COMMIT),
    Fault("no proxy fence before the store", "      nvvm.fence.proxy {kind", "      // {kind",
          "proxy", STORE, "tile.store %y0"),
    Fault("no barrier of the warp before the store", "      nvvm.bar.warp.sync", "      // ",
          "race", STORE, "tile.store %y0"),
    Fault("sums in use when columns are given back", _SUMS, _UNAWAITED, "tensor-memory",
          "gpu.return", SUMS),
    Fault("a wrong swizzle", '!B = memref<3x256x64xf16, #tile.shared<"128B">>',
          '!B = memref<3x256x64xf16, #tile.shared<"64B">>', "error", LOAD_B),
    Fault("types that the kind has not", f'if %adds {_FORM}f16"', f'if %adds {_FORM}bf16"',
          "error", FIRST),
    Fault("a fragment of other lanes", "32x32b.x32.b32", "16x64b.x32.b32", "error", SUMS),
]  # fmt: skip
