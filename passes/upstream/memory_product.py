"""A batch of products of matrices in memory."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir

from .contractions import Contraction
from .product_elements import Elements


@dataclass(frozen=True, slots=True)
class MemoryProduct:
    """A batch of products `C += A·B` of matrices in memory.

    Attributes:
        memrefs: A, B and C.
        contraction: which loop each of their dimensions belongs to.
        elements: the element types that it is computed in.
        unsigned: whether integers of A, and of B, have no sign.
        initial: the scalar that C is set to before, if any.
    """

    memrefs: tuple[Value, Value, Value]
    contraction: Contraction
    elements: Elements
    unsigned: tuple[bool, bool]
    initial: Value | None

    def static(self, loop: int) -> int | None:
        """The extent of a loop, if a memref's type says it."""
        for memref, loops in zip(self.memrefs, self.contraction.maps, strict=True):
            type_ = ir.MemRefType(memref.type)
            for dim, of in enumerate(loops):
                if of == loop and not type_.is_dynamic_dim(dim):
                    return type_.get_dim_size(dim)
        return None
