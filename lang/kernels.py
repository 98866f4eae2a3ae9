"""`@kernel`: a function over tiles, compiled for the arguments that it is called with."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

from tilec.isa import LaunchError, TilecError

from .annotations import ConstantParameter, OptionalParameter, parameters
from .array import Assumption
from .compilations import Compilations, CompiledKernel
from .launching import launch
from .prepared import LaunchKey, PreparedLaunches, key_of
from .settings import Settings
from .source import read
from .specialization import Specialization, of_annotations, of_values
from .streams import queue_of
from .structures import flatten

if TYPE_CHECKING:
    from tilec.compiled import Compiled
    from tilec.sim import Report
    from tilec.transformation import Transformed

    from .snapshot import Snapshot

Extents: TypeAlias = int | Sequence[int]
Grid: TypeAlias = Extents | Callable[[Mapping[str, Any]], Extents]
"""CTAs along x, y and z, or a function of the arguments by name that gives them."""


class Kernel:
    """A kernel: `kernel[grid](…)` launches it, `kernel.compile(…)` gives every stage.

    Attributes:
        settings: how it is compiled and where it runs.
        names: of its arguments.
        defaults: what arguments are that a launch does not give, by name.
        prepared: its launches on a GPU that can be made again.
    """

    def __init__(self, function: Callable[..., Any], settings: Settings) -> None:
        self.source = read(function)
        update_wrapper(self, function)
        self.function = function
        self.settings = settings
        self.parameters = parameters(self.source)
        self._signature = inspect.signature(function)
        self.names = tuple(self._signature.parameters)
        self.defaults = {
            name: parameter.default
            for name, parameter in self._signature.parameters.items()
            if parameter.default is not inspect.Parameter.empty
        }
        self._compilations = Compilations(self.source)
        self.prepared = PreparedLaunches()

    def using(self, **options: Any) -> Kernel:
        """This kernel with other settings, fields of `Settings`: `warps`, `target`, `device`….

        Raises:
            TilecError: for a setting that does not exist, or a value that is not legal.
        """
        other = object.__new__(Kernel)
        other.__dict__.update(self.__dict__)
        other.settings = self.settings.changed(options)
        other.prepared = PreparedLaunches()
        return other

    @property
    def interpret(self) -> Kernel:
        """This kernel on numpy, for a debugger: its Python runs, and tiles are arrays.

        As `using(device="interpret")`, or TILEC_INTERPRET=1 in the environment for all launches.
        """
        return self.using(device="interpret")

    def __getitem__(self, grid: Grid) -> Launcher:
        return Launcher(self, grid)

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: a kernel takes a grid first."""
        raise TilecError(
            f"a kernel runs on a grid: {self.function.__name__}[grid](…); helpers that kernels "
            "call are marked @tilec.function"
        )

    def specialize(self, *args: Any, **kwargs: Any) -> Specialization:
        """What the kernel is compiled for, given these arguments.

        Without any array, the annotations alone say it.

        Raises:
            LaunchError: for arguments that the kernel does not take.
        """
        known = ConstantParameter, OptionalParameter
        arrays = {p.name for p in self.parameters if not isinstance(p, known)}
        if args or arrays & kwargs.keys():
            return of_values(flatten(self.parameters, self.bound(args, kwargs)))
        constants = self._constants(kwargs)
        return of_annotations(self.parameters, constants)

    def _constants(self, given: Mapping[str, Any]) -> dict[str, Any]:
        constants = ConstantParameter, OptionalParameter
        named = {p.name: p for p in self.parameters if isinstance(p, constants)}
        for name in given:
            if name not in named:
                raise LaunchError(
                    f"{self.function.__name__} has no constant '{name}'; "
                    f"it has: {', '.join(named) or 'none'}"
                )
        found: dict[str, Any] = {}
        for name, parameter in named.items():
            default = self._signature.parameters[name].default
            found[name] = given.get(name, default)
            if found[name] is inspect.Parameter.empty:
                raise LaunchError(f"constant '{name}' of {self.function.__name__} has no value")
            if isinstance(parameter, OptionalParameter) and found[name] is not None:
                raise LaunchError(f"give all arguments, not '{name}' alone, to compile for")
        return found

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a launch by name.

        Raises:
            LaunchError: for too many, too few, or others than the kernel takes.
        """
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            legal = ", ".join(self._signature.parameters)
            name = self.function.__name__
            from .hints import of_keyword  # noqa: PLC0415 (for errors only)

            hint = of_keyword(str(error))
            raise LaunchError(f"{name}: {error}{hint}; it takes ({legal})") from None
        bound.apply_defaults()
        return bound.arguments

    def build(self, *args: Any, **kwargs: Any) -> Transformed:
        """The program as tile IR, on tiles without layouts, for `tilec.transform` and notebooks.

        Raises:
            KernelError: for what is wrong in the kernel.
            LaunchError: for arguments that it does not take.
        """
        from tilec.transformation import Transformed  # noqa: PLC0415 (imports MLIR)

        from .build import build  # noqa: PLC0415

        found = self.specialize(*args, **kwargs)
        return Transformed(
            build(self.source, found, warps=self.settings.warps, pins=self.settings.pins).module, ()
        )

    def compile(
        self, *args: Any, target: str | None = None, emit: str = "ptx", **kwargs: Any
    ) -> Compiled:
        """The compilation for arguments like these, with every stage.

        Args:
            args: arrays and scalars like those of the launches to come; without any, those that
                the annotations describe.
            target: such as `sm_90a`; by default that of the settings.
            emit: the last stage that is made at once, as of `tilec.compile`.
            kwargs: arguments by name, constants among them.

        Raises:
            KernelError: for what is wrong in the kernel, at its place.
            TilecError: for arguments that it does not take, and what a later stage refuses.
        """
        kernel = self.using(target=target) if target else self
        compiled = kernel.compiled(self.specialize(*args, **kwargs)).compiled
        from tilec.compiled import Stage  # noqa: PLC0415

        compiled.emit(Stage(emit))
        return compiled

    def compiled(self, specialization: Specialization) -> CompiledKernel:
        """The kernel compiled for such arguments, now or before."""
        return self._compilations.get(specialization, self.settings)

    def recorded(self, specialization: Specialization) -> Snapshot | None:
        """What the kernel reads, if that is all that its program depends on."""
        return self._compilations.recorded(specialization)

    def assumptions(self, specialization: Specialization) -> tuple[Assumption, ...]:
        """What the kernel assumes of arrays, by `tilec.lang.assume`, compiled for such arguments.

        Raises:
            KernelError: for what is wrong in the kernel.
        """
        from .build import build  # noqa: PLC0415 (imports MLIR)

        return build(self.source, specialization, warps=self.settings.warps).assumptions

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What the kernel would be compiled for with these arguments, and why again if so.

        Raises:
            LaunchError: for arguments that it does not take.
        """
        return self._compilations.explain(self.specialize(*args, **kwargs))

    def __repr__(self) -> str:
        return f"kernel {self.function.__name__}({', '.join(self._signature.parameters)})"


