"""What candidates are compiled from: a kernel in Python, or a template of MLIR."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from tilec.isa import nearest
from tilec.lang.annotations import ConstantParameter
from tilec.lang.kernels import Kernel
from tilec.lang.settings import Settings

from .errors import TuningError
from .expressions import parse

if TYPE_CHECKING:
    from tilec.compiled import Compiled

SETTINGS = ("warps", "opt_level")
"""Settings of kernels in Python that can be parameters."""
_HOLE = re.compile(r"\$\{([^{}]*)\}")


class Program(Protocol):
    """What gives a kernel for each candidate."""

    @property
    def name(self) -> str:
        """Of the kernel."""
        ...

    @property
    def digest(self) -> str:
        """What tells it from other programs."""
        ...

    def compile(
        self, candidate: Mapping[str, int], args: Sequence[Any], target: str, *, cache: bool
    ) -> Compiled:
        """The compilation of a candidate, up to PTX."""
        ...


def digest(*texts: str) -> str:
    """What tells texts from others."""
    return blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class PythonProgram:
    """A kernel in Python: parameters are its constants and settings.

    Attributes:
        kernel: the kernel.
        name: its name.
    """

    kernel: Kernel
    name: str

    @property
    def digest(self) -> str:
        """Of its source and settings; of what else it reads a compilation tells."""
        tree = self.kernel.source.tree
        body = "\n".join(map(ast.unparse, tree.body))
        settings = self.kernel.settings.of_compilation()
        return digest(ast.unparse(tree.args), body, repr(settings))

    @property
    def constants(self) -> tuple[str, ...]:
        """Constants that candidates can give."""
        return tuple(p.name for p in self.kernel.parameters if isinstance(p, ConstantParameter))

    def default(self, name: str) -> int | None:
        """What the kernel has of a parameter; None where it says nothing."""
        if name in SETTINGS:
            found: int = getattr(self.kernel.settings, name)
            return found
        default = self.kernel.defaults.get(name)
        return default if isinstance(default, int) and not isinstance(default, bool) else None

    def check(self, name: str, place: str) -> None:
        """See that a parameter is one of the kernel.

        Raises:
            TuningError: at the place, if it is none.
        """
        legal = (*self.constants, *SETTINGS)
        if name not in legal:
            hint = ", ".join(nearest(name, legal))
            what = "this setting cannot be searched" if name in Settings._fields else ""
            raise TuningError(
                f"'{name}' is neither a constant of {self.name} nor a setting; "
                f"{what or f'nearest: {hint}'}",
                place,
            )

    def compile(
        self, candidate: Mapping[str, int], args: Sequence[Any], target: str, *, cache: bool
    ) -> Compiled:
        """The kernel with a candidate's constants and settings."""
        settings = {name: value for name, value in candidate.items() if name in SETTINGS}
        constants: dict[str, Any] = {
            name: value for name, value in candidate.items() if name not in SETTINGS
        }
        kernel = self.kernel.using(**settings, cache=cache, target=target)
        return kernel.compile(*args, **constants)


@dataclass(frozen=True)
class TemplateProgram:
    """MLIR in which `${EXPRESSION}` stands for what a candidate gives.

    Attributes:
        text: the MLIR.
        file: where it stands.
        name: of the kernel in it.
    """

    text: str
    file: str
    name: str

    @property
    def digest(self) -> str:
        """Of the text."""
        return digest(self.text, self.name)

    def check(self, names: Sequence[str]) -> None:
        """See that it reads parameters alone.

        Raises:
            TuningError: at the place of what it reads.
        """
        for hole in _HOLE.finditer(self.text):
            line = self.text.count("\n", 0, hole.start()) + 1
            column = hole.start() - self.text.rfind("\n", 0, hole.start())
            place = f"{self.file}:{line}:{column}"
            for name in sorted(parse(hole[1], place).names - set(names)):
                hint = ", ".join(nearest(name, names))
                raise TuningError(f"there is no parameter '{name}'; nearest: {hint}", place)

    def instance(self, candidate: Mapping[str, int]) -> str:
        """The MLIR of a candidate, its lines where they are in the template.

        Raises:
            TuningError: for an expression that cannot be computed.
        """
        return _HOLE.sub(lambda hole: str(parse(hole[1]).integer(candidate)), self.text)

    def compile(
        self, candidate: Mapping[str, int], args: Sequence[Any], target: str, *, cache: bool
    ) -> Compiled:
        """The MLIR with a candidate's numbers."""
        del args  # what is passed is for the launch
        from tilec.compiled import Stage  # noqa: PLC0415 (imports numpy's and MLIR's types)
        from tilec.driver import compile as compile_text  # noqa: PLC0415 (imports MLIR)

        made = compile_text(self.instance(candidate), target=target, cache=cache, name=self.file)
        made.emit(Stage.PTX)
        return made
