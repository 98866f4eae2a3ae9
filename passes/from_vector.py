"""`tile-from-vector`: kernels on vectors of the whole CTA, as programs on tiles."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.semantics import Variation, is_movable, variation_of
from tilec.ir.mlir import ir

from .base import Diagnostic
from .kernel_pass import Kernel, KernelPass, kernels
from .upstream.outline_functions import outermost

_OF_A_CTA = frozenset({"vector.contract", "vector.transfer_read", "vector.transfer_write"})
_ALIKE = (Variation.AS_OPERANDS, Variation.SAME_VALUE, Variation.CTA)
"""How results vary that are the same in all threads of a CTA, if there are no operands."""


class FromVector(KernelPass):
    """Turn vectors into tiles, in kernels that read, multiply or write them.

    In: kernels with `vector.transfer_read`, `vector.transfer_write` or `vector.contract` whose
    vectors are the data of a CTA: every thread would compute the same values. In a kernel that
    uses its thread index, vectors belong to single threads; it does not change, and may not
    contain `vector.contract`. Out: level 1, with views of memory resolved by
    `expand-strided-metadata`. Other kernels do not change.

    Vectors have at least one dimension, extents that are legal for tiles, and numbers as
    elements. The following ops become ops on tiles:

    - `vector.transfer_read` and `vector.transfer_write` of a memref's last dimensions, where
      the last two may be swapped, without a mask; padded with zero, unless all elements are in
      bounds
    - `vector.contract` of two matrices that adds products; f32 is rounded to tf32 if the op has
      the unit attribute `tile.tf32`, and results in types that no instruction accumulates in
      are rounded from f32
    - `vector.multi_reduction`, `vector.reduction`, `vector.broadcast`, `vector.transpose`,
      `vector.shape_cast`, `vector.fma`
    - elementwise ops, casts and comparisons of `arith` and `math`, splat constants, and
      `scf.for`, `scf.if` and `scf.while` that carry vectors
    """

    name: ClassVar[str] = "tile-from-vector"

    def apply(self, module: ir.Module) -> None:
        """Rewrite every such kernel of `module`, and take views of memory apart."""
        if any(map(_works_on_vectors, kernels(module))):
            from .upstream.upstream_views import expand_views  # noqa: PLC0415 (few programs need it)

            super().apply(module)
            expand_views(module)

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        from .upstream.vector_kernels import convert_kernel  # noqa: PLC0415 (few programs need it)

        if _works_on_vectors(kernel):
            asking = outermost(kernel.function, _tells_threads_apart)
            if asking:
                _refuse_products(kernel, asking[0])
            else:
                convert_kernel(kernel)


def _works_on_vectors(kernel: Kernel) -> bool:
    """Whether a kernel reads, multiplies or writes vectors."""
    return kernel.is_entry and bool(outermost(kernel.function, lambda op: op.name in _OF_A_CTA))


def _tells_threads_apart(op: ir.Operation) -> bool:
    """Whether an op gives each thread, or warp, what tells it from others, such as its number."""
    return not len(op.operands) and is_movable(op) and variation_of(op) not in _ALIKE


def _refuse_products(kernel: Kernel, asking: ir.Operation) -> None:
    """Report products in a kernel in which `asking` says that vectors are a thread's."""
    for op in outermost(kernel.function, lambda op: op.name == "vector.contract"):
        kernel.error(
            op,
            "multiplies vectors of the CTA, but its kernel asks which thread it is in",
            notes=(Diagnostic(asking.location, "here", "note"),),
        )
