"""What is the same in all orders of a trace: its clocks' components, and the bytes it touches."""

from __future__ import annotations

from tilec.isa import WARPGROUP_WARPS

from .ops import Kind, Op, Trace
from .shadow import Bytes


class Components:
    """The components of the clocks of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._numbers: dict[tuple[object, ...], int] = {
            ("warp", warp): warp for warp in range(len(trace.warps))
        }
        for warp, ops in enumerate(trace.warps):
            for op in ops:
                named = component_of(op, warp, trace.per_cta)
                if named is not None:
                    self._numbers.setdefault(named, len(self._numbers))
                if op.key is not None:
                    self._numbers.setdefault(("mbarrier", op.key), len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, name: tuple[object, ...]) -> int:
        return self._numbers[name]


_OF_WARP = {
    Kind.CP_WRITE: "copies", Kind.CP_WAIT: "copies", Kind.CP_ARRIVE: "copies",
    Kind.BULK_READ: "bulk", Kind.BULK_WAIT: "bulk",
    Kind.TENSOR_READ: "tensor", Kind.COMMIT: "tensor",
}  # fmt: skip


def component_of(op: Op, warp: int, per_cta: int) -> tuple[object, ...] | None:
    """The component by which an op completes, or that it waits for, where that is no warp's."""
    if op.kind in _OF_WARP:
        return _OF_WARP[op.kind], warp
    cta, inside = divmod(warp, per_cta)
    match op.kind:
        case Kind.PRODUCT_READ | Kind.PRODUCT_COMMIT | Kind.PRODUCT_WAIT:
            return "products", cta, inside // WARPGROUP_WARPS
        case Kind.BARRIER_ARRIVE | Kind.BARRIER_LEAVE:
            return "barrier", cta, op.value
        case Kind.CLUSTER_ARRIVE | Kind.CLUSTER_LEAVE:
            return ("cluster",)
        case _:
            return None


class Model:
    """What is the same in all orders of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.components = Components(trace)
        self.bytes = Bytes(trace)
        self.named = [
            [self._component(op, warp) for op in ops] for warp, ops in enumerate(trace.warps)
        ]
        self.commits = [sum(op.kind is Kind.PRODUCT_COMMIT for op in ops) for ops in trace.warps]

    def _component(self, op: Op, warp: int) -> int:
        named = component_of(op, warp, self.trace.per_cta)
        return warp if named is None else self.components[named]
