"""`tile.try_cancel`, `tile.query_cancel`: a CTA takes over the work of a cluster not yet started.

PTX ISA 9.7.13.17, 9.7.13.18, `clusterlaunchcontrol`.
"""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch, Variation
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext
from tilec.ir.types import is_row_major
from tilec.isa import TilecError

from ..dialect import SharedAttr
from .barrier import check_barrier
from .base import TileOp, check_indices, memory

WORDS = 2
"""Words of 64 bits of a response."""
RESPONSE_BYTES = 16
ASKS = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
"""The instruction that asks for the own CTA."""


def _check_responses(value: Value, indices: Sequence[Value]) -> None:
    """Check memory of responses, and which of them.

    Raises:
        TilecError: saying what would be legal.
    """
    type_ = memory(value, "responses")
    space = type_.memory_space
    plain = isinstance(space, SharedAttr) and space.swizzle.value == "none"
    if not (
        plain
        and type_.has_static_shape
        and type_.rank == WORDS
        and type_.shape[0] > 0
        and type_.shape[1] == WORDS
        and str(type_.element_type) == "i64"
        and is_row_major(type_)
    ):
        raise TilecError(
            f'responses are memref<…x{WORDS}xi64, #tile.shared<"none">>, {RESPONSE_BYTES} bytes '
            f"each, not {type_}"
        )
    check_indices(indices, 1, f"a response of {type_}")


class TryCancelOp(TileOp, name="try_cancel"):
    """Ask for a cluster of the grid that has not started (`clusterlaunchcontrol.try_cancel`).

    One thread asks. The response, of 16 bytes, comes asynchronously, and the mbarrier counts them.
    With `multicast` it comes to the same place in each CTA of the cluster, and each one's mbarrier
    counts the bytes. Once a thread has seen that a request failed, it asks no more.
    """

    assembly_format = (
        "$responses `[` $place `]` `signal` $barriers `[` $index `]` (`multicast` $multicast^)? "
        "attr-dict `:` type($responses) `signal` type($barriers)"
    )
    UNITS = frozenset({"multicast"})
    inferred_types = {"place": "index", "index": "index"}

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            Touch(Access.WRITE, None, 0, asynchronous=True),
            Touch(Access.WRITE, Resource.BARRIERS),
        ),
    )

    responses: ext.Operand[Any]
    place: ext.Operand[Any]
    barriers: ext.Operand[Any]
    index: ext.Operand[Any]

    @property
    def mnemonic(self) -> str:
        """The instruction for shared memory of the own CTA, or of all of the cluster."""
        cast = ".multicast::cluster::all" if "multicast" in self.attributes else ""
        return ASKS.replace(".b128", f"{cast}.b128")

    def check(self) -> None:
        """Verify the response's place and the mbarrier."""
        _check_responses(self.responses, [self.place])
        check_barrier(self.barriers, [self.index])


class QueryCancelOp(TileOp, name="query_cancel"):
    """What a response says (`clusterlaunchcontrol.query_cancel`), behind the wait for its bytes.

    Whether a cluster was taken over, and the place in the grid of its first CTA along x, y and z;
    without one the places are 0.
    """

    assembly_format = "$responses `[` $place `]` attr-dict `:` type($responses)"
    inferred_types = {"place": "index", "canceled": "i1", "x": "index", "y": "index", "z": "index"}

    SEMANTICS = Semantics(
        scope=Scope.LANE, effects=(Touch(Access.READ, None, 0),), varies=Variation.CTA
    )

    responses: ext.Operand[Any]
    place: ext.Operand[Any]
    canceled: ext.Result[Any]
    x: ext.Result[Any]
    y: ext.Result[Any]
    z: ext.Result[Any]

    FIRST = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128"

    @property
    def mnemonic(self) -> str:
        """The instruction that says whether there is a cluster; `FIRST` gives its place."""
        return "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128"

    def check(self) -> None:
        """Verify the response's place, and the types of what it says."""
        _check_responses(self.responses, [self.place])
        wanted = ("i1", "index", "index", "index")
        given = tuple(str(result.type) for result in self.results)
        if given != wanted:
            raise TilecError(f"gives ({', '.join(wanted)}), not ({', '.join(given)})")
