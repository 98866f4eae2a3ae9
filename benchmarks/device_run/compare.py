"""Kernels of tilec beside their peers: on the same memory, in turns, checked."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from .arguments import launched, values
from .driver import Cuda, DeviceError
from .machine import Sampler
from .matrix import Matrix
from .pack import Pack
from .timing import Time, Work, measure

Row = dict[str, Any]

Tensors = list[dict[str, Any]]
"""PyTorch's views of the sets of a problem."""

MEMORY = 24 << 30
"""Bytes that the matrices of one problem may take."""

SETS = 12
"""Sets of inputs, at most."""


class Problem(ABC):
    """What is computed, on several sets of matrices, so that L2 holds none between two uses.

    Attributes:
        shape: as tables show it.
        flops: of one launch.
        sets: matrices by the name of the argument.
        scalars: values of the other arguments by name.
    """

    shape: Sequence[int]
    flops: int
    sets: list[dict[str, Matrix]]
    scalars: Mapping[str, float] = {}

    @abstractmethod
    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs of a kernel."""

    @abstractmethod
    def error(self) -> float:
        """How far the first set's result is from numpy's, where it is looked at."""

    def free(self) -> None:
        """Give the memory back."""
        with suppress(DeviceError):  # of a context that a fault has ended
            for matrices in self.sets:
                for matrix in matrices.values():
                    matrix.free()

    def prepare(self, number: int) -> None:
        """What a launch on a set of matrices needs before it, as part of its time."""
        del number

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """What PyTorch and others offer for this: a name, and what makes launches on tensors."""
        del torch
        return iter(())


class Peers(Protocol):
    """What kernels are compared with."""

    def works(self, problem: Any, fields: Mapping[str, Any]) -> dict[str, Work]:
        """What to time on a problem, by name."""


def set_count(cuda: Cuda, inputs: int, whole: int) -> int:
    """Sets of matrices whose inputs together are three times L2, if there is room.

    Args:
        cuda: the GPU.
        inputs: bytes that one set is read from.
        whole: bytes of one set.
    """
    wanted = -(-3 * cuda.limits["l2_bytes"] // inputs)
    return max(1, min(SETS, wanted, MEMORY // whole))


class Kernel:
    """A kernel of the pack, loaded.

    Args:
        cuda: the GPU.
        pack: where it is.
        fields: what the pack says of it.
    """

    def __init__(self, cuda: Cuda, pack: Pack, fields: Mapping[str, Any]) -> None:
        self._cuda = cuda
        self.fields = fields
        name = f"kernels/{fields['name']}.ptx"
        module = cuda.load_any(pack.assembled(name), pack.text(name))
        self.function = cuda.function(module, fields["kernel"], fields["dynamic_shared"])

    def work(self, problem: Problem) -> Work:
        """Launches on the sets of a problem."""
        return Chain(self.fields, [self]).work(problem)

    def steps(self, problem: Problem) -> Work:
        """The same without what a launch needs before it."""
        grid = problem.grid(self.fields)
        arguments, encode = self.fields["arguments"], self._cuda.tensor_map
        ready = [values(arguments, one, problem.scalars, grid, encode) for one in problem.sets]
        ctas = launched(self.fields, grid, self._cuda.limits["multiprocessors"])

        def launch(number: int) -> None:
            self._cuda.launch(self.function, ctas, self.fields["block"], ready[number])

        return launch


class Chain:
    """Kernels that run one after the other for one result; what a `Kernel` is to `compare`.

    Args:
        fields: what the pack says of all together.
        kernels: in their order.

    Attributes:
        function: the one that takes the most registers.
    """

    def __init__(self, fields: Mapping[str, Any], kernels: Sequence[Kernel]) -> None:
        self.fields = fields
        self.function = max((one.function for one in kernels), key=lambda one: one.registers)
        self._kernels = kernels

    def work(self, problem: Problem) -> Work:
        """Launches on the sets of a problem."""
        steps = [kernel.steps(problem) for kernel in self._kernels]

        def launch(number: int) -> None:
            problem.prepare(number)
            for step in steps:
                step(number)

        return launch


class Loaded:
    """Kernels of a pack that do one kind of work, each loaded when it is first asked for.

    Attributes:
        described: what the pack says of each.
        dtypes: of them all, in order.
    """

    def __init__(self, cuda: Cuda, pack: Pack, work: str) -> None:
        self._cuda, self._pack = cuda, pack
        self._kernels: dict[str, Kernel] = {}
        self.described = [fields for fields in pack.kernels() if fields["work"] == work]
        self.dtypes = list(dict.fromkeys(fields["dtype"] for fields in self.described))

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            (fields,) = (one for one in self.described if one["name"] == name)
            self._kernels[name] = Kernel(self._cuda, self._pack, fields)
        return self._kernels[name]


def compare(
    cuda: Cuda,
    problem: Problem,
    kernels: Sequence[Kernel | Chain],
    peers: Peers,
    rounds: int,
    sampler: Sampler,
) -> Iterator[Row]:
    """A row for each kernel; the problem's memory is given back."""
    try:
        works = {kernel.fields["name"]: kernel.work(problem) for kernel in kernels}
        errors = {}
        for name, work in works.items():
            work(0)
            cuda.synchronize()
            errors[name] = problem.error()
        others = peers.works(problem, kernels[0].fields)
        start = time.monotonic()
        times = measure(cuda, {**works, **others}, len(problem.sets), rounds)
        clocks = sampler.since(start)
        for kernel in kernels:
            error = errors[kernel.fields["name"]]
            yield {**_row(kernel, problem, times, list(others), error), "clocks": clocks}
    except (DeviceError, ValueError) as error:
        what = f"{kernels[0].fields['dtype']} {'x'.join(map(str, problem.shape))}"
        yield {"failure": f"{what}: {error}"}
    finally:
        problem.free()


def _row(
    kernel: Kernel | Chain,
    problem: Problem,
    times: Mapping[str, Time],
    others: list[str],
    error: float,
) -> Row:
    fields = kernel.fields
    mine = times[fields["name"]]

    def rate(time_: Time) -> float:
        return round(problem.flops / time_.median / 1e9, 3)

    peers = {name: {"ms": times[name].median, "tflops": rate(times[name])} for name in others}
    best = max(others, key=lambda name: peers[name]["tflops"], default=None)
    return {
        "work": fields["work"],
        "kernel": fields["name"],
        "dtype": fields["dtype"],
        "shape": list(problem.shape),
        "ms": mine.median,
        "ms_least": mine.least,
        "ms_most": mine.most,
        "tflops": rate(mine),
        "peer": best,
        "peer_tflops": peers[best]["tflops"] if best else None,
        "peers": peers,
        "error": error,
        "right": error <= fields["tolerance"],
        "registers": kernel.function.registers,
        "local_bytes": kernel.function.local_bytes,
        "configuration": fields["configuration"],
        "level": fields["level"],
        "sets": len(problem.sets),
    }
