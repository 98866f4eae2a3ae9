"""Which candidate a kernel takes where nobody says: a store's, the shipped table's, or its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tilec.passes.defaults import default_of
from tilec.passes.upstream.known_tiles import KnownTiles

from .arguments import ArgumentSpec
from .errors import TuningError
from .problems import Problem
from .space import Space

if TYPE_CHECKING:
    from .store import Outcome, Store

_MODEL = "model"
"""The device of studies that nothing was measured for."""


class Declared(Protocol):
    """What is read of a kernel's declaration; `Tunable` says what each is."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def digest(self) -> str: ...  # noqa: D102
    @property
    def space(self) -> Space: ...  # noqa: D102
    @property
    def sizes(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def arguments(self) -> tuple[ArgumentSpec, ...]: ...  # noqa: D102
    @property
    def place(self) -> str: ...  # noqa: D102
    @property
    def table(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Choice:
    """A candidate, and where it comes from.

    Attributes:
        candidate: the value of each parameter.
        source: a store, the table of defaults, or the kernel, in words.
        is_stored: whether it comes from a store.
    """

    candidate: Mapping[str, int]
    source: str
    is_stored: bool = False

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.candidate.items())
        return f"{said}, as {self.source} has it"


def choose(
    tunable: Declared, problem: Problem, target: str, store: str | Path | Store | None = None
) -> Choice:
    """The candidate to take for a problem.

    The best of a store, if it knows any of this kernel, problem and target, found by this compiler:
    the fastest measured, else the one that costs least by the model. Without, what the shipped
    table has, if the declaration names a kernel of it and the space holds that candidate; else what
    the kernel has by itself.

    Args:
        tunable: the kernel.
        problem: its sizes.
        target: such as `sm_90a`.
        store: a store or its file, if there is one.

    Raises:
        TuningError: for a file that is no store, or is not there.
    """
    known = None if store is None else _of_store(tunable, problem, target, store)
    if known is not None:
        return known
    listed = default_of(tunable.table, target, problem.sizes) if tunable.table else None
    if listed is not None and _holds(tunable, problem, listed.parameters):
        return Choice({name: listed.parameters[name] for name in tunable.space.names}, str(listed))
    return Choice(tunable.space.default, "the kernel")


def _holds(tunable: Declared, problem: Problem, parameters: Mapping[str, int]) -> bool:
    """Whether a candidate is one of a kernel's space."""
    return any(dict(parameters) == one for one in tunable.space.candidates(problem.sizes))


def _of_store(
    tunable: Declared, problem: Problem, target: str, store: str | Path | Store
) -> Choice | None:
    from .store import Store  # noqa: PLC0415 (imports SQLite)

    if isinstance(store, Store):
        return _best(tunable, problem, target, store)
    if not Path(store).is_file():
        raise TuningError(f"{store}: there is no such store")
    with Store(store) as opened:
        return _best(tunable, problem, target, opened)


def _best(tunable: Declared, problem: Problem, target: str, store: Store) -> Choice | None:
    """The best of the studies of a kernel, those with times first."""
    from .store.keys import versions  # noqa: PLC0415 (reads tilec's files)

    found: list[tuple[Outcome, str]] = []
    space = {tuple(sorted(one.items())) for one in tunable.space.candidates(problem.sizes)}
    for id_, key in store.studies().items():
        same = (
            key["digest"] == tunable.digest
            and key["sizes"] == dict(problem.sizes)
            and key["types"] == {one.name: one.type for one in tunable.arguments}
            and key["target"] == target
            and versions().items() <= key["versions"].items()
        )
        for one in store.outcomes(id_) if same else ():
            if one.cost is not None and tuple(sorted(one.candidate.items())) in space:
                found.append((one, key["device"]))
    if not found:
        return None
    best, device = min(found, key=lambda one: one[0].rank)
    how = "by the model" if device == _MODEL else f"measured on {device}"
    return Choice(best.candidate, f"the store {store.file}, {how},", is_stored=True)


def known_products(store: Store) -> list[KnownTiles]:
    """What a store has of products of matrices that level 1 can take: the best for each.

    Those are studies, by this compiler, of a kernel whose sizes are `m`, `n` and `k`, whose
    parameters are `BM`, `BN`, `BK` and `warps`, and that multiplies f16 or bf16 and sums in f32.
    """
    from .store.keys import versions  # noqa: PLC0415 (reads tilec's files)

    best: dict[tuple[str, tuple[int, int, int]], tuple[Outcome, KnownTiles]] = {}
    for id_, key in store.studies().items():
        types = sorted(key["types"].values())
        usual = types in (["bf16", "bf16", "f32"], ["f16", "f16", "f32"])
        current = versions().items() <= key["versions"].items()
        if not usual or not current or set(key["sizes"]) != set("mnk"):
            continue
        extents = key["sizes"]["m"], key["sizes"]["n"], key["sizes"]["k"]
        for one in store.outcomes(id_):
            if one.cost is None or set(one.candidate) != {"BM", "BN", "BK", "warps"}:
                continue
            tiles = one.candidate["BM"], one.candidate["BN"], one.candidate["BK"]
            made = KnownTiles(key["target"], extents, tiles, one.candidate["warps"])
            at = key["target"], extents
            best[at] = min(best.get(at, (one, made)), (one, made), key=lambda pair: pair[0].rank)
    return [made for _, made in best.values()]


def problem_of(tunable: Declared, args: Sequence[Any]) -> Problem:
    """The sizes that the arguments of a launch have.

    Args:
        tunable: the kernel.
        args: in its order; arrays whose declared extents are sizes decide.

    Raises:
        TuningError: at the declaration's place, for arguments that do not fit it, or that leave a
            size open.
    """
    names = ", ".join(one.name for one in tunable.arguments)
    if len(args) != len(tunable.arguments):
        raise TuningError(f"{tunable.name} takes {names}; {len(args)} are given", tunable.place)
    sizes: dict[str, int] = {}
    for spec, value in zip(tunable.arguments, args, strict=True):
        shape = tuple(getattr(value, "shape", ())) if spec.is_array else (value,)
        extents = spec.extents.parts
        if len(shape) != len(extents):
            raise TuningError(
                f"argument '{spec.name}' has extents {list(shape)}; declared: [{spec.extents}]",
                spec.place or tunable.place,
            )
        for said, extent in zip(extents, shape, strict=True):
            if said in tunable.sizes and sizes.setdefault(said, int(extent)) != int(extent):
                raise TuningError(
                    f"size '{said}' is {sizes[said]}, and {int(extent)} of argument '{spec.name}'",
                    spec.place or tunable.place,
                )
    if missing := [name for name in tunable.sizes if name not in sizes]:
        raise TuningError(f"no extent of {names} is size '{missing[0]}' by itself", tunable.place)
    return Problem({name: sizes[name] for name in tunable.sizes})
