"""Whether two accesses to memory depend on their order, and different threads make them."""

from __future__ import annotations

from tilec.dialects.semantics import Spread
from tilec.ir.mlir import ir
from tilec.isa.lazy import cached_property

from .cta_accesses import CtaAccess, Role
from .effects import may_alias
from .index_distance import Distances
from .index_forms import Loops
from .uniformity import Uniformity, control_of


class Conflicts:
    """The conflicts of one kernel's accesses.

    Args:
        function: the kernel.
    """

    def __init__(self, function: ir.OpView) -> None:
        self._function = function
        self._distances = Distances()
        self._known: dict[tuple[CtaAccess, CtaAccess, Loops], bool] = {}
        self._aliases: dict[tuple[ir.Value, ir.Value], bool] = {}

    @cached_property
    def uniformity(self) -> Uniformity:
        """Which values are the same in all threads."""
        return Uniformity(self._function)

    def between(self, first: CtaAccess, second: CtaAccess, passed: Loops) -> bool:
        """Whether different threads may access one element, and one of them changes it.

        Args:
            first: the access that each thread makes first.
            second: the other.
            passed: the loops that go on to a further round between them.
        """
        key = first, second, passed
        if key not in self._known:
            self._known[key] = self._between(first, second, passed)
        return self._known[key]

    def _between(self, first: CtaAccess, second: CtaAccess, passed: Loops) -> bool:
        if _commute(first, second) or not self._of_cta(first, second):
            return False
        if first.memref is None or second.memref is None:
            return True
        if not self._may_alias(first.memref, second.memref):
            return False
        if not self._distances.same(second.memref, first.memref, passed):
            return True
        if not (first.extents and second.extents):
            return True
        pairs = zip(second.indices, first.indices, strict=True)
        apart = [self._distances.between(later, earlier, passed) for later, earlier in pairs]
        ends = zip(apart, first.extents, second.extents, strict=True)
        if any(d.least >= extent or -d.greatest >= its for d, extent, its in ends):
            return False
        copies = first.asynchronous or second.asynchronous
        alike = first.owner is not None and first.owner == second.owner and not copies
        return not (alike and all(d == (0, 0) for d in apart))

    def _may_alias(self, one: ir.Value, other: ir.Value) -> bool:
        """What `may_alias` says, asked once of each two memrefs."""
        if (one, other) not in self._aliases:
            self._aliases[one, other] = may_alias(one, other)
        return self._aliases[one, other]

    def _of_cta(self, first: CtaAccess, second: CtaAccess) -> bool:
        """Whether one is shared out by tilec, or both are what all threads do alike."""
        return first.of_cta or second.of_cta or all(map(self._alike, (first, second)))

    def _alike(self, access: CtaAccess) -> bool:
        """Whether all threads make an access at one place."""
        if not access.indices or control_of(self.uniformity, access.op, Spread.CTA) is not None:
            return False
        return all(self.uniformity.of(index) is Spread.CTA for index in access.indices)


def _commute(first: CtaAccess, second: CtaAccess) -> bool:
    """Whether the order of two accesses to one element does not matter."""
    if first.role is not second.role or first.role is Role.WRITE:
        return False
    if first.role is Role.READ:
        return True
    return first.function == second.function and _element(first) == _element(second)


def _element(update: CtaAccess) -> ir.Type:
    """The type of the elements that an atomic op updates."""
    assert update.memref is not None
    return ir.MemRefType(update.memref.type).element_type
