"""What tilec is timed beside: cuBLAS, cuDNN and cuSPARSELt through PyTorch, and Triton.

A peer works on the same memory. One that is not installed, or that refuses a problem, is left out,
and `refusals` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .matrix import Matrix
from .timing import Work

if TYPE_CHECKING:
    from .gemm import Problem

_TORCH = {
    "f16": ("<f2", "float16"),
    "bf16": ("<i2", "bfloat16"),
    "f32": ("<f4", "float32"),
    "i8": ("|i1", "int8"),
    "i32": ("<i4", "int32"),
    "f8E4M3FN": ("|u1", "float8_e4m3fn"),
}
"""By MLIR's element type: numpy's type string of so many bytes, and PyTorch's type."""


class _Memory:
    """The GPU's memory as `__cuda_array_interface__` describes it."""

    def __init__(self, matrix: Matrix) -> None:
        self.__cuda_array_interface__ = {
            "shape": matrix.shape,
            "typestr": _TORCH[matrix.element][0],
            "data": (matrix.pointer, False),
            "version": 3,
        }


class Peers:
    """The peers that are installed."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self._torch: Any = None
        self._triton: Any = None
        try:
            import torch

            torch.cuda.init()
            self._torch = torch
        except Exception as error:
            self.refusals["cuBLAS"] = str(error)
            return
        try:
            from . import triton_gemm

            self._triton = triton_gemm
        except Exception as error:
            self.refusals["Triton"] = str(error)

    def tensor(self, matrix: Matrix) -> Any:
        """A matrix as PyTorch sees it."""
        name = _TORCH[matrix.element][1]
        whole = self._torch.as_tensor(_Memory(matrix), device="cuda")
        return whole.view(getattr(self._torch, name))

    def works(self, problem: Problem, fields: Mapping[str, Any]) -> dict[str, Work]:
        """What to time on a problem, by the peer's name."""
        found: dict[str, Work] = {}
        if self._torch is None:
            return found
        for name, make in self._candidates(fields):
            try:
                tensors = [
                    {n: self.tensor(matrix) for n, matrix in matrices.items()}
                    for matrices in problem.sets
                ]
                work = make(tensors)
                work(0)
                self._torch.cuda.synchronize()
            except Exception as error:
                self.refusals[f"{name} on {fields['dtype']}"] = str(error).splitlines()[0]
                continue
            found[name] = work
        return found

    def _candidates(
        self, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, Callable[[list[Any]], Work]]]:
        n_by_k = fields["n_by_k"]
        element = fields["elements"]["a"]
        yield "cuBLAS", lambda sets: self._cublas(sets, element, n_by_k)
        if self._triton is not None:
            yield "Triton", lambda sets: self._triton.work(sets, fields["dtype"], n_by_k)

    def _cublas(self, sets: list[Any], element: str, n_by_k: bool) -> Work:
        torch = self._torch
        pairs = [(s["a"], s["b"].t() if n_by_k else s["b"], s["d"]) for s in sets]
        match element:
            case "i8":

                def work(number: int) -> None:
                    a, b, d = pairs[number]
                    torch._int_mm(a, b, out=d)

            case "f8E4M3FN":
                one = torch.ones((), device="cuda")

                def work(number: int) -> None:
                    a, b, d = pairs[number]
                    torch._scaled_mm(a, b, one, one, out_dtype=d.dtype, out=d)

            case _:
                torch.backends.cuda.matmul.allow_tf32 = True

                def work(number: int) -> None:
                    a, b, d = pairs[number]
                    torch.matmul(a, b, out=d)

        return work


class NoPeers:
    """None: for runs of tilec alone."""

    refusals: Mapping[str, str] = {}

    def works(self, problem: Problem, fields: Mapping[str, Any]) -> dict[str, Work]:
        """Nothing."""
        del problem, fields
        return {}