class Launcher:
    """A kernel on a grid, to be called with its arguments."""

    def __init__(self, kernel: Kernel, grid: Grid) -> None:
        self._kernel = kernel
        self._grid = grid

    def __repr__(self) -> str:
        grid = "a grid that a function gives" if callable(self._grid) else f"grid {self._grid}"
        return f"{self._kernel!r} on {grid}, to be called with its arguments"

    def __call__(self, *args: Any, **kwargs: Any) -> Report | Any:  # None need not be asked for
        """Run the kernel.

        Args:
            args: numpy arrays, which are changed in place; arrays on a GPU, by DLPack or
                `__cuda_array_interface__`; scalars; constants.
            kwargs: the same, by name.

        Returns:
            What the simulator counted; None from a GPU, and where the grid has no CTA.

        Raises:
            KernelError: for what is wrong in the kernel, at its place.
            LaunchError: for arguments or a grid that the kernel does not take.
            SimulationError: for what the simulator finds wrong with the run.
            CudaError: for what goes wrong on the GPU.
        """
        kernel = self._kernel
        key = self._key(args, kwargs)
        if key is not None:
            known = kernel.prepared.get(key)
            if known is not None:
                known()
                if key.queue.waits:
                    known.wait()
                return None
        return self._launch(kernel.bound(args, kwargs), key)

    def _key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> LaunchKey | None:
        """What tells the launch from others; None for one that is made anew each time."""
        grid, settings = self._grid, self._kernel.settings
        if settings.device in ("sim", "interpret"):
            return None
        values = (*args, *kwargs.values()) if kwargs else args
        found = key_of(values)
        if found is None:
            return None
        if callable(grid):
            names = self._kernel.names
            if len(args) > len(names) or not kwargs.keys() <= set(names):
                return None  # `bound` says what is wrong
            given = dict(zip(names, args, strict=False))
            grid = self._grid_of({**self._kernel.defaults, **given, **kwargs})
        extents = tuple(grid) if isinstance(grid, Sequence) else grid
        queue = queue_of(settings.stream, settings.wait, values)
        return LaunchKey(found, tuple(kwargs), extents, queue)

    def _launch(self, values: dict[str, Any], key: LaunchKey | None) -> Report | None:
        kernel = self._kernel
        flat = flatten(kernel.parameters, values)
        interprets = _interprets(kernel.settings)
        if kernel.settings.device == "sim" or interprets:
            _check_on_host(flat.values)
        specialization = of_values(flat)
        if interprets:
            from .stepped_launch import launch_stepped  # noqa: PLC0415 (imports MLIR)

            grid = self._grid_of(values)
            if not _is_empty(grid):
                launch_stepped(kernel.source, specialization, flat.values, grid, kernel.settings)
            return None
        compiled = kernel.compiled(specialization)
        grid = self._grid_of(values)
        if _is_empty(grid):
            return None
        made = launch(
            compiled.compiled,
            compiled.specialization,
            flat.values,
            grid,
            settings=kernel.settings,
            written=compiled.written,
            assumptions=lambda: kernel.assumptions(compiled.specialization),
        )
        if made is None or not callable(made):
            return made
        state = kernel.recorded(specialization)
        if key is not None and state is not None:
            kernel.prepared.put(key, made, state)
        return None

    def _grid_of(self, values: Mapping[str, Any]) -> Any:
        """The CTAs, where a function gives them of the arguments what that says."""
        if not callable(self._grid):
            return self._grid
        try:
            return self._grid(values)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise LaunchError(f"the function that computes the grid failed: {what}") from error


