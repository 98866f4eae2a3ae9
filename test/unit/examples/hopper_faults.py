"""Faults put into the GEMMs of `examples/hopper`, and the line that must be named of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change to the program.

    Attributes:
        name: what is wrong.
        old, new: the change, once.
        kind: of the simulator's first finding; `error` where the compiler refuses it.
        at: what stands on the line that the finding is at.
        names: what stands on another that it names: what is wrong there, or what it conflicts with.
    """

    name: str
    old: str
    new: str
    kind: str
    at: str
    names: str = ""

    def line(self, program: str, part: str) -> int:
        """The line of the changed program on which `part` first stands; it must."""
        lines = program.replace(self.old, self.new, 1).splitlines()
        return next(number for number, line in enumerate(lines, 1) if part in line)


_WAIT = "        %done = tile.wgmma_wait 0 %d4 : !D\n"
_RELEASE = """        %one = nvvm.elect.sync -> i1
        scf.if %one {
          tile.barrier_arrive %empty[%stage] : !Bars
        }
"""
FULL, EMPTY = "tile.barrier_wait %full", "tile.barrier_wait %empty"
PRODUCT, LOAD_A, LOAD_B = "%d1 = tile.wgmma", "tile.tma_load %ma", "tile.tma_load %mb"
EXPECT = "tile.barrier_expect"
STORE = "tile.tma_store"

PLAIN = [
    Fault("no wgmma fence", "%d0 = tile.wgmma_fence %sum", "%gone = tile.wgmma_fence %sum",
          "error", PRODUCT),
    Fault("wait too weak", "wgmma_wait 0", "wgmma_wait 1", "error", "tile.wgmma_wait"),
    Fault("no wait", _WAIT, _WAIT.replace("tile.wgmma_wait 0 %d4", "tile.wgmma_fence %d4"),
          "error", "%done = tile.wgmma_fence"),
    Fault("released early", _WAIT + _RELEASE, _RELEASE + _WAIT, "async", LOAD_A, PRODUCT),
    Fault("nothing expects the bytes", "bytes 49152", "bytes 0", "async", PRODUCT, FULL),
    Fault("bytes short", "bytes 49152", "bytes 32768", "deadlock", FULL, EXPECT),
    Fault("no arrival that expects bytes",
          "            tile.barrier_expect %full[%stage] bytes 49152 : !Bars\n", "",
          "deadlock", FULL, LOAD_A),
    Fault("a consumer waits for the other parity", "%parity = %false)", "%parity = %true)",
          "async", PRODUCT, FULL),
    Fault("the producer waits for the other parity", "%parity = %true)", "%parity = %false)",
          "deadlock", EMPTY),
    Fault("a parity that is never turned over",
          "%next_parity = arith.xori %parity, %wraps : i1\n            scf.yield %next_stage",
          "%next_parity = arith.xori %parity, %false : i1\n            scf.yield %next_stage",
          "mbarrier", EXPECT),
    Fault("one warp of eight releases a stage", "count 8", "count 1", "deadlock",
          EMPTY, "count 1 :"),
    Fault("one warp too many is awaited", "count 8", "count 9", "deadlock", EMPTY, "count 9"),
    Fault("one stage too few", "arith.cmpi eq, %next, %c3", "arith.cmpi eq, %next, %c2",
          "deadlock", FULL, "tile.barrier_init %full"),
    Fault("a wrong box", "shape [128, 64] : !M to !A", "shape [64, 64] : !M to !A",
          "deadlock", FULL, LOAD_A),
    Fault("a box that is too large", "shape [128, 64] : !M to !A", "shape [256, 64] : !M to !A",
          "error", LOAD_A),
    Fault("a wrong swizzle", '!A = memref<3x128x64xf16, #tile.shared<"128B">>',
          '!A = memref<3x128x64xf16, #tile.shared<"64B">>', "error", LOAD_A),
    Fault("no proxy fence before the store", "      nvvm.fence.proxy {kind", "      // {kind",
          "proxy", STORE, "tile.stmatrix %y0"),
    Fault("no barrier before the store", "      nvvm.barrier id", "      // id",
          "race", STORE, "tile.stmatrix %y0"),
    Fault("no wait before the end", "nvvm.cp.async.bulk.wait_group 0", "", "async", STORE),
]  # fmt: skip

_SYNC = "    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}\n"
CLUSTER = [
    Fault("no barrier of the cluster before peers are signalled", f"{_SYNC}\n",
          "    gpu.barrier\n\n", "cluster", LOAD_A.replace("%ma", "%mb")),
    Fault("no barrier of the cluster at the end", f"{_SYNC}    gpu.return", "    gpu.return",
          "cluster", "tile.barrier_arrive %empty[%stage] of %c0"),
    Fault("a mask without the peer", "%both = arith.constant 3", "%both = arith.constant 1",
          "deadlock", FULL, LOAD_B),
    Fault("a half where the peer's is", "%b[%stage, %half, %c0]", "%b[%stage, %c0, %c0]",
          "async", LOAD_B),
    Fault("only one CTA's warps are awaited", "count 16", "count 8", "mbarrier", EMPTY),
    Fault("the peer is not told that its B is read",
          "          tile.barrier_arrive %empty[%stage] of %c1 : !Bars\n", "",
          "deadlock", EMPTY, "tile.barrier_arrive %empty[%stage] of %c0"),
    Fault("a wrong box", "shape [128, 64] : !M to !A", "shape [64, 64] : !M to !A",
          "deadlock", FULL, LOAD_A),
    Fault("reuse before `wait_group.read`", "nvvm.cp.async.bulk.wait_group 0 {read}", "",
          "async", "tile.stmatrix %y64", STORE),
    Fault("reuse before a barrier after `wait_group.read`",
          "      nvvm.barrier id = %consumers number_of_threads = %their_threads\n\n", "\n",
          "async", "tile.stmatrix %y64", STORE),
    Fault("no proxy fence before the store", "      nvvm.fence.proxy {kind", "      // {kind",
          "proxy", STORE, "tile.stmatrix %y0"),
]  # fmt: skip
