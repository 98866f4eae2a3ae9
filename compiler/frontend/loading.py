"""The module that a compilation starts from, and its target."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tilec.ir.aliases import Location
from tilec.ir.mlir import ir
from tilec.isa import DEFAULT_TARGET, Target, TilecError
from tilec.isa import target as find_target
from tilec.passes.base import Diagnostic, ProgramError
from tilec.passes.check_target import set_target
from tilec.passes.functions import gpu_modules, is_kernel, target_of
from tilec.passes.upstream.outline_functions import outline_functions

from .contexts import new_context
from .inputs import Built, Input


class Loaded(NamedTuple):
    """A program that can be lowered.

    Attributes:
        built: the module, and its front end's facts.
        target: the module's target.
    """

    built: Built
    target: Target


def load(
    given: Input, target: str | None = None, context: Callable[[], ir.Context] = new_context
) -> Loaded:
    """The module that a compilation starts from, and its target.

    Args:
        given: what it is of.
        target: such as `sm_90a`; the program's own if None, and `DEFAULT_TARGET` if it names none.
        context: gives the context in which the module is made.

    Raises:
        ProgramError: if it does not verify, or is not a program: one `gpu.module` with a kernel.
        TilecError: for an unknown target.
    """
    override = find_target(target) if target else None
    built = given.build(context)
    with built.module.context:
        outline_functions(built.module)
    return Loaded(built, _aim(built.module, override))


def _aim(module: ir.Module, override: Target | None) -> Target:
    """Give the only `gpu.module` of `module` its target.

    Raises:
        ProgramError: unless there is exactly one, with a kernel and a target that exists.
    """
    found = list(gpu_modules(module))
    if not found:
        raise _error(module.operation.location, "the program has no gpu.module")
    if len(found) > 1:
        raise _error(found[1].location, "a second gpu.module; a program has exactly one")
    gpu_module = found[0]
    marked = [op for op in gpu_module.regions[0].blocks[0].operations if is_kernel(op)]
    if not marked:
        raise _error(
            gpu_module.location, "the gpu.module has no kernel: a gpu.func marked 'kernel'"
        )
    for kernel in marked:
        if not kernel.regions[0].blocks:
            raise _error(kernel.location, "the kernel has no body")
    try:
        target = override or target_of(gpu_module) or find_target(DEFAULT_TARGET)
    except TilecError as error:
        raise _error(gpu_module.location, str(error)) from None
    with module.context:
        set_target(gpu_module, target)
    return target


def _error(location: Location, message: str) -> ProgramError:
    return ProgramError([Diagnostic(location, message)])
