"""Products that read operands from shared memory by descriptors: their selection and staging.

What warpgroups multiply and what one thread issues to tensor memory differ in how an instruction
is chosen. Here is what they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from tilec.dialects.tile.ops import LoadOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.mlir import ir
from tilec.isa import Target, TilecError
from tilec.isa.wording import counted

from ..analysis.shared_space import SharedSpace, aligned
from ..functions import known_target
from ..kernel_pass import Kernel
from .operand_staging import OperandStaging, Staged


class Chosen(Protocol):
    """How a product is computed."""

    @property
    def instruction(self) -> str:
        """The instruction's key."""

    @property
    def warps(self) -> tuple[int, int]:
        """Warps along M and along N."""

    @property
    def buffers(self) -> Staged:
        """Of each operand in shared memory the load that fills it, and how it lies there."""


D = TypeVar("D", bound=TileOp)
C = TypeVar("C", bound=Chosen)


class ProductSelection(Generic[D, C]):
    """The choices of one kernel.

    Args:
        kernel: the kernel.
        choose: how a product is computed.
        explain: that in words.
        beside: bytes of shared memory that such products take besides their operands.
    """

    def __init__(
        self,
        kernel: Kernel,
        choose: Callable[[D], C],
        explain: Callable[[D, C], str],
        beside: int = 0,
    ) -> None:
        self._kernel = kernel
        self._choose = choose
        self._explain = explain
        self._beside = beside
        self._taken: dict[LoadOp, int] = {}

    def run(
        self,
        dots: Sequence[D],
        whom: str,
        is_bound: Callable[[D], bool],
        take: Callable[[C], None] = lambda _: None,
    ) -> None:
        """Set `form` and `warps` of the products that are so computed.

        Args:
            dots: the products.
            whom: who would compute them, for the remark about one that stays.
            is_bound: whether nothing else computes a product: then it is an error if this cannot.
            take: takes what else a choice needs.

        Raises:
            TilecError: as `choose` and `take`, of a product that is bound.
        """
        for dot in dots:
            with self._kernel.at(dot):
                try:
                    chosen = self._choose(dot)
                    more = self._shared(dot, chosen)
                    take(chosen)
                except TilecError as error:
                    if is_bound(dot):
                        raise
                    self._kernel.missed(dot, f"is not for {whom}: {error}")
                    continue
                self._taken |= more
                dot.attributes["form"] = ir.StringAttr.get(chosen.instruction)
                dot.attributes["warps"] = ir.DenseI64ArrayAttr.get(list(chosen.warps))
                self._kernel.remark(dot, self._explain(dot, chosen))

    def _shared(self, dot: D, chosen: C) -> dict[LoadOp, int]:
        """The shared memory that the operands take.

        Raises:
            TilecError: if there is not enough.
        """
        more: dict[LoadOp, int] = {}
        for load, buffer in chosen.buffers.values():
            more[load] = aligned(buffer.bytes)
        wanted = sum((self._taken | more).values())
        space = SharedSpace(self._kernel.function, self._kernel.target)
        left = max(0, space.left(dot) - self._beside)
        if wanted > left:
            raise TilecError(
                f"its operands take {counted(wanted, 'byte')} of shared memory, with those of "
                f"other products, and {left} are left"
            )
        return more


def stage_products(
    kernel: Kernel,
    dots: Sequence[D],
    chooser: Callable[[Target], Callable[[D], C]],
    rewrite: Callable[[D, C, OperandStaging], None],
) -> None:
    """Copy the operands of all products to shared memory, and rewrite these.

    Args:
        kernel: the kernel.
        dots: the products, which name their instructions.
        chooser: gives, for a target, how a product is computed.
        rewrite: replaces one by the product of what its buffers hold.
    """
    if not dots:
        return
    with kernel.at(kernel.module):
        target = known_target(kernel.module)
        with kernel.at(kernel.function):
            choose = chooser(target)
            chosen: list[tuple[D, Any]] = []
            for dot in dots:
                with kernel.at(dot):
                    chosen.append((dot, choose(dot)))
            staging = OperandStaging(kernel, target)
            staging.stage(choice.buffers for _, choice in chosen)
            for dot, choice in chosen:
                rewrite(dot, choice, staging)
            staging.erase_loads()
