"""A complete PTX kernel around one dense `tcgen05.mma` of a CTA: four warps, matrices of its own.

Tensor memory comes and goes as it is, 128 lanes of columns of 32 bits: which of them is which
element is the layout's business. PTX ISA 9.7.16.6.4, for the order of it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .described_product import DescribedProduct, described_product
from .instruction_descriptor import InstructionDescriptor
from .kernel_parts import Buffer, Kernel, buffer_text, module, register_names
from .matrix_descriptor import MatrixDescriptor
from .operands import WARPGROUP_THREADS, Storage
from .shared_images import REGISTERS, Image, declarations, describe, fill, image_of
from .targets import Target
from .tensor_columns import REGISTERS as TENSOR_REGISTERS
from .tensor_columns import get, put
from .tensor_memory import ALLOCATIONS, LANE_BIT, LANES
from .tensor_products import TensorProduct
from .tensor_shapes import banks

_FIXED = MatrixDescriptor(0, 0, 0).encode()
"""Bits that every descriptor without a swizzle has."""


def is_tried(one: TensorProduct) -> bool:
    """Whether there is such a kernel for an instruction."""
    return one.group == 1 and not one.sparse


def _begin(columns: int) -> Iterator[str]:
    """Columns for the first warp, an mbarrier, and everybody's lanes."""
    yield "mov.u32 %lane, %tid.x;"
    yield "setp.lt.u32 %first, %lane, 32;"
    yield "setp.eq.u32 %one, %lane, 0;"
    yield f"@%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], {columns};"
    yield "@%one mbarrier.init.shared::cta.b64 [done], 1;"
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


def _end(columns: int) -> Iterator[str]:
    yield "tcgen05.fence::before_thread_sync;"
    yield "bar.sync 0;"
    yield f"@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %acc, {columns};"


def tensor_product_kernel(
    one: TensorProduct, target: Target, descriptor: InstructionDescriptor
) -> Kernel:
    """The kernel that executes a dense `tcgen05.mma` of one CTA once, with 128 threads.

    A and B come as they are: rows of A and columns of B along K, or along M and N where the
    descriptor transposes them. `c` is what tensor memory holds before, `d` what it holds after,
    lane by lane; so are scale factors, and A where it lies there.

    Args:
        one: the instruction.
        target: the module's target.
        descriptor: an instruction descriptor that it takes.

    Raises:
        TilecError: if `target` lacks it, or it does not take the descriptor.
    """
    version = one.require(target)
    form = described_product(
        descriptor, stationary=one.stationary, a=one.a, chunks=0 if descriptor.wide else one.chunks
    )
    width = form.shape.n // banks(form.shape.m, 1, stationary=one.stationary, sparse=False)
    a = form.operand("a")
    inside = a.cols * a.container // 32 if a.storage is Storage.TENSOR else 0
    held = {"c": width} | ({"a": inside} if inside else {})
    if one.scaled:
        held |= {"sfa": -(-form.shape.m // 32), "sfb": -(-form.shape.n // 32)}
    allocated = next(size for size in ALLOCATIONS if size >= sum(held.values()))
    images = _images(form)
    others = [Buffer(name, False, (LANES, columns), 32) for name, columns in held.items()]
    buffers = [
        Buffer("d", True, (LANES, width), 32),
        *(buffer for buffer in others if buffer.name == "a"),
        *(image.buffer for image in images),
        *(buffer for buffer in others if buffer.name != "a"),
    ]
    body = [*_declare(buffers, images), *_begin(allocated)]
    places, first = {"acc": "%acc"}, 0
    for name, columns in held.items():
        body += put(name, columns, "%own", first)
        places[name] = f"%acc+{first}"
        first += columns
    for image in images:
        body += [*fill(image), *describe(image, _FIXED)]
    body += ["fence.proxy.async.shared::cta;", "tcgen05.fence::before_thread_sync;", "bar.sync 0;"]
    body += ["tcgen05.fence::after_thread_sync;", *_multiply(one, descriptor, places)]
    body += [*_wait(), *get("d", width, "%own"), *_end(allocated)]
    comment = list(_comment(one, descriptor, buffers, images))
    return module(target, version, comment, buffers, body, WARPGROUP_THREADS)


def _images(form: DescribedProduct) -> list[Image]:
    """What goes to shared memory."""
    transposed = {"a": form.descriptor.transpose_a, "b": form.descriptor.transpose_b}
    operands = [form.operand(name) for name in "ab"]
    return [
        image_of(one, transposed=transposed[one.name])
        for one in operands
        if one.storage is Storage.SHARED
    ]


def _multiply(
    one: TensorProduct, descriptor: InstructionDescriptor, tensors: Mapping[str, str]
) -> Iterator[str]:
    """The product, where everything is."""
    places = {**tensors, "adesc": "%a0", "bdesc": "%b0", "p": "%adds"}
    yield "setp.eq.u32 %adds, 0, 0;"
    yield f"@%one {one.text({**places, 'idesc': f'{descriptor.encode():#x}'})}"
    yield "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];"


def _declare(buffers: list[Buffer], images: list[Image]) -> Iterator[str]:
    yield f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)};"
    yield from REGISTERS
    yield ".reg .b32 %acc, %own;"
    yield TENSOR_REGISTERS
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
    yield "Launch four warps. Each parameter points to an array in global memory:"
    texts = {image.name: image.text for image in images}
    for buffer in buffers:
        text = buffer_text(buffer, "lanes").replace("register", "column")
        yield texts.get(buffer.name) or text
