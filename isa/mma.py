"""`mma` and `mma.sp`: the class of their forms, and what makes one.

PTX ISA 9.7.14.5.14, "Multiply-and-Accumulate Instruction: mma", and 9.7.14.6.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as cross

from .form_classes import Family, Product
from .form_parts import BlockScaling, Selector, Sparsity
from .mma_operands import product, scales
from .operands import Major, Shape, metadata
from .targets import Since

FLOAT8 = ("e4m3", "e5m2")
FLOAT8_6_4 = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
SM_120 = (Since.of("sm_120a", "8.7"), Since.of("sm_120f", "8.8"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Mma(Product):
    """`mma` and `mma.sp`, block-scaled or not; m8n8k4 on f16 computes four products at once."""

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """Sparsity selector, then byte and thread ids of A and of B."""
        found: list[Selector] = []
        if self.sparsity:
            legal = self.sparsity.selectors
            found.append(Selector("selector", legal, 32, constant=True, operand="e"))
        if self.scaling:
            for side, threads in (("a", 2), ("b", 4)):
                for name, legal in (
                    ("byte_id", self.scaling.byte_ids),
                    ("thread_id", tuple(range(threads))),
                ):
                    found.append(
                        Selector(f"{name}_{side}", legal, 16, constant=False, operand=f"sf{side}")
                    )
        return tuple(found)

    def other_spellings(self) -> Iterator[str]:
        """Default rounding and `scale_vec`; `.kind` before the shape; `.satfinite` at the end."""
        head, _, rest = self.ptx.partition(".aligned.")
        words = rest.split(".")
        shape, layout = words[:1], words[1:3]
        scaled = [w for w in words if w.startswith(("kind::", "block_scale", "scale_vec::"))]
        types = [w for w in words[3:] if w not in (*scaled, "satfinite")]
        groups = [scaled]
        # PTX ISA, "Block Scaling for mma.sync": mxf4nvf4 has no default.
        if self.scaling and self.kind != "mxf4nvf4":
            groups.append(scaled[:-1])
        ends = [(["satfinite"], []), ([], ["satfinite"])] if self.satfinite else [([], [])]
        tails = [types]
        if self.rounding:
            tails.append([types[-1], *types[:-1]])
        if self.rounding == "rn":
            tails.append(types[:-1])
        for group, (before, after), tail in cross(groups, ends, tails):
            orders = [[*shape, *layout, *group]]
            if group:
                orders.append([*group, *shape, *layout])
            for order in orders:
                yield ".".join((f"{head}.aligned", *order, *before, *tail, *after))

    @property
    def preferred(self) -> str | None:
        """Of plain `.sp` the form with ordered metadata, which some targets sort first."""
        if self.sparsity is None or self.sparsity.ordered:
            return None
        return self.ptx.replace(".sp.", ".sp::ordered_metadata.", 1)

    @property
    def facts(self) -> dict[str, str | int]:
        """Its shape, and its products where there are several."""
        several = {"products": self.products} if self.products > 1 else {}
        return {"shape": str(self.shape), **several}


def _intrinsic_types(types: tuple[str, str, str, str]) -> str:
    """The types that LLVM's intrinsic names carry: those that tell forms apart."""
    d, a, b, c = types
    if a in FLOAT8_6_4:
        return ".".join(types)
    if a == "f16":
        return f"{d}.{c}"
    return a if a == b else f"{a}.{b}"


def mma(
    shape: Shape,
    types: tuple[str, str, str, str],
    since: tuple[Since, ...],
    section: str,
    *,
    majors: tuple[Major, Major] | None = None,
    kind: str | None = None,
    satfinite: bool = False,
    bit_op: str | None = None,
    rounding: str | None = None,
    sparsity: Sparsity | None = None,
    scaling: BlockScaling | None = None,
    in_llvm: bool = True,
    intrinsic_since: int = 0,
) -> Mma:
    """One form of `mma` or `mma.sp`.

    Args:
        shape: logical extents.
        types: element types of D, A, B, C.
        since: targets and versions.
        section: ISA section of its fragments.
        majors: `.row`/`.col` of A and B where there is a choice (m8n8k4 on f16), else row and col.
        kind: see `Mma`; likewise the rest.
        satfinite: clamp integers.
        bit_op: `xor` or `and`.
        rounding: of f64.
        sparsity: of A.
        scaling: of A and B.
        in_llvm: whether LLVM 22 has an intrinsic for it.
        intrinsic_since: see `Form`.
    """
    layout = ".".join(majors or (Major.ROW, Major.COL))
    products = 4 if majors else 1
    stored_k = shape.k // 2 if sparsity else None
    results, operands = product(
        shape, types, products=products, kind=kind, majors=majors, stored_k=stored_k
    )
    names = ".".join((*types, scaling.type.name) if scaling else types)
    llvm_names = _intrinsic_types(types) + (f".{scaling.type.name}" if scaling else "")
    head, llvm_head, family = "mma", "mma", "mma"
    if sparsity:
        operands = (*operands, metadata(shape.m, shape.k // sparsity.chunk))
        family += ".sp"
        head += ".sp::ordered_metadata" if sparsity.ordered else ".sp"
        llvm_head += ".sp.ordered.metadata" if sparsity.ordered else ".sp"
    if bit_op:
        llvm_head += f".{bit_op}.popc"
    qualifiers = f".kind::{kind}" if kind else ""
    llvm_qualifiers = f".kind.{kind}" if kind else ""
    if scaling:
        operands = (*operands, *scales(shape, scaling.type.name, scaling.chunks))
        family += ".block_scale"
        llvm_head += ".block.scale"
        qualifiers += f".block_scale.scale_vec::{scaling.chunks}X"
        llvm_qualifiers = f".{kind}.scale.{scaling.chunks}x"
    sat = ".satfinite" if satfinite else ""
    tail = f".{bit_op}.popc" if bit_op else f".{rounding}" if rounding else ""
    intrinsic = f"llvm.nvvm.{llvm_head}.{shape}.{layout}{llvm_qualifiers}{sat}.{llvm_names}"
    return Mma(
        ptx=f"{head}.sync.aligned.{shape}.{layout}{qualifiers}{sat}.{names}{tail}",
        family=Family(family),
        results=results,
        operands=operands,
        since=since,
        intrinsic=intrinsic if in_llvm else None,
        intrinsic_since=intrinsic_since,
        section=section,
        shape=shape,
        products=products,
        kind=kind,
        satfinite=satfinite,
        bit_op=bit_op,
        rounding=rounding,
        sparsity=sparsity,
        scaling=scaling,
    )
