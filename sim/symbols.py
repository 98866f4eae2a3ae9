"""Variables of a module that a launch sets: what `cudaMemcpyToSymbol` does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tilec.isa import nearest
from tilec.isa.wording import counted

from .alu import Array
from .errors import LaunchError
from .memory import GLOBAL_BASE, Memory
from .placement import Placement


class Symbols:
    """The variables of `.global` and `.const` that arrays stand for.

    Args:
        placement: where the module's variables lie.
        memory: the launch's memory, which is filled when it is built.
        given: an array for each variable's name; of as many bytes, or of the first of them.

    Raises:
        LaunchError: for a name that is no such variable, a value that is not an array, or one that
            the variable has no room for.
    """

    def __init__(
        self, placement: Placement, memory: Memory, given: Mapping[str, Array] | None
    ) -> None:
        self._memory = memory
        self._changed: list[tuple[Array, int]] = []
        for name, array in (given or {}).items():
            space, address = _place(placement, name, array)
            memory.fill(address, np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            if space == "global" and array.flags.writeable:
                self._changed.append((array, address - GLOBAL_BASE))

    def copy_back(self) -> None:
        """Change the arrays of `.global` variables in place."""
        for array, start in self._changed:
            data = self._memory.data[start : start + array.nbytes]
            array[...] = data.view(array.dtype).reshape(array.shape)


def _place(placement: Placement, name: str, array: Array) -> tuple[str, int]:
    """State space and address of the variable of a name."""
    variables = placement.module.variables
    legal = [one for one, found in variables.items() if found.space in ("global", "const")]
    if name not in legal:
        hint = f"; it has {', '.join(nearest(name, legal))}" if legal else ""
        raise LaunchError(
            f"{placement.module.source.name} has no .global or .const variable '{name}'{hint}"
        )
    variable = variables[name]
    if not isinstance(array, np.ndarray) or array.dtype == object:
        raise LaunchError(f"variable '{name}' takes a numpy array, not {type(array).__name__}")
    if array.nbytes > variable.size:
        raise LaunchError(
            f"variable '{name}' has {counted(variable.size, 'byte')}; the array has {array.nbytes}"
        )
    found = placement.address(name)
    assert found is not None
    return variable.space, found[1]
