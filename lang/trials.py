"""Runs of a kernel's configurations, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from tilec.isa import LaunchError, TilecError

from .kernels import Grid, Kernel
from .specialization import ArrayType, of_values
from .streams import queue_of
from .structures import Flat, flatten

if TYPE_CHECKING:
    from tilec.runtime.cuda.timing import Timing
    from tilec.sim import Report

ROUNDS = 25
"""How often each configuration is timed."""

By: TypeAlias = "Callable[[Report], float]"
"""What is to be least of the simulator's report."""


@dataclass(frozen=True, init=False, repr=False)
class Config:
    """Constants of a kernel, and settings, that are tried together.

    Attributes:
        constants: by name.
        settings: fields of `Settings`, such as `warps`.
    """

    constants: Mapping[str, Any]
    settings: Mapping[str, Any]

    def __init__(self, constants: Mapping[str, Any] | None = None, **settings: Any) -> None:
        object.__setattr__(self, "constants", dict(constants or {}))
        object.__setattr__(self, "settings", settings)

    def __repr__(self) -> str:
        said = {**self.constants, **self.settings}
        return f"Config({', '.join(f'{name}={value!r}' for name, value in said.items())})"


@dataclass(frozen=True)
class Trial:
    """What became of a configuration.

    Attributes:
        config: the configuration.
        cost: a `Timing` on the GPU, or what `by` gives of the simulator's report; None where it
            could not be compiled or launched.
        error: why not.
    """

    config: Config
    cost: Timing | float | None
    error: TilecError | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"{self.config!r}: {str(self.error).splitlines()[0]}"
        cost = f"{self.cost:.15g}" if isinstance(self.cost, float) else self.cost
        return f"{self.config!r}: {cost}"