def _is_empty(grid: Any) -> bool:
    """Whether there is nothing to do, as for arrays without elements."""
    return 0 in (tuple(grid) if isinstance(grid, Sequence) else (grid,))


def _interprets(settings: Settings) -> bool:
    """Whether a kernel is stepped through."""
    if settings.device is None:
        return os.environ.get("TILEC_INTERPRET", "0") not in ("", "0")
    return settings.device == "interpret"


def _check_on_host(values: Mapping[str, Any]) -> None:
    from tilec.runtime.cuda.views import is_shared  # noqa: PLC0415 (for launches only)

    for name, value in values.items():
        if is_shared(value):
            raise LaunchError(f"argument '{name}' is on a GPU; the simulator takes numpy arrays")


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...


@overload
def kernel(*, warps: int = 4, **options: Any) -> Callable[[Callable[..., None]], Kernel]: ...


def kernel(
    function: Callable[..., None] | None = None, /, **options: Any
) -> Kernel | Callable[[Callable[..., None]], Kernel]:
    """Make a kernel of a function over tiles, as `@kernel` or `@kernel(warps=8)`.

    Args:
        function: its arguments annotated, as `tilec.lang.annotations` says.
        options: `warps` of a CTA, 4 by default, and the other fields of `Settings`.

    Raises:
        KernelError: for Python that kernels cannot use, and annotations that mean nothing.
        TilecError: for a setting that does not exist.
    """
    settings = Settings().changed(options)
    if function is not None:
        return Kernel(function, settings)
    return lambda given: Kernel(given, settings)
