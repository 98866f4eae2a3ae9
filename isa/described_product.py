"""A product of `tcgen05.mma` as its instruction descriptor has it: types, extents, operands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .errors import TilecError
from .form_classes import Product
from .form_parts import BlockScaling, ExecutionScope, Sparsity
from .instruction_descriptor import InstructionDescriptor
from .operands import DESCRIPTOR, Operand, Register, Storage
from .tensor_clauses import everywhere
from .tensor_shapes import product_kind
from .types import element_type

_ADDRESS = Register("b32", "i32", 32)
_NAME = re.compile(
    r"tcgen05\.mma(?P<ws>\.ws)?(?P<sparse>\.sp)?\.cta_group::(?P<group>[12])\.kind::(?P<kind>\w+)"
    r"(?:\.scale_vec::(?P<chunks>\d+)X\.(?P<scale>\w+))?\.m(?P<m>\d+)n(?P<n>\d+)k\d+"
    r"\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<saturate>\.satfinite)?\.a::(?P<place>\w+)"
)
_WORD = 32
"""Bits of tensor memory that an element of D takes, of whatever type."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DescribedProduct(Product):
    """D = A·B + D, whose key is the kind with shape and types: no instruction of its own.

    Attributes:
        descriptor: what it is described by.
        stationary: whether it is `.ws`.
        group: CTAs that take part.
    """

    descriptor: InstructionDescriptor
    stationary: bool
    group: int


def _operand(
    name: str, type_name: str, rows: int, cols: int, container: int, where: Storage
) -> Operand:
    type_ = element_type(type_name)
    register = DESCRIPTOR if where is Storage.SHARED else _ADDRESS
    # A 4-bit float stands in the middle of its byte where it has one.
    shift = 2 if container == 8 and type_.bits == 4 else 0
    return Operand(
        name, type_, rows, cols, 1, register, container, shift, storage=where, listed=False,
        tied="d" if name == "c" else None,
    )  # fmt: skip


@lru_cache(maxsize=256)
def described_product(
    descriptor: InstructionDescriptor,
    group: int = 1,
    *,
    stationary: bool = False,
    a: str = "descriptor",
    chunks: int = 0,
) -> DescribedProduct:
    """The product of an instruction with this descriptor.

    Args:
        descriptor: the descriptor.
        group: CTAs that take part, 1 or 2.
        stationary: whether it is `.ws`.
        a: where A lies, `descriptor` or `tensor`.
        chunks: scale factors of a row along K; 0 of a product without.

    Raises:
        TilecError: if there is no such product, naming what would be legal.
    """
    descriptor.check(group, stationary=stationary)
    m, n, k = descriptor.shape
    kind = product_kind(descriptor.kind)
    stored = k // 2 if descriptor.sparse else k
    place = Storage.TENSOR if a == "tensor" else Storage.SHARED
    types = f"{descriptor.d}.{descriptor.a}.{descriptor.b}"
    sparse = ".sp" * descriptor.sparse
    scales = [
        _operand(name, descriptor.scale, extents[0], extents[1], 8, Storage.TENSOR)
        for name, extents in (("sfa", (m, chunks)), ("sfb", (chunks, n)))
        if chunks
    ]
    scaled = f".scale_vec::{chunks}X.{descriptor.scale}" if chunks else ""
    accumulator = [_operand(name, descriptor.d, m, n, _WORD, Storage.TENSOR) for name in "dc"]
    return DescribedProduct(
        ptx=f"tcgen05.mma{'.ws' * stationary}{sparse}.cta_group::{group}.kind::{descriptor.kind}"
        f"{scaled}.{descriptor.shape}.{types}{'.satfinite' * descriptor.saturate}.a::{a}",
        family="tcgen05.mma",
        results=(accumulator[0],),
        operands=(
            _operand("a", descriptor.a, m, stored, kind.container, place),
            _operand("b", descriptor.b, k, n, kind.container, Storage.SHARED),
            accumulator[1],
            *scales,
        ),
        since=everywhere(),
        intrinsic=None,
        section="9.7.16.10",
        scope=ExecutionScope.CTA_PAIR if group == 2 else ExecutionScope.THREAD,
        asynchronous=True,
        shape=descriptor.shape,
        kind=descriptor.kind,
        satfinite=descriptor.saturate,
        sparsity=_sparsity(descriptor),
        scaling=_scaling(descriptor, chunks),
        descriptor=descriptor,
        stationary=stationary,
        group=group,
    )


@lru_cache(maxsize=256)
def product_named(name: str) -> DescribedProduct:
    """The product that has a key, `DescribedProduct.ptx`, with all that keys do not say at zero.

    Raises:
        TilecError: if it is no such key, or there is no such product.
    """
    said = _NAME.fullmatch(name)
    if said is None:
        raise TilecError(f"'{name}' is not a product of tcgen05.mma")
    descriptor = InstructionDescriptor(
        kind=said["kind"], d=said["d"], a=said["a"], b=said["b"],
        m=int(said["m"]), n=int(said["n"]), sparse=bool(said["sparse"]),
        saturate=bool(said["saturate"]), scale=said["scale"] or "",
    )  # fmt: skip
    chunks = int(said["chunks"] or 0)
    stationary = bool(said["ws"])
    return described_product(
        descriptor, int(said["group"]), stationary=stationary, a=said["place"], chunks=chunks
    )


def _sparsity(descriptor: InstructionDescriptor) -> Sparsity | None:
    if not descriptor.sparse:
        return None
    chunk = {"tf32": 2, "mxf4": 8, "mxf4nvf4": 8}.get(descriptor.kind, 4)
    return Sparsity(ordered=True, chunk=chunk, selectors=(descriptor.selector,))


def _scaling(descriptor: InstructionDescriptor, chunks: int) -> BlockScaling | None:
    if not chunks:
        return None
    return BlockScaling(element_type(descriptor.scale), chunks, (descriptor.sfa_id,))
