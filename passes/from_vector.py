"""`tile-from-vector`: kernels on vectors of the whole CTA, as programs on tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import Diagnostic, Pass, PassError
from .functions import functions, gpu_modules, is_kernel
from .upstream.outline_functions import outermost

_OF_A_CTA = frozenset({"vector.contract", "vector.transfer_read", "vector.transfer_write"})
_OF_A_THREAD = (
    *("gpu.thread_id", "gpu.lane_id", "gpu.subgroup_id"),
    *(f"nvvm.read.ptx.sreg.{name}" for name in ("laneid", "tid", "warpid")),
)


@dataclass(frozen=True)
class FromVector(Pass):
    """Turn vectors into tiles, in kernels that read, multiply or write them.

    In: kernels with `vector.transfer_read`, `vector.transfer_write` or `vector.contract`, whose
    vectors are what a CTA works on: every thread would compute the same. A kernel that asks which
    thread it is in computes on vectors of its own, and stays; it may not hold `vector.contract`.
    Out: level 1, with views of memory that `expand-strided-metadata` has taken apart. Other kernels
    stay.

    Vectors have one dimension or more, whose extents are powers of two, and elements that are
    numbers. The ops that become ops on tiles:

    - `vector.transfer_read` and `vector.transfer_write` of a memref's last dimensions, the last two
      perhaps swapped, without mask; padded with zero, unless all is in bounds
    - `vector.contract` of two matrices that adds up products; f32 is rounded to tf32, if it has the
      unit attribute `tile.tf32`, and results in which no instruction adds are rounded from f32
    - `vector.multi_reduction`, `vector.reduction`, `vector.broadcast`, `vector.transpose`,
      `vector.shape_cast`, `vector.fma`
    - elementwise ops, casts and comparisons of `arith` and `math`, constants that are splats, and
      `scf.for`, `scf.if` and `scf.while` that carry vectors
    """

    name: ClassVar[str] = "tile-from-vector"

    def apply(self, module: Any) -> None:
        """Rewrite every such kernel of `module`."""
        found = [
            function
            for gpu_module in gpu_modules(module)
            for function in functions(gpu_module)
            if is_kernel(function) and outermost(function, lambda op: op.name in _OF_A_CTA)
        ]
        if not found:
            return
        from .upstream.upstream_views import expand_views  # noqa: PLC0415 (few programs need it)
        from .upstream.vector_kernels import convert_kernel  # noqa: PLC0415

        errors: list[Diagnostic] = []
        for function in found:
            asking = outermost(function, lambda op: op.name.startswith(_OF_A_THREAD))
            errors += _of_a_thread(function, asking[0]) if asking else convert_kernel(function)
        if errors:
            raise PassError(errors)
        expand_views(module)


def _of_a_thread(function: Any, asking: Any) -> list[Diagnostic]:
    """What is wrong with a kernel in which `asking` says that vectors are a thread's."""
    return [
        Diagnostic(
            op.location,
            f"'{op.name}' op multiplies vectors of the CTA, but its kernel asks which thread it is "
            "in",
            notes=(Diagnostic(asking.location, "here", "note"),),
        )
        for op in outermost(function, lambda op: op.name == "vector.contract")
    ]
