"""`tile.barrier_*`: mbarriers in shared memory, on which threads wait for phases."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.dialects.semantics.effects import MEETS
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.limits import LARGEST_CLUSTER, MOST_COUNTED

from ..shared import is_barriers
from .base import TileOp, check_indices, integer, memory

_SIGNALS = Semantics(scope=Scope.LANE, effects=(*MEETS, Touch(Access.WRITE, Resource.BARRIERS)))


def check_barrier(value: Value, indices: Sequence[Value], what: str = "barriers") -> None:
    """Check an mbarrier: memory of mbarriers, and which of them.

    Raises:
        TilecError: saying what would be legal.
    """
    type_ = memory(value, what)
    if not is_barriers(type_):
        raise TilecError(f'{what} are memref<…xi64, #tile.shared<"none">> of rank 1, not {type_}')
    check_indices(indices, 1, f"an mbarrier of {type_}")


class _BarrierOp(TileOp):
    """What ops on one mbarrier have in common."""

    SEMANTICS = _SIGNALS

    def check(self) -> None:
        """Verify the memref and the index."""
        check_barrier(self.operands[0], [self.operands[1]])


class BarrierInitOp(_BarrierOp, name="barrier_init"):
    """Initialise an mbarrier, in phase 0: each phase ends with `count` arrivals (`mbarrier.init`).

    One thread does it, before a barrier of the CTA after which others use it.
    """

    assembly_format = "$barriers `[` $index `]` `count` $count attr-dict `:` type($barriers)"
    inferred_types = {"index": "index"}

    barriers: ext.Operand[Any]
    index: ext.Operand[Any]
    count: ir.IntegerAttr

    @property
    def mnemonic(self) -> str:
        """`mbarrier.init`."""
        return "mbarrier.init.shared::cta.b64"

    def check(self) -> None:
        """Verify the mbarrier and the count."""
        super().check()
        if not 1 <= integer(self, "count") <= MOST_COUNTED:
            raise TilecError(f"count must be 1 to {MOST_COUNTED}, not {integer(self, 'count')}")


def _is_of_warps(op: Op) -> bool:
    """Whether whole warps come to an arrival."""
    return "elected" in op.attributes or "ctas" in op.attributes


def _is_of_own(op: Op) -> bool:
    """Whether an arrival in other CTAs releases what was written to its own alone."""
    return "fenced" in op.attributes or "ctas" in op.attributes


class BarrierArriveOp(_BarrierOp, name="barrier_arrive"):
    """Arrive at an mbarrier, one of the arrivals that end its phase (`mbarrier.arrive`).

    With `of`, at the mbarrier at the same place in the CTA of that rank in the cluster; a wait
    there that must see what was done before needs `cluster`. With `elected`, whole warps come to
    it, and one thread of each arrives, under a predicate. With `ctas`, whole warps come to it, and
    of each as many lanes arrive as there are CTAs of the cluster, each at the mbarrier in the CTA
    of which it is the rank: that the warp is done with what it has read, for who writes there next.
    What it has written is released to its own CTA alone.

    With `fenced`, too, it arrives in another CTA and releases to its own alone. So do threads whose
    writes only the asynchronous proxy reads, in the CTA where they are, and that have fenced them
    for it: `tcgen05.cp` of a pair, which the other CTA issues. A release to the cluster would wait
    for all of memory.
    """

    assembly_format = (
        "$barriers `[` $index `]` (`of` $rank^)? (`elected` $elected^)? (`fenced` $fenced^)? "
        "(`ctas` $ctas^)? attr-dict `:` type($barriers)"
    )
    UNITS = frozenset({"elected", "fenced"})
    OPTIONAL = frozenset({"ctas"})
    inferred_types = {"index": "index", "rank": "index"}
    SEMANTICS = _SIGNALS.but(scope=lambda op: Scope.WARP if _is_of_warps(op) else Scope.LANE)

    barriers: ext.Operand[Any]
    index: ext.Operand[Any]
    rank: Sequence[ext.Operand[Any]]

    @property
    def mnemonic(self) -> str:
        """`mbarrier.arrive`, in the own CTA with the order that it has when none is written."""
        if _is_of_own(self):  # a release to the cluster would wait for all of memory
            return "mbarrier.arrive.release.cta.shared::cluster.b64"
        where = "cluster.shared::cluster" if self.rank else "cta.shared::cta"
        return f"mbarrier.arrive.release.{where}.b64"

    def check(self) -> None:
        """Verify the mbarrier and the rank."""
        super().check()
        if len(self.rank) > 1:
            raise TilecError(f"arrives at the mbarrier of one CTA, not of {len(self.rank)}")
        check_indices(self.rank, len(self.rank), "the rank of a CTA")
        if "fenced" in self.attributes and not self.rank:
            raise TilecError("is fenced for another CTA, and needs its rank")
        if "ctas" not in self.attributes:
            return
        if self.rank or "elected" in self.attributes:
            raise TilecError("arrives in all CTAs of the cluster: no rank, and no thread elected")
        if not 1 <= integer(self, "ctas") <= LARGEST_CLUSTER:
            raise TilecError(f"ctas must be 1 to {LARGEST_CLUSTER}, not {integer(self, 'ctas')}")


class BarrierExpectOp(_BarrierOp, name="barrier_expect"):
    """Arrive at an mbarrier whose phase ends with `bytes` more (`mbarrier.arrive.expect_tx`)."""

    assembly_format = "$barriers `[` $index `]` `bytes` $bytes attr-dict `:` type($barriers)"
    inferred_types = {"index": "index"}

    barriers: ext.Operand[Any]
    index: ext.Operand[Any]
    bytes: ir.IntegerAttr

    @property
    def mnemonic(self) -> str:
        """`mbarrier.arrive.expect_tx`, with the order that it has when none is written."""
        return "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64"

    def check(self) -> None:
        """Verify the mbarrier and the bytes."""
        super().check()
        if not 0 <= integer(self, "bytes") <= MOST_COUNTED:
            raise TilecError(f"bytes must be 0 to {MOST_COUNTED}, not {integer(self, 'bytes')}")


class BarrierWaitOp(_BarrierOp, name="barrier_wait"):
    """Wait until the phase of a parity has ended, by a loop of `mbarrier.try_wait.parity`.

    The phase before the first counts as ended: a wait for parity true returns at once. With
    `cluster`, it sees what threads of other CTAs did before they arrived.
    """

    assembly_format = (
        "$barriers `[` $index `]` `parity` $parity (`cluster` $cluster^)? attr-dict "
        "`:` type($barriers)"
    )
    UNITS = frozenset({"cluster"})
    inferred_types = {"index": "index", "parity": "i1"}

    barriers: ext.Operand[Any]
    index: ext.Operand[Any]
    parity: ext.Operand[Any]

    @property
    def mnemonic(self) -> str:
        """`mbarrier.try_wait.parity`, with the order of none that is written, or the cluster's."""
        scope = "cluster" if "cluster" in self.attributes else "cta"
        return f"mbarrier.try_wait.parity.acquire.{scope}.shared::cta.b64"

    def check(self) -> None:
        """Verify the mbarrier and the parity."""
        super().check()
        if str(self.operands[2].type) != "i1":
            raise TilecError(f"parity must be an i1, not {self.operands[2].type}")


