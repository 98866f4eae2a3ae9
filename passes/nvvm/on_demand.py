"""The lowerings that many kernels do without: each module is imported when an op first asks."""
# ruff: noqa: PLC0415 (that is what this file is for)

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa.lazy import cached_property

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering

if TYPE_CHECKING:
    from tilec.dialects.tile.ops.launch_control import QueryCancelOp, TryCancelOp
    from tilec.dialects.tile.ops.views import ViewOp

    from .atomics import Atomics
    from .barriers import Barriers
    from .casts import Casts
    from .conversions import Conversions
    from .fetches import Fetches
    from .inline_asm import AsmOp
    from .reductions import Reductions
    from .takes import Takes
    from .tcgen05 import Tcgen05
    from .tma import BoxCopies
    from .views import Iotas
    from .wgmma import Wgmmas
    from .wmma import Wmma


class OnDemand:
    """Lowerings of one kernel's ops."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    @cached_property
    def atomics(self) -> Atomics:
        """Of atomic operations that return nothing."""
        from .atomics import Atomics

        return Atomics(self._kernel)

    @cached_property
    def barriers(self) -> Barriers:
        """Of mbarriers."""
        from .barriers import Barriers

        return Barriers(self._kernel)

    @cached_property
    def boxes(self) -> BoxCopies:
        """Of copies of boxes, TMA's."""
        from .tma import BoxCopies

        return BoxCopies(self._kernel)

    @cached_property
    def casts(self) -> Casts:
        """Of casts of elements."""
        from .casts import Casts

        return Casts(self._kernel)

    @cached_property
    def conversions(self) -> Conversions:
        """Of conversions between layouts."""
        from .conversions import Conversions

        return Conversions(self._kernel)

    @cached_property
    def fetches(self) -> Fetches:
        """Of atomic operations that return what was there."""
        from .fetches import Fetches

        return Fetches(self._kernel)

    @cached_property
    def iotas(self) -> Iotas:
        """Of the numbers of elements."""
        from .views import Iotas

        return Iotas(self._kernel)

    @cached_property
    def reductions(self) -> Reductions:
        """Of reductions along an axis."""
        from .reductions import Reductions

        return Reductions(self._kernel)

    @cached_property
    def takes(self) -> Takes:
        """Of elements taken from other lanes."""
        from .takes import Takes

        return Takes(self._kernel)

    @cached_property
    def tensors(self) -> Tcgen05:
        """Of products in tensor memory, and of what fills and empties it."""
        from .tcgen05 import Tcgen05

        return Tcgen05(self._kernel)

    @cached_property
    def wgmmas(self) -> Wgmmas:
        """Of products of warpgroups."""
        from .wgmma import Wgmmas

        return Wgmmas(self._kernel)

    @cached_property
    def wmmas(self) -> Wmma:
        """Of fragments whose layout is not known."""
        from .wmma import Wmma

        return Wmma(self._kernel)

    def assembly(self, op: AsmOp, expansion: Expansion) -> list[Values]:
        """Inline assembly."""
        from .inline_asm import assembly

        return assembly(op, expansion)

    def try_cancel(self, op: TryCancelOp, expansion: Expansion) -> list[Values]:
        """A request for a cluster that has not started."""
        from .launch_control import ask

        return ask(op, expansion)

    def query_cancel(self, op: QueryCancelOp, expansion: Expansion) -> list[Values]:
        """What the response to a request says."""
        from .launch_control import query

        return query(op, expansion)

    def view(self, op: ViewOp, expansion: Expansion) -> list[Values]:
        """A view: registers under other names."""
        from .views import view

        return view(op, expansion)
