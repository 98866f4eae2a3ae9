"""Modules and kernels built from Python."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from tilec.ir.aliases import Value
from tilec.ir.mlir import gpu, ir

from .. import load
from .caller import BuildError, Place, caller, located, traced
from .types import TypeLike, parsed_type


@contextmanager
def module(name: str = "kernels", *, target: str | None = None) -> Iterator[ir.Module]:
    """A new module for kernels, verified when it is left.

    Within, MLIR's context is the module's, and ops made by upstream's builders, too, are
    located at the code that calls them.

    Args:
        name: of the `gpu.module`.
        target: such as `sm_90a`; without it the compiler's option, or default, holds.

    Yields:
        The `ir.Module`.

    Raises:
        BuildError: if an op is not legal; its place is where that op was built.
    """
    place = caller()
    with ExitStack() as stack:
        stack.enter_context(ir.Context())
        load()
        here = stack.enter_context(place.location)
        stack.enter_context(traced())
        whole = ir.Module.create(loc=here)
        chip = f'#nvvm.target<chip = "{target}">'
        targets = ir.ArrayAttr.get([ir.Attribute.parse(chip)]) if target else None
        with ir.InsertionPoint(whole.body):
            gpu_module = gpu.GPUModuleOp(name, targets=targets, loc=here)
        with ir.InsertionPoint(gpu_module.bodyRegion.blocks.append()):
            yield whole
        _verify(whole, place)


@contextmanager
def kernel(
    name: str,
    arguments: Mapping[str, TypeLike],
    *,
    block: int | Sequence[int],
    noalias: Collection[str] = (),
) -> Iterator[tuple[Value, ...]]:
    """A kernel, inside `module()`.

    Args:
        name: of the `gpu.func`.
        arguments: types by name: memrefs in global memory and scalars, as MLIR types or their
            text.
        block: threads of a CTA, in x or in x, y and z.
        noalias: names of the memrefs that share no memory with others (`llvm.noalias`).

    Yields:
        The arguments' values. The code within emits the body; `gpu.return` is added.

    Raises:
        BuildError: for a type that does not parse.
    """
    function, values = _open(name, arguments, block, noalias)
    with ir.InsertionPoint(function.body.blocks[0]):
        yield values
        gpu.ReturnOp([], loc=function.location)


@located
def _open(
    name: str,
    arguments: Mapping[str, TypeLike],
    block: int | Sequence[int],
    noalias: Collection[str],
) -> tuple[gpu.GPUFuncOp, tuple[Value, ...]]:
    types = [parsed_type(type_) for type_ in arguments.values()]
    here = ir.Location.current
    assert here is not None  # the caller's
    sizes = [block] if isinstance(block, int) else list(block)
    function = gpu.GPUFuncOp(
        ir.FunctionType.get(types, []),
        name,
        kernel=True,
        known_block_size=[*sizes, 1, 1][:3],
        loc=here,
    )
    if noalias:
        promised = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
        nothing = ir.DictAttr.get({})
        given = [promised if argument in noalias else nothing for argument in arguments]
        function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(given)
    names = [ir.Location.name(argument, here) for argument in arguments]
    entry = function.body.blocks.append(*types, arg_locs=names)
    return function, tuple(entry.arguments)


def _verify(whole: ir.Module, place: Place) -> None:
    try:
        whole.operation.verify()
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        raise BuildError(_place(first.location) or place, first.message) from None


def _place(location: ir.Location) -> Place | None:
    """The place in a file that a location names."""
    location = ir.Location.from_attr(location.attr, location.context)  # as its own class
    while isinstance(location, ir.NameLoc):
        location = location.child_loc
    if not isinstance(location, ir.FileLineColLoc):
        return None
    return Place(location.filename, location.start_line, location.start_col)