class Launched(NamedTuple):
    """A kernel with everything that a launch takes."""

    kernel: Kernel
    grid: Grid
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def run(self) -> Report | None:
        """Launch it."""
        return self.kernel[self.grid](*self.args, **self.kwargs)

    def using(self, **options: Any) -> Launched:
        """The same with other settings."""
        return self._replace(kernel=self.kernel.using(**options))

    def flat(self) -> Flat:
        """Its arguments, those that are made of others taken apart."""
        kernel = self.kernel
        return flatten(kernel.parameters, kernel.bound(self.args, self.kwargs))

    def is_on_gpu(self, flat: Flat) -> bool:
        """Whether it runs on a GPU, with these arguments."""
        device = self.kernel.settings.device
        if device is not None:
            return device == "cuda"
        from tilec.runtime.cuda.views import is_shared  # noqa: PLC0415 (for launches only)

        return any(map(is_shared, flat.values.values()))

    def written(self, flat: Flat) -> dict[str, tuple[Any, int]]:
        """The arrays that the kernel changes, by name, and the bytes of an element of each."""
        compiled = self.kernel.compiled(of_values(flat))
        types = dict(compiled.specialization.arguments)
        found: dict[str, tuple[Any, int]] = {}
        for name in compiled.written:
            type_ = types[name]
            assert isinstance(type_, ArrayType)
            found[name] = flat.values[name], max(type_.dtype.bits // 8, 1)
        return found


class Tried(NamedTuple):
    """What configurations are tried for.

    Attributes:
        kernel: with the settings that they do not change.
        key: what decides of the arguments.
        by: what is best; None for the least time.
        device: the name of the GPU, `simulator` for its counts, or None: there is no clock.
    """

    kernel: Kernel
    key: Hashable
    by: By | None
    device: str | None


class Memory(Protocol):
    """What remembers trials beyond a process; `tilec.tuning.Memory` is one."""

    def recall(self, tried: Tried, configs: Sequence[Config]) -> Sequence[float] | None:
        """What each configuration costs, infinity of one that fails; None if any is not known."""
        ...

    def remember(self, tried: Tried, trials: Sequence[Trial]) -> None:
        """Keep what was found."""
        ...


def try_all(
    configs: Sequence[Config], launches: Sequence[Launched], by: By | None
) -> tuple[Trial, ...]:
    """Run each configuration, and see what it costs; what they change is put back.

    Raises:
        LaunchError: for arrays that are in the host's memory where a GPU is to be timed.
    """
    if by is not None:
        pairs = zip(configs, launches, strict=True)
        return tuple(_counted(config, launch, by) for config, launch in pairs)
    return _timed(configs, launches)


def _counted(config: Config, launch: Launched, by: By) -> Trial:
    """A run on the simulator."""
    try:
        arrays = [array for array, _ in launch.written(launch.flat()).values()]
        # The launch refuses others.
        arrays = [one for one in arrays if isinstance(one, np.ndarray) and one.flags.writeable]
        held = [array.copy() for array in arrays]
        try:
            report = launch.using(device="sim").run()
        finally:
            for array, before in zip(arrays, held, strict=True):
                array[...] = before
    except TilecError as error:
        return Trial(config, None, error)
    return Trial(config, 0.0 if report is None else _cost(by, report))  # None: no CTA


def _cost(by: By, report: Report) -> float:
    """What `by` gives of a report.

    Raises:
        LaunchError: if that is not a number.
    """
    try:
        found = float(by(report))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise LaunchError(f"the function by= failed: {what}") from error
    if isnan(found):
        raise LaunchError("the function by= gives NaN")
    return found


def _timed(configs: Sequence[Config], launches: Sequence[Launched]) -> tuple[Trial, ...]:
    """Runs on the GPU, in turns."""
    from tilec.runtime.cuda import FaultError  # noqa: PLC0415 (for launches on a GPU)
    from tilec.runtime.cuda.saved import SavedArrays  # noqa: PLC0415
    from tilec.runtime.cuda.timing import compare  # noqa: PLC0415

    flat = launches[0].flat()
    _check_on_gpu(flat)
    settings = launches[0].kernel.settings
    stream = queue_of(settings.stream, False, flat.values.values()).stream
    errors: list[TilecError | None] = []
    ready: list[Launched] = []
    written: dict[str, tuple[Any, int]] = {}
    for launch in launches:
        try:
            written |= launch.written(launch.flat())
        except TilecError as error:
            errors.append(error)
        else:
            errors.append(None)
            ready.append(launch.using(wait=False))
    arrays = {name: array for name, (array, _) in written.items()}
    sizes = {name: size for name, (_, size) in written.items()}
    at = [number for number, error in enumerate(errors) if error is None]
    works: list[Callable[[], object]] = []
    with SavedArrays(arrays, sizes, stream) as saved:
        for number, launch in zip(at, ready, strict=True):
            try:
                launch.run()
            except FaultError:
                raise
            except TilecError as error:
                errors[number] = error
            else:
                works.append(launch.run)
            saved.restore()
        times = iter(compare(works, prepare=saved.restore, rounds=ROUNDS, stream=stream))
    return tuple(
        Trial(config, next(times) if error is None else None, error)
        for config, error in zip(configs, errors, strict=True)
    )


def _check_on_gpu(flat: Flat) -> None:
    for name, value in flat.values.items():
        if isinstance(value, np.ndarray) and value.ndim:
            raise LaunchError(
                f"argument '{name}' is in the host's memory; autotune times kernels on arrays of "
                "the GPU, or their copies would be timed: tilec.runtime.cuda.Array.of(…)"
            )


def cheapest(trials: Sequence[Trial], name: str) -> int:
    """The trial that costs least, the first of several.

    Raises:
        TilecError: if none succeeded, with the first one's reason.
    """
    costs = {
        number: trial.cost if isinstance(trial.cost, int | float) else trial.cost.median
        for number, trial in enumerate(trials)
        if trial.cost is not None
    }
    if costs:
        return min(costs, key=lambda number: costs[number])
    first = trials[0].error
    assert first is not None
    raise TilecError(
        f"none of {name}'s {len(trials)} configurations can be launched; {trials[0].config!r}: "
        f"{first}"
    ) from first
