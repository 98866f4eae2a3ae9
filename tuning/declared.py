"""Tunable kernels: a program, the space that is searched, and the problems that it is for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from tilec.isa import DEFAULT_TARGET, nearest
from tilec.isa.launch import Extents, extents
from tilec.lang.kernels import Grid, Kernel, Launcher

from .arguments import ArgumentSpec, argument
from .choices import Choice, choose, problem_of
from .errors import TuningError
from .expressions import Expression, parse
from .parameters import parameter
from .problems import Problem
from .sources import SETTINGS, Program, PythonProgram, digest
from .space import Candidate, Constraint, Space

if TYPE_CHECKING:
    from pathlib import Path

    from tilec.compiled import Compiled


@dataclass(frozen=True, repr=False)
class Tunable:
    """A kernel whose parameters are searched.

    Attributes:
        program: what candidates are compiled from.
        space: what is searched.
        sizes: names and default values of a problem's sizes.
        arguments: in the kernel's order.
        grid: CTAs along x, y and z; None if the kernel fixes its grid.
        place: `file:line:col` of the declaration, or empty.
        table: what the shipped table of defaults calls the kernel; empty if it is not in it.
    """

    program: Program
    space: Space
    sizes: Mapping[str, int]
    arguments: tuple[ArgumentSpec, ...]
    grid: Expression | None
    place: str = ""
    table: str = ""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.program.name

    @property
    def file(self) -> str:
        """The file of the declaration."""
        return self.place.rsplit(":", 2)[0]

    @cached_property
    def digest(self) -> str:
        """A digest of the kernel and its arguments, but not of its space, which may grow."""
        said = [f"{one.name}: {one.type}[{one.extents}]" for one in self.arguments]
        return digest(self.program.digest, str(self.grid), *said)

    @property
    def default_problem(self) -> Problem:
        """The sizes that the declaration gives."""
        return Problem(dict(self.sizes))

    def __getitem__(self, grid: Grid) -> Launcher:
        """The kernel on a grid, with the default of each parameter."""
        return self.kernel[grid]

    def choose(
        self, problem: Problem, target: str = DEFAULT_TARGET, store: str | Path | None = None
    ) -> Choice:
        """The candidate to take: the best of a store, the shipped table's, or the kernel's own.

        Args:
            problem: the sizes.
            target: such as `sm_90a`.
            store: the file of a store, if there is one.

        Raises:
            TuningError: for a file that is no store, or is not there.
        """
        return choose(self, problem, target, store)

    def launch(self, *args: Any, store: str | Path | None = None, **settings: Any) -> Any:
        """Run the kernel in Python with the parameters that `choose` finds for its arguments.

        Args:
            args: arrays and scalars, in the kernel's order, without its constants.
            store: the file of a store, if there is one.
            settings: as `Kernel.using` takes them, but for those that are searched.

        Returns:
            As a launch of the kernel.

        Raises:
            TuningError: for arguments of which the declaration does not say what problem they are.
            TilecError: as a launch of the kernel.
        """
        kernel = self.kernel.using(**settings)
        problem = problem_of(self, args)
        target = kernel.settings.target or DEFAULT_TARGET
        chosen = dict(self.choose(problem, target, store).candidate)
        grid = self.ctas(chosen, problem)
        if grid is None:
            raise TuningError(f"the declaration of {self.name} has no grid", self.place)
        searched = {name: chosen.pop(name) for name in SETTINGS if name in chosen}
        return kernel.using(**searched)[grid](*args, **chosen)

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: a kernel takes a grid first."""
        raise TuningError(f"a kernel runs on a grid: {self.name}[grid](…)")

    @property
    def kernel(self) -> Kernel:
        """The kernel in Python.

        Raises:
            TuningError: if it is MLIR.
        """
        if not isinstance(self.program, PythonProgram):
            raise TuningError(f"{self.name} is a template of MLIR, not a kernel in Python")
        return self.program.kernel

    def pinned(self, pins: Mapping[str, int]) -> Tunable:
        """The same kernel, with some parameters fixed to a value.

        Raises:
            TuningError: for a parameter that does not exist.
        """
        return replace(self, space=self.space.pinned(pins))

    def candidates(self, problem: Problem) -> list[Candidate]:
        """The candidates for a problem that satisfy the constraints.

        Raises:
            TuningError: at the space's place, if there are none.
        """
        return self.space.satisfied(problem.sizes)

    def names(self, candidate: Mapping[str, int], problem: Problem) -> dict[str, int]:
        """The names that expressions may use, with their values."""
        return {**problem.sizes, **candidate}

    def values(self, candidate: Mapping[str, int], problem: Problem) -> list[Any]:
        """The arguments of a launch: uninitialised arrays, and scalars.

        Raises:
            TuningError: for an extent that is not a positive integer.
        """
        names = self.names(candidate, problem)
        return [one.value(names) for one in self.arguments]

    def ctas(self, candidate: Mapping[str, int], problem: Problem) -> Extents | None:
        """The grid of a launch; None if the kernel fixes its grid.

        Raises:
            TilecError: if the expression does not give a grid.
        """
        if self.grid is None:
            return None
        found = self.grid.value(self.names(candidate, problem))
        return extents(found, "grid")

    def compile(
        self, candidate: Mapping[str, int], args: Sequence[Any], target: str, *, cache: bool = False
    ) -> Compiled:
        """A candidate, compiled to PTX.

        Raises:
            TilecError: if the target or a pass rejects it.
        """
        return self.program.compile(candidate, args, target, cache=cache)

    def __repr__(self) -> str:
        return f"{self.name}, tunable: {', '.join(self.space.names)}"


