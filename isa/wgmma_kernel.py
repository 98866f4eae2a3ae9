"""A complete PTX kernel around one `wgmma.mma_async`: a warpgroup, matrices by shared memory.

PTX ISA 9.7.15.5.1, "Shared Memory Matrix Layout".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .form_classes import Form
from .kernel_parts import (
    Buffer,
    Kernel,
    buffer_text,
    module,
    register_buffer,
    register_names,
    transfer,
)
from .operands import WARPGROUP_THREADS, Operand
from .ptx import assembly
from .shared_images import REGISTERS, Image, declarations, describe, fill, image_of
from .targets import Target


def _declarations(form: Form, images: list[Image], buffers: list[Buffer]) -> Iterator[str]:
    for operand in form.all_operands:
        if operand.tied is None:
            names = ", ".join(register_names(operand))
            yield f".reg .{operand.register.ptx} {names};"
    yield f".reg .b64 {', '.join(f'%p_{buffer.name}' for buffer in buffers)};"
    yield from REGISTERS
    for image in images:
        yield from declarations(image)


def _comment(
    form: Form, buffers: list[Buffer], images: list[Image], chosen: Mapping[str, int]
) -> Iterator[str]:
    yield form.ptx
    yield "Launch one warpgroup. Each parameter points to an array in global memory:"
    texts = {image.name: image.text for image in images}
    for buffer in buffers:
        yield texts.get(buffer.name) or buffer_text(buffer, "threads")
    yield from (f"  {name} = {value}" for name, value in chosen.items())


def _image(operand: Operand, chosen: Mapping[str, int]) -> Image:
    return image_of(operand, transposed=bool(chosen.get(f"imm_trans_{operand.name}", 0)))


def wgmma_kernel(form: Form, target: Target, chosen: Mapping[str, int]) -> Kernel:
    """The kernel that executes a form of `wgmma.mma_async` once, with 128 threads.

    Matrices told by a descriptor come as they are: lines of A and of B go along K, rows of A and
    columns of B, or along M and N where the form is told to transpose them. All else comes as
    registers, thread by thread; D goes back so.

    Args:
        form: the form.
        target: the module's target.
        chosen: a legal value of every selector of the form.

    Raises:
        TilecError: if `target` lacks the form.
    """
    version = form.require(target)
    images = [_image(one, chosen) for one in form.operands if not one.threads]
    matrices = {image.name: image.buffer for image in images}
    buffers = [register_buffer(one, written=True) for one in form.results]
    buffers += [
        matrices.get(one.name) or register_buffer(one, written=False) for one in form.operands
    ]
    places = {one.name: register_names(one) for one in form.all_operands}
    body = ["mov.u32 %lane, %tid.x;"]
    for operand in form.operands:
        if operand.threads:
            body += transfer(operand, places[operand.tied or operand.name], written=False)
    for image in images:
        body += [*fill(image), *describe(image)]
    immediates = {name: [str(value)] for name, value in chosen.items()}
    body += [
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        assembly(form, {**places, **immediates}),
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
    ]
    for operand in form.results:
        body += transfer(operand, places[operand.name], written=True)
    body = [*_declarations(form, images, buffers), *body]
    comment = list(_comment(form, buffers, images, chosen))
    return module(target, version, comment, buffers, body, WARPGROUP_THREADS)
