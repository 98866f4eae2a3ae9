"""`@autotune`: a kernel with the constants and settings that are fastest for its arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import inf
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from tilec.isa import LaunchError, TilecError, UnknownNameError

from .annotations import ConstantParameter
from .kernels import Grid, Kernel
from .trials import By, Config, Launched, Memory, Trial, Tried, cheapest, try_all

if TYPE_CHECKING:
    from tilec.sim import Report

Key: TypeAlias = Sequence[str] | Callable[[Mapping[str, Any]], Hashable]
"""Names of the arguments that decide, or a function of all of them, by name, that gives a key."""


class TunedKernel:
    """A kernel that is launched with the best of several configurations for its arguments.

    Attributes:
        kernel: the kernel itself.
        configs: those that are tried.
        key: which arguments decide.
        by: what is best.
        memory: what remembers trials beyond this process; None for nothing.
    """

    def __init__(
        self,
        kernel: Kernel,
        configs: Sequence[Config],
        key: Key | None,
        by: By | None,
        memory: Memory | None = None,
    ) -> None:
        self.kernel, self.configs, self.key, self.by = kernel, tuple(configs), key, by
        self.memory = memory
        self._variants = [kernel.using(**config.settings) for config in self.configs]
        self._trials: dict[Hashable, tuple[Trial, ...]] = {}
        self._chosen: dict[Hashable, int] = {}
        self._constants = {p.name for p in kernel.parameters if isinstance(p, ConstantParameter)}
        self._warned = False
        self._lock = RLock()
        self._busy: set[Hashable] = set()

    def __getitem__(self, grid: Grid) -> TunedLauncher:
        return TunedLauncher(self, grid)

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: a kernel takes a grid first."""
        raise TilecError(f"a kernel runs on a grid: {self.kernel.function.__name__}[grid](…)")

    def using(self, **options: Any) -> TunedKernel:
        """This kernel with other settings, of which nothing is tried yet.

        Raises:
            TilecError: as `Kernel.using`.
        """
        return TunedKernel(
            self.kernel.using(**options), self.configs, self.key, self.by, self.memory
        )

    def best(self, *args: Any, **kwargs: Any) -> Config | None:
        """The configuration chosen for arguments like these; None if none is yet.

        Raises:
            LaunchError: for arguments that the kernel does not take.
        """
        chosen = self._chosen.get(self._key(args, kwargs))
        return None if chosen is None else self.configs[chosen]

    def trials(self, *args: Any, **kwargs: Any) -> tuple[Trial, ...]:
        """What was tried for arguments like these, in the order of `configs`.

        Raises:
            LaunchError: for arguments that the kernel does not take.
        """
        return self._trials.get(self._key(args, kwargs), ())

    def variant(self, grid: Grid, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Launched:
        """The kernel with the best settings for some arguments, and all its arguments by name.

        Raises:
            TilecError: if none of the configurations can be launched.
        """
        key = self._key(args, kwargs)
        chosen = self._chosen.get(key)
        if chosen is None:
            with self._lock:
                chosen = self._chosen.get(key)
                if chosen is None:
                    chosen = self._choose(key, grid, args, kwargs)
        given = {**kwargs, **self.configs[chosen].constants}
        return Launched(self._variants[chosen], grid, args, given)

    def _choose(
        self, key: Hashable, grid: Grid, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> int:
        """Try all configurations, and note which is best."""
        if key in self._busy:
            name = self.kernel.function.__name__
            raise LaunchError(f"by= of {name} launches {name} itself; launch .kernel in it")
        candidates = [
            Launched(variant, grid, args, {**kwargs, **config.constants})
            for variant, config in zip(self._variants, self.configs, strict=True)
        ]
        flat = candidates[0].flat()  # says what is wrong with the arguments
        on_gpu = self.by is None and candidates[0].is_on_gpu(flat)
        tried = Tried(self.kernel, key, self.by, _device(self.by, on_gpu))
        known = None if self.memory is None else self.memory.recall(tried, self.configs)
        if known is not None and min(known) < inf:
            self._chosen[key] = known.index(min(known))
            return self._chosen[key]
        if self.by is None and not on_gpu:
            self._warn()
            return 0
        self._busy.add(key)
        try:
            self._trials[key] = try_all(self.configs, candidates, self.by)
        finally:
            self._busy.discard(key)
        self._chosen[key] = cheapest(self._trials[key], self.kernel.function.__name__)
        if self.memory is not None:
            self.memory.remember(tried, self._trials[key])
        return self._chosen[key]

    def _warn(self) -> None:
        """Say once that nothing is chosen."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.kernel.function.__name__} runs with {self.configs[0]!r}, the first of its "
                "configurations: the simulator has no clock; autotune(…, by=lambda report: "
                "…) chooses by its counts",
                stacklevel=4,
            )

    def _key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Hashable:
        """What tells arguments from others for which another configuration may be best.

        Raises:
            LaunchError: for arguments that the kernel does not take, and for a key that is none.
        """
        names = self.kernel.names
        if len(args) > len(names):
            self.kernel.bound(args, kwargs)  # says what is wrong
        for name in kwargs:
            if name in self.configs[0].constants:
                raise LaunchError(
                    f"constant '{name}' of {self.kernel.function.__name__} is chosen by "
                    "autotune; omit it, or launch .kernel with it"
                )
        values = {**self.kernel.defaults, **dict(zip(names, args, strict=False)), **kwargs}
        found = self._key_of(values)
        try:
            hash(found)
        except TypeError as error:
            raise LaunchError(
                f"the key of {self.kernel.function.__name__} is {found!r}, which cannot be a key: "
                f"{error}"
            ) from None
        return found

    def _key_of(self, values: Mapping[str, Any]) -> Hashable:
        if callable(self.key):
            try:
                return self.key(values)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise LaunchError(f"the function that computes the key failed: {what}") from error
        if self.key is not None:
            return tuple(_part(values.get(name), by_value=True) for name in self.key)
        return tuple(
            _part(values.get(name), by_value=name in self._constants) for name in self.kernel.names
        )

    def __repr__(self) -> str:
        return f"{self.kernel!r}, the best of {len(self.configs)} configurations"


def _device(by: By | None, on_gpu: bool) -> str | None:
    """What trials run on; None where nothing could tell which is best."""
    if by is not None:
        return "simulator"
    if not on_gpu:
        return None
    from tilec.runtime.cuda import gpu  # noqa: PLC0415 (for launches on a GPU)

    return gpu().name


def _part(value: Any, *, by_value: bool) -> Hashable:
    """What an argument adds to the key: of an array its extents and its type."""
    if isinstance(value, np.ndarray):
        if value.ndim:
            return value.shape, value.dtype
        value = value[()]  # a scalar
    if isinstance(value, (tuple, list)):
        return tuple(_part(one, by_value=by_value) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value)]
        return type(value), _part(parts, by_value=by_value)
    shape = getattr(value, "shape", None)
    if shape:
        return tuple(shape), str(value.dtype)
    found: Hashable = value if by_value else type(value).__qualname__
    return found


class TunedLauncher:
    """A tuned kernel on a grid, to be called with its arguments."""

    def __init__(self, tuned: TunedKernel, grid: Grid) -> None:
        self._tuned = tuned
        self._grid = grid

    def __repr__(self) -> str:
        return f"{self._tuned!r}, on a grid, to be called with its arguments"

    def __call__(self, *args: Any, **kwargs: Any) -> Report | None:
        """Run the kernel, and before it all configurations where the best is not known.

        What the kernel changes is put back between their runs.

        Args:
            args: as of a `Kernel`, without the constants that are tried.
            kwargs: the same, by name.

        Raises:
            TilecError: as of a `Kernel`, and if no configuration can be launched.
        """
        return self._tuned.variant(self._grid, args, kwargs).run()


def autotune(
    configs: Iterable[Config],
    *,
    key: Key | None = None,
    by: By | None = None,
    memory: Memory | None = None,
) -> Callable[[Kernel], TunedKernel]:
    """Launch a kernel with the best of several configurations, as `@autotune(…)` above `@kernel`.

    Each is run, for the arguments of a launch, when those are new. What a configuration says are
    constants of the kernel (extents of tiles, `stages=` of a loop, `form=` of a product) and
    settings (`warps`). One that cannot be compiled or launched is left out.

    Args:
        configs: what is tried; each gives the same constants.
        key: which arguments decide, by name: arrays by extents and element type, others by value;
            or a function of all arguments by name that gives what decides. By default all arrays,
            constants, and the types of scalars.
        by: what is best. By default the one that takes the least time on the GPU, by
            `do_bench`; where a launch does not run there, the first is taken, with a warning. Or a
            function of the simulator's report that gives what is to be least, as
            `lambda report: report.sectors`; then it is the simulator that runs them all.
        memory: what remembers trials beyond this process, `tilec.tuning.Memory("tune.sqlite")`;
            what it knows is not tried again, and where there is no GPU, what was timed on one is
            taken.

    Raises:
        TilecError: for configurations that do not fit the kernel.
    """
    made = tuple(configs)
    return lambda kernel: TunedKernel(_checked(kernel, made, key), made, key, by, memory)


def _checked(kernel: Kernel, configs: Sequence[Config], key: Key | None) -> Kernel:
    """The kernel, if it can have these configurations."""
    if not isinstance(kernel, Kernel):
        raise TilecError(f"autotune takes a kernel, not {kernel!r}: write @tilec.kernel below it")
    if not configs:
        raise TilecError("autotune takes one configuration at least")
    constants = [p.name for p in kernel.parameters if isinstance(p, ConstantParameter)]
    for config in configs:
        if not isinstance(config, Config):
            raise TilecError(f"autotune takes tilec.Config objects, not {config!r}")
        for name in config.constants:
            if name not in constants:
                raise UnknownNameError("constant", name, constants)
        if config.constants.keys() != configs[0].constants.keys():
            raise TilecError(
                f"configurations give the same constants; {configs[0]!r} and {config!r} do not"
            )
        kernel.using(**config.settings)
    for name in () if key is None or callable(key) else key:
        if name not in kernel.names:
            raise UnknownNameError("argument", name, kernel.names)
    return kernel
