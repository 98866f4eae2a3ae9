"""Compilations through the cache: what is remembered of one stands for making it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilec.isa import TARGETS, Target

from . import cache
from .abi import Abi, Kernel
from .compiled import Compiled, Options
from .diagnostics import Source

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic

    from .cubin import Assembled


class Remembered(Compiled):
    """A compilation whose PTX is known; the stages before it are made when asked for.

    `ptx`, `abi`, `kernels`, and what is made of them, need neither MLIR nor LLVM.
    """

    def __init__(
        self,
        found: dict[str, Any],
        make: Callable[[], Compiled],
        options: Options,
        source: Source | None,
        located: Callable[[str], str] = str,
    ) -> None:
        abi = Abi.parse(found["abi"])
        super().__init__(None, abi.target, options, source)
        self._found = found
        self._make = make
        self._located = located
        self.ptx = found["ptx"]
        self.abi = abi

    @cached_property
    def _source(self) -> Any:
        return self._make()._source

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """How each kernel is launched."""
        return self.abi.kernels

    @cached_property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What the passes remarked on, up to the PTX."""
        if not self._found["remarks"]:
            return ()
        from .source import new_context  # noqa: PLC0415 (places are MLIR's)

        context = new_context()
        return tuple(_restored(one, context, self._located) for one in self._found["remarks"])

    @property
    def extra(self) -> Any:
        """What was kept with it, by whoever had it kept."""
        return self._found["extra"]


def through_cache(
    key: str | None,
    make: Callable[[], Compiled],
    options: Options,
    source: Source | None = None,
) -> Compiled:
    """What is remembered under `key`, else what `make` makes, up to the PTX, which is kept.

    What other packages' dialects and targets take part in is made each time.

    Args:
        key: from `cache.key`: of all that decides what `make` gives.
        make: starts the compilation.
        options: those of the compilation.
        source: the text that it is of, if it is of one.

    Raises:
        TilecError: as making the PTX does.
    """
    found = find_compilation(key, make, options, source)
    if found is not None:
        return found
    made = make()
    keep_compilation(key, made)
    return made


def find_compilation(
    key: str | None,
    make: Callable[[], Compiled],
    options: Options,
    source: Source | None = None,
    located: Callable[[str], str] = str,
) -> Remembered | None:
    """What is remembered under `key`; None if nothing is.

    Args:
        key: as of `through_cache`, as are the following.
        make: starts the compilation.
        options: those of the compilation.
        source: the text that it is of, if it is of one.
        located: gives the places of remarks, as `keep_compilation` was told to keep them.
    """
    found = cache.find(key)
    return None if found is None else Remembered(found, make, options, source, located)


def keep_compilation(
    key: str | None,
    made: Compiled,
    *,
    extra: object = None,
    kept: Callable[[str], str] = str,
) -> None:
    """Keep a compilation, up to the PTX, unless other packages take part in it.

    Args:
        key: as of `through_cache`.
        made: the compilation.
        extra: what `Remembered.extra` is to give, as JSON has it.
        kept: gives a location, as MLIR prints it, in a form that holds wherever it is found.

    Raises:
        TilecError: as making the PTX does.
    """
    if key is None or not _by_tilec_alone(made):
        return
    data = {
        "ptx": made.ptx,
        "abi": str(made.abi),
        "remarks": [_plain(one, kept) for one in made.remarks],
        "extra": extra,
    }
    names = ", ".join(kernel.name for kernel in made.kernels)
    cache.keep(key, data, kind="ptx", name=names, target=made.target.name)


def _by_tilec_alone(made: Compiled) -> bool:
    """Whether no other package's code takes part, which no key speaks of."""
    from .dialect_plugins import loaded  # noqa: PLC0415

    return made.target.name in TARGETS and not loaded(made._source.context)


def assembled(ptx: str, target: Target, *, lineinfo: bool) -> Assembled:
    """The binary of a PTX module, remembered or made and kept.

    Raises:
        AssemblerError: as `cubin.assemble` does.
    """
    from . import cubin  # noqa: PLC0415 (it runs tools, which a launch may do without)

    installed = [_told(path) for path in cubin.candidates("ptxas")]
    key = cache.key("cubin", ptx, target.name, lineinfo, installed)
    found = cache.find(key)
    if found is not None:
        path, version = found["assembler"]
        resources = {name: cubin.Resources(**of) for name, of in found["resources"].items()}
        binary = bytes.fromhex(found["cubin"])
        return cubin.Assembled(binary, resources, cubin.Tool(path, tuple(version)))
    made = cubin.assemble(ptx, target, lineinfo=lineinfo)
    data = {
        "cubin": made.cubin.hex(),
        "resources": {name: asdict(of) for name, of in made.resources.items()},
        "assembler": (made.assembler.path, made.assembler.version),
    }
    names = ", ".join(made.resources)
    cache.keep(key, data, kind="cubin", name=names, target=target.name)
    return made


def _told(path: str) -> tuple[str, int, int]:
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns


def _plain(diagnostic: Diagnostic, kept: Callable[[str], str]) -> dict[str, Any]:
    """A diagnostic as JSON has it."""
    fields = {name: getattr(diagnostic, name) for name in diagnostic.__dataclass_fields__}
    notes = [_plain(note, kept) for note in diagnostic.notes]
    return fields | {"location": kept(str(diagnostic.location)), "notes": notes}


def _restored(fields: dict[str, Any], context: Any, located: Callable[[str], str]) -> Diagnostic:
    """The diagnostic that `_plain` wrote."""
    from tilec.ir.mlir import ir  # noqa: PLC0415
    from tilec.passes.base import Diagnostic  # noqa: PLC0415

    with context:
        held = ir.Operation.parse(f"module {{}} {located(fields['location'])}").location
        location = ir.Location.from_attr(held.attr, context)  # as its own class
    notes = tuple(_restored(note, context, located) for note in fields["notes"])
    return Diagnostic(**(fields | {"location": location, "notes": notes}))