class WarpgroupIdOp(TileOp, name="warpgroup_id"):
    """The number of the warpgroup in its CTA, of type index: the thread number over 128."""

    assembly_format = "attr-dict"
    inferred_types = {"number": "index"}

    SEMANTICS = PURE.but(scope=Scope.WARP, varies=Variation.WARPGROUP)

    number: ext.Result[Any]

    def check(self) -> None:
        """Verify the type."""
        if not isinstance(self.results[0].type, ir.IndexType):
            raise TilecError(f"the number is of type index, not {self.results[0].type}")


class TurnOp(TileOp, name="turn"):
    """Which of the warpgroups that take the tiles of a CTA in turn this is, and how many there are.

    Both of type index. tile-specialize-warps creates it in a kernel where each warpgroup computes
    whole tiles. The same program is right for any number of them: until tile-fragments-to-nvvm
    there is one, whose number is 0; then as many as `tile.turns` of the kernel says.
    """

    assembly_format = "attr-dict"
    inferred_types = {"number": "index", "count": "index"}

    SEMANTICS = PURE.but(scope=Scope.WARP, varies=Variation.CTA)

    number: ext.Result[Any]
    count: ext.Result[Any]

    def check(self) -> None:
        """Verify the types."""
        for result in self.results:
            if not isinstance(result.type, ir.IndexType):
                raise TilecError(f"the numbers are of type index, not {result.type}")