Finder = Callable[[str, str], str]
"""The place of a name in a part of a declaration."""


def declare(
    program: Program,
    *,
    parameters: Mapping[str, Any],
    default: Callable[[str], int | None],
    where: Iterable[str],
    pins: Mapping[str, int],
    problem: Mapping[str, int],
    arguments: Mapping[str, str],
    grid: str | None,
    find: Finder,
    table: str = "",
) -> Tunable:
    """A tunable kernel from the parts of its declaration.

    Args:
        program: what candidates are compiled from.
        parameters: the values of each, as `parameters.parameter` takes them.
        default: what the program has of a parameter.
        where: constraints.
        pins: single values of some parameters.
        problem: sizes, with what they are where nobody says.
        arguments: as `arguments.argument` takes them.
        grid: CTAs along x, y and z.
        find: the place of a name in a part of the declaration.
        table: what the shipped table of defaults calls the kernel.

    Raises:
        TuningError: at its place, for whatever is wrong.
    """
    place = find("", "")
    if not parameters:
        raise TuningError("there is no parameter to search", place)
    for name, size in problem.items():
        legal = name.isidentifier() and isinstance(size, int) and not isinstance(size, bool)
        if not legal or size < 1 or name in parameters:
            raise TuningError(
                f"size '{name}' is {size!r}; legal: a positive integer, under a name that no "
                f"parameter has",
                find("problem", name),
            )
    made = [
        parameter(name, given, default(name), find("parameters", name))
        for name, given in parameters.items()
    ]
    constraints = [Constraint(parse(one, at), at) for one in where for at in (find("where", one),)]
    space = Space(tuple(made), tuple(constraints), place)
    space.check(tuple(problem))
    taken = tuple(argument(name, text, find("arguments", name)) for name, text in arguments.items())
    known = {*problem, *parameters}
    ctas = None if grid is None else parse(grid, find("", "grid"))
    reads = [(one.extents, one.place) for one in taken]
    for read, at in [*reads, *([] if ctas is None else [(ctas, find("", "grid"))])]:
        for name in sorted(read.names - known):
            close = ", ".join(nearest(name, sorted(known)))
            raise TuningError(
                f"`{read}` reads '{name}', which is neither a parameter nor a size; nearest: "
                f"{close}",
                at,
            )
    found = Tunable(program, space, dict(problem), taken, ctas, place, table)
    return found.pinned(pins)


def tunable(
    parameters: Mapping[str, Any],
    *,
    problem: Mapping[str, int],
    arguments: Mapping[str, str],
    grid: str | None = None,
    where: Iterable[str] = (),
    pins: Mapping[str, int] | None = None,
    table: str = "",
) -> Callable[[Kernel], Tunable]:
    """Declare the search space of a kernel, as `@tunable(…)` above `@kernel`.

    Args:
        parameters: the kernel's constants and settings (`warps`, `opt_level`) by name, each with
            the values to try: a list, a `range`, or `powers(16, 256)`.
        problem: names and default values of the problem's sizes.
        arguments: by name, in the kernel's order, such as `f16[m, k]` and `i32(m)`.
        grid: CTAs along x, y and z, such as `cdiv(n, BN), cdiv(m, BM)`.
        where: constraints on parameters and sizes, such as `BM * BN <= 32768`.
        pins: parameters that are fixed to a value.
        table: the shipped table of defaults' name for such a kernel, `gemm` or `attention`; its
            parameters and sizes then have the table's names. Empty for none.

    Raises:
        TuningError: at the place of the call, if names, values or expressions are not legal.
    """
    frame = sys._getframe(1)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}:1"

    def with_space(kernel: Kernel) -> Tunable:
        if not isinstance(kernel, Kernel):
            raise TuningError(f"tunable takes a kernel, not {kernel!r}", place)
        program = PythonProgram(kernel, kernel.function.__name__)
        for name in parameters:
            program.check(name, place)
        taken = [name for name in kernel.names if name not in program.constants]
        if list(arguments) != taken:
            raise TuningError(
                f"the arguments are {', '.join(arguments)}; {program.name} takes "
                f"{', '.join(taken)}",
                place,
            )
        return declare(
            program,
            parameters=parameters,
            default=program.default,
            where=where,
            pins=pins or {},
            problem=problem,
            arguments=arguments,
            grid=grid,
            find=lambda _part, _name: place,
            table=table,
        )

    return with_space
