"""A complete PTX kernel around one `tcgen05.mma`: four warps a CTA, matrices of its own.

Tensor memory comes and goes as it is, 128 lanes of columns of 32 bits of each CTA: which of them is
which element is the layout's business. PTX ISA 9.7.16.6.4, for the order of it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .described_product import DescribedProduct, described_product
from .instruction_descriptor import InstructionDescriptor
from .kernel_parts import Buffer, Kernel, buffer_text, module, register_names
from .matrix_descriptor import MatrixDescriptor
from .operands import WARPGROUP_THREADS, Operand, Storage
from .shared_images import REGISTERS, Image, declarations, describe, fill, image_of
from .targets import Target
from .tensor_clauses import WIDE
from .tensor_columns import REGISTERS as TENSOR_REGISTERS
from .tensor_columns import get, put
from .tensor_memory import ALLOCATIONS, LANE_BIT, LANES
from .tensor_products import TensorProduct
from .tensor_shapes import banks

_PLAIN, _PANELS = (MatrixDescriptor(0, 0, 0, swizzle).encode() for swizzle in ("none", "128B.32B"))
"""Bits that every descriptor without a swizzle has, and of panels."""
_METADATA = 2
"""Columns of metadata, the first of which is an even one. PTX ISA 9.7.16.10.8.4."""
_LAUNCHES = {1: "four warps", 2: "a cluster of two CTAs of four warps"}
_MEET = ("barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;")
"""Both CTAs of a pair."""


def _begin(columns: int, group: int) -> Iterator[str]:
    """Columns for the first warp, an mbarrier, and everybody's lanes."""
    yield "mov.u32 %lane, %tid.x;"
    yield "setp.lt.u32 %first, %lane, 32;"
    yield "setp.eq.u32 %one, %lane, 0;"
    yield (
        f"@%first tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [place], {columns};"
    )
    yield "@%one mbarrier.init.shared::cta.b64 [done], 1;"
    if group == 2:
        yield "@%one fence.mbarrier_init.release.cluster;"
        yield "mov.u32 %rank, %cluster_ctarank;"
        yield f"mad.lo.u32 %thread, %rank, {WARPGROUP_THREADS}, %lane;"
        yield "setp.eq.u32 %one, %thread, 0;"
    yield "bar.sync 0;"
    yield "ld.shared.b32 %acc, [place];"
    yield "and.b32 %own, %lane, 0x60;"
    yield f"shl.b32 %own, %own, {LANE_BIT};"
    yield "add.u32 %own, %own, %acc;"


def _wait() -> Iterator[str]:
    yield "$again:"
    yield "mbarrier.try_wait.parity.shared::cta.b64 %some, [done], 0;"
    yield "@!%some bra $again;"
    yield "tcgen05.fence::after_thread_sync;"


def _end(columns: int, group: int) -> Iterator[str]:
    yield "tcgen05.fence::before_thread_sync;"
    yield from _MEET if group == 2 else ("bar.sync 0;",)
    yield f"@%first tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %acc, {columns};"


def tensor_product_kernel(
    one: TensorProduct, target: Target, descriptor: InstructionDescriptor
) -> Kernel:
    """The kernel that executes a `tcgen05.mma` once, with 128 threads a CTA.

    A and B come as they are: rows of A and columns of B along K, or along M and N where the
    descriptor transposes them. `c` is what tensor memory holds before, `d` what it holds after,
    lane by lane; so are metadata and scale factors, and A where it lies there. Of a pair each
    buffer has the first CTA's part and behind it the second's: half of A's rows, half of B's
    columns, tensor memory of each.

    Args:
        one: the instruction.
        target: the module's target.
        descriptor: an instruction descriptor that it takes.

    Raises:
        TilecError: if `target` lacks it, or it does not take the descriptor.
    """
    version = one.require(target)
    if descriptor.wide:
        version = max(version, WIDE.require(target))
    form = described_product(
        descriptor,
        one.group,
        stationary=one.stationary,
        a=one.a,
        chunks=0 if descriptor.wide else one.chunks,
    )
    held = _columns(one, form)
    width = held["c"]
    allocated = next(size for size in ALLOCATIONS if size >= sum(held.values()))
    images = _images(form)
    others = [
        Buffer(name, False, (LANES * one.group, columns), 32) for name, columns in held.items()
    ]
    buffers = [
        Buffer("d", True, (LANES * one.group, width), 32),
        *(buffer for buffer in others if buffer.name == "a"),
        *(_whole(image, one.group) for image in images),
        *(buffer for buffer in others if buffer.name != "a"),
    ]
    thread, rank = ("%thread", "%rank") if one.group == 2 else ("%lane", "")
    body = [*_declare(buffers, images, one.group), *_begin(allocated, one.group)]
    places, first = {"acc": "%acc"}, 0
    for name, columns in held.items():
        body += put(name, columns, "%own", first, thread=thread)
        places[name] = f"%acc+{first}"
        first += columns
    for image in images:
        body += [*fill(image, rank), *describe(image, _PANELS if image.in_panels else _PLAIN)]
    body += ["fence.proxy.async.shared::cta;", "tcgen05.fence::before_thread_sync;"]
    body += _MEET if one.group == 2 else ("bar.sync 0;",)
    body += ["tcgen05.fence::after_thread_sync;", *_multiply(one, descriptor, places)]
    body += [*_wait(), *get("d", width, "%own", thread=thread), *_end(allocated, one.group)]
    comment = list(_comment(one, descriptor, buffers, images))
    pair = [".explicitcluster", ".reqnctapercluster 2, 1, 1"] if one.group == 2 else []
    return module(target, version, comment, buffers, body, WARPGROUP_THREADS, pair)


