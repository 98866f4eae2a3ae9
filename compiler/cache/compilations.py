"""Compilations through the cache: what is remembered of one stands for making it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tilec.compiled import Compiled, Options
from tilec.frontend.inputs import IN_PLACE, Relocation
from tilec.isa import TARGETS
from tilec.isa.lazy import cached_property
from tilec.launch.abi import Abi
from tilec.passes.base import Diagnostic, RemarkKind
from tilec.report.diagnostics import Source

from . import entries

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


class CachedCompilation(Compiled):
    """A compilation whose PTX is known; the stages before it are made when asked for.

    `ptx`, `abi`, `kernels`, and what is made of them, need neither MLIR nor LLVM.
    """

    def __init__(
        self,
        found: Mapping[str, Any],
        make: Callable[[], Compiled],
        options: Options,
        text: Source | None,
        relocation: Relocation,
    ) -> None:
        abi = Abi.parse(found["abi"])
        super().__init__(None, lambda: make().module, abi.target, options, text, found["facts"])
        self._kept = found["remarks"]
        self._relocation = relocation
        self.ptx = found["ptx"]
        self.abi = abi
        self.kernels = abi.kernels

    @cached_property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What the passes remarked on, up to the PTX."""
        if not self._kept:
            return ()
        from tilec.frontend.contexts import lease  # noqa: PLC0415 (places are MLIR's)

        leased, find = lease(), self._relocation.find
        try:
            return tuple(_restored(one, leased.context, find) for one in self._kept)
        finally:
            leased.end()


def through_cache(
    key: str | None,
    make: Callable[[], Compiled],
    options: Options,
    text: Source | None = None,
    *,
    relocation: Relocation = IN_PLACE,
    unchanged: Callable[[], bool] = lambda: True,
) -> Compiled:
    """What is remembered under `key`, else what `make` makes, up to the PTX, which is kept.

    What other packages' dialects and targets take part in is made each time.

    Args:
        key: from `cache.key`: of all that decides what `make` gives.
        make: starts the compilation.
        options: those of the compilation.
        text: the text that it is of, if it is of one.
        relocation: how the places of remarks are kept.
        unchanged: asked when it is made, whether `key` still says what it was made from.

    Raises:
        TilecError: as making the PTX does.
    """
    found = entries.find(
        key, lambda data: CachedCompilation(_checked(data), make, options, text, relocation)
    )
    if found is not None:
        return found
    made = make()
    if not _by_tilec_alone(made) or not unchanged():
        return made
    data = {
        "ptx": made.ptx,
        "abi": str(made.abi),
        "remarks": [_plain(one, relocation.keep) for one in made.remarks],
        "facts": dict(made.facts),
    }
    names = ", ".join(kernel.name for kernel in made.kernels)
    entries.keep(key, data, kind="ptx", name=names, target=made.target.name)
    return made


def _checked(data: Any) -> Mapping[str, Any]:
    """Data that has all that is kept of a compilation, each of its type; raises for other data."""
    kinds = {"ptx": str, "abi": str, "remarks": list, "facts": dict}
    for name, kind in kinds.items():
        if not isinstance(data[name], kind):
            raise TypeError(f"{name} is not {kind.__name__}")
    if ".version " not in data["ptx"]:
        raise ValueError("the PTX has no .version")
    for one in data["remarks"]:
        _check_remark(one)
    checked: Mapping[str, Any] = data
    return checked


def _check_remark(fields: Any) -> None:
    texts = ("location", "message", "severity", "decided_by", "kind", "function")
    if set(fields) != {*texts, "notes", "advice"} or not isinstance(fields["advice"], bool):
        raise TypeError("a remark has other fields")
    if not all(isinstance(fields[text], str) for text in texts):
        raise TypeError("a remark has fields of other types")
    RemarkKind(fields["kind"])
    for note in fields["notes"]:
        _check_remark(note)


def _by_tilec_alone(made: Compiled) -> bool:
    """Whether no other package's code takes part, which no key speaks of."""
    from tilec.dialect_plugins import loaded  # noqa: PLC0415

    return made.target.name in TARGETS and not loaded(made.module.context)


def _plain(diagnostic: Diagnostic, keep: Callable[[str], str]) -> dict[str, Any]:
    """A diagnostic as JSON has it."""
    fields = {name: getattr(diagnostic, name) for name in diagnostic.__dataclass_fields__}
    notes = [_plain(note, keep) for note in diagnostic.notes]
    return fields | {"location": keep(str(diagnostic.location)), "notes": notes}


def _restored(
    fields: dict[str, Any], context: ir.Context, find: Callable[[str], str]
) -> Diagnostic:
    """The diagnostic that `_plain` wrote."""
    from tilec.frontend.structure import excess, without_nuls  # noqa: PLC0415
    from tilec.ir.mlir import ir  # noqa: PLC0415

    text = without_nuls(f"module {{}} {find(fields['location'])}")
    with context:
        try:
            held = None if excess(text) else ir.Operation.parse(text).location
        except (ir.MLIRError, ValueError):
            held = None
        # As its own class; a text that is not a place stands for none.
        known = held is not None and ir.Location.from_attr(held.attr, context)
        location = known or ir.Location.unknown()
    notes = tuple(_restored(note, context, find) for note in fields["notes"])
    kind = RemarkKind(fields["kind"])
    return Diagnostic(**(fields | {"location": location, "notes": notes, "kind": kind}))
