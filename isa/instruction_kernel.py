"""A complete PTX kernel around one instruction that is not a matrix instruction."""

from __future__ import annotations

from collections.abc import Iterator

from .instruction_class import Instruction, operand_type
from .kernel_parts import Buffer, Kernel, module
from .targets import Target

_SHARED_BYTES = 1024
_WIDTHS = {
    "u16": 16, "u32": 32, "s32": 32, "b32": 32, "f32": 32, "tensor address": 32,
    "u64": 64, "b64": 64, "f64": 64, "b128": 128,
}  # fmt: skip
_LOADED = {"tensor address": "b32"}
"""The PTX types of sorts that are none."""


def _space(one: Instruction, name: str) -> str:
    """The state space of an address; empty if it is none."""
    return dict(one.addresses).get(name, "")


def _is_shared(one: Instruction, name: str) -> bool:
    return _space(one, name).startswith(("shared", "generic"))


def _buffer(one: Instruction, name: str) -> Buffer | None:
    """The parameter that an operand comes from, or goes to; None of one that has none."""
    sort = operand_type(name)
    if sort == "number" or _is_shared(one, name):
        return None
    written = name in one.results
    if sort == "address":
        return Buffer(name, name == "dst", (1, _SHARED_BYTES), 8)
    if sort in ("tensor map", "parameter"):
        return Buffer(name, False, (1, 128), 8)
    return Buffer(name, written, (1, 1), 32 if sort == "pred" else _WIDTHS[sort])


def _text(one: Instruction, buffer: Buffer) -> str:
    """What a buffer is, for the comment."""
    match operand_type(buffer.name):
        case "tensor map":
            return f"  {buffer.name}: a tensor map, read"
        case "parameter":
            return f"  {buffer.name}: itself a tensor map, read"
    how = "written" if buffer.written else "read"
    if _space(one, buffer.name):
        return f"  {buffer.name}: [{buffer.shape[1]} bytes], {how}"
    return f"  {buffer.name}: {buffer.bits} bits, {how}"


def _comment(one: Instruction, buffers: list[Buffer], threads: int) -> Iterator[str]:
    yield f"{one.ptx} {one.operands}".rstrip()
    yield f"Launch {threads} thread{'s' * (threads > 1)}."
    if buffers:
        yield "Each parameter points to global memory:"
        yield from (_text(one, buffer) for buffer in buffers)
    shared = [name for name in one.names if _is_shared(one, name)]
    if shared:
        yield f"In shared memory: {', '.join(shared)}."
    yield "The code that must surround it, such as a wait for its completion, is omitted."


def _prepare(one: Instruction, name: str) -> Iterator[str]:
    """Declare an operand's register and fill it."""
    sort = operand_type(name)
    if sort in ("number", "parameter"):
        return
    if _is_shared(one, name):
        yield f".shared .align 128 .b8 {name}_memory[{_SHARED_BYTES}];"
        yield f".reg .b32 %{name};"
        yield f"mov.u32 %{name}, {name}_memory;"
        if _space(one, name) == "generic":
            yield from _as_generic(name)
        if name == "bar" and ".init" not in one.ptx:
            yield "mbarrier.init.shared::cta.b64 [%bar], 1;"
        return
    yield f".reg .b64 %p_{name};"
    yield f"ld.param.u64 %p_{name}, [{name}];"
    if sort in ("address", "tensor map"):
        return
    yield f"cvta.to.global.u64 %p_{name}, %p_{name};"
    kind = "pred" if sort == "pred" else f"b{_WIDTHS[sort]}"
    yield f".reg .{'f' + kind[1:] if sort[0] == 'f' else kind} %{name};"
    if name in one.results:
        return
    if sort == "pred":
        yield f".reg .b32 %asked_{name};"
        yield f"ld.global.u32 %asked_{name}, [%p_{name}];"
        yield f"setp.ne.u32 %{name}, %asked_{name}, 0;"
    else:
        yield f"ld.global.{_LOADED.get(sort, sort)} %{name}, [%p_{name}];"


def _as_generic(name: str) -> Iterator[str]:
    """Make a generic address of one in shared memory."""
    yield f".reg .b64 %far_{name};"
    yield f"cvt.u64.u32 %far_{name}, %{name};"
    yield f"cvta.shared.u64 %far_{name}, %far_{name};"


def _finish(name: str) -> Iterator[str]:
    """Store a result."""
    sort = operand_type(name)
    if sort == "pred":
        yield f".reg .b32 %said_{name};"
        yield f"selp.u32 %said_{name}, 1, 0, %{name};"
        yield f"st.global.u32 [%p_{name}], %said_{name};"
    else:
        yield f"st.global.{sort} [%p_{name}], %{name};"


def _place(one: Instruction, name: str) -> str:
    """What stands for an operand in the text."""
    sort = operand_type(name)
    if sort == "number":
        return str(one.legal[0])
    if sort == "parameter":
        return name
    if sort == "tensor map" or _space(one, name) == "global":
        return f"%p_{name}"
    return f"%far_{name}" if _space(one, name) == "generic" else f"%{name}"


def instruction_kernel(one: Instruction, target: Target) -> Kernel:
    """The kernel that executes an instruction once, with as few threads as execute it together.

    Registers come from global memory, where results go; shared memory is the kernel's own, and an
    mbarrier there expects one arrival.

    Args:
        one: the instruction.
        target: the module's target.

    Raises:
        TilecError: if `target` lacks it.
    """
    version = one.require(target)
    made = (_buffer(one, name) for name in one.names)
    buffers = [buffer for buffer in made if buffer is not None]
    threads = one.scope.threads
    body = [line for name in one.names for line in _prepare(one, name)]
    body.append(one.text({name: _place(one, name) for name in one.names}))
    body += [line for name in one.results for line in _finish(name)]
    comment = list(_comment(one, buffers, threads))
    # Without it ptxas does not know how many registers there are before, and drops the change.
    directives = (".minnctapersm 1",) if one.family == "setmaxnreg" else ()
    return module(target, version, comment, buffers, body, threads, directives)