def _columns(one: TensorProduct, form: DescribedProduct) -> dict[str, int]:
    """Columns of tensor memory that each operand there takes."""
    m, n, _ = form.shape
    a = form.operand("a")
    held = {"c": n // banks(m, one.group, stationary=one.stationary, sparse=one.sparse)}
    if a.storage is Storage.TENSOR:
        held["a"] = a.cols * a.container // 32
    if one.sparse:
        held["meta"] = _METADATA
    if one.scaled:
        held |= {"sfa": -(-m // one.group // 32), "sfb": -(-n // 32)}
    return held


def _whole(image: Image, group: int) -> Buffer:
    """What the CTAs have of a matrix, one part behind the other."""
    lines, line = image.buffer.shape
    return replace(image.buffer, shape=(lines * group, line))


def _images(form: DescribedProduct) -> list[Image]:
    """What goes to a CTA's shared memory."""
    transposed = {"a": form.descriptor.transpose_a, "b": form.descriptor.transpose_b}
    operands = [_part(form.operand(name), form.group) for name in "ab"]
    return [
        image_of(one, transposed=transposed[one.name])
        for one in operands
        if one.storage is Storage.SHARED
    ]


def _part(operand: Operand, group: int) -> Operand:
    """What each CTA has of A, rows, or of B, columns."""
    if operand.name == "a":
        return replace(operand, rows=operand.rows // group)
    return replace(operand, cols=operand.cols // group)


def _multiply(
    one: TensorProduct, descriptor: InstructionDescriptor, tensors: Mapping[str, str]
) -> Iterator[str]:
    """The product, where everything is."""
    places = {**tensors, "adesc": "%a0", "bdesc": "%b0", "p": "%adds"}
    yield "setp.eq.u32 %adds, 0, 0;"
    yield f"@%one {one.text({**places, 'idesc': f'{descriptor.encode():#x}'})}"
    commit = f"tcgen05.commit.cta_group::{one.group}.mbarrier::arrive::one.shared::cluster"
    if one.group == 2:
        yield "mov.b16 %both, 3;"
        yield f"@%one {commit}.multicast::cluster.b64 [done], %both;"
    else:
        yield f"@%one {commit}.b64 [done];"


def _declare(buffers: list[Buffer], images: list[Image], group: int) -> Iterator[str]:
    yield f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)};"
    yield from REGISTERS
    yield ".reg .b32 %acc, %own;"
    yield TENSOR_REGISTERS
    if group == 2:
        yield ".reg .b32 %rank, %thread;"
        yield ".reg .b16 %both;"
    yield ".reg .pred %first, %one, %adds;"
    for image in images:
        yield f".reg .b64 {', '.join(register_names(image.operand))};"
        yield from declarations(image)
    yield ".shared .align 4 .b32 place;"
    yield ".shared .align 8 .b64 done;"


def _comment(
    one: TensorProduct,
    descriptor: InstructionDescriptor,
    buffers: list[Buffer],
    images: list[Image],
) -> Iterator[str]:
    yield f"{one.ptx} {descriptor.shape} {descriptor.d} {descriptor.a} {descriptor.b}"
    yield f"Launch {_LAUNCHES[one.group]}. Each parameter points to an array in global memory:"
    texts = {image.name: image.text for image in images}
    for buffer in buffers:
        text = buffer_text(buffer, "lanes").replace("register", "column")
        yield texts.get(buffer.name) or text
