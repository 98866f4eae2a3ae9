"""What tilec is timed beside: PyTorch, which calls cuBLAS, cuDNN and FlashAttention 2; Triton; and
FlashAttention 3 and 2 themselves where they are installed.

A peer works on the same memory. One that is not installed, or that refuses a problem, is left out,
and `refusals` says why.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .compare import Problem, Tensors
from .matrix import Matrix
from .timing import Work

_TORCH = {
    "f16": ("<f2", "float16"),
    "bf16": ("<i2", "bfloat16"),
    "f32": ("<f4", "float32"),
    "i8": ("|i1", "int8"),
    "i32": ("<i4", "int32"),
    "f8E4M3FN": ("|u1", "float8_e4m3fn"),
    "f8E5M2": ("|u1", "float8_e5m2"),
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


class NoPeers:
    """None: for runs of tilec alone."""

    refusals: Mapping[str, str] = {}

    def works(self, problem: Problem, fields: Mapping[str, Any]) -> dict[str, Work]:
        """Nothing."""
        del problem, fields
        return {}


class Peers:
    """The peers that are installed."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self._torch: Any = None
        self._triton: dict[str, Any] = {}
        try:
            import torch

            torch.cuda.init()
            self._torch = torch
        except Exception as error:
            self.refusals["PyTorch"] = str(error)
            return
        try:
            from . import triton_attention, triton_gemm

            self._triton = {"gemm": triton_gemm, "attention": triton_attention}
        except Exception as error:
            self.refusals["Triton"] = str(error)

    def works(self, problem: Problem, fields: Mapping[str, Any]) -> dict[str, Work]:
        """What to time on a problem, by the peer's name."""
        found: dict[str, Work] = {}
        if self._torch is None:
            return found
        for name, make in self._candidates(problem, fields):
            try:
                tensors = [
                    {n: self._tensor(matrix) for n, matrix in matrices.items()}
                    for matrices in problem.sets
                ]
                work = make(tensors)
                work(0)
                self._torch.cuda.synchronize()
            except Exception as error:
                self.refusals[f"{name} on {fields['dtype']}"] = f"{error}".partition("\n")[0]
                continue
            found[name] = work
        return found

    def _tensor(self, matrix: Matrix) -> Any:
        whole = self._torch.as_tensor(_Memory(matrix), device="cuda")
        return whole.view(getattr(self._torch, _TORCH[matrix.element][1]))

    def _candidates(
        self, problem: Problem, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, Callable[..., Work]]]:
        yield from problem.peers(self._torch)
        if fields["work"] == "kernels":
            return
        if fields["work"] != "attention" and fields["sparse"]:
            yield "cuSPARSELt", lambda sets: self._cusparselt(sets, fields)
            return
        if fields["work"] != "attention":
            yield "cuBLAS", lambda sets: self._cublas(sets, fields)
        else:
            for name, backend in (("cuDNN", "CUDNN_ATTENTION"), ("Flash", "FLASH_ATTENTION")):
                yield name, lambda sets, backend=backend: self._sdpa(sets, fields, backend)
            for name, module in (("FA3", "flash_attn_interface"), ("FA2", "flash_attn")):
                yield name, lambda sets, module=module: _flash(sets, fields, module)
        if fields["work"] in self._triton:
            yield "Triton", lambda sets: self._triton[fields["work"]].work(sets, fields)

    def _cublas(self, sets: Tensors, fields: Mapping[str, Any]) -> Work:
        torch = self._torch
        triples = [(s["a"], s["b"].t() if fields["n_by_k"] else s["b"], s["d"]) for s in sets]
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cuda.matmul.allow_fp16_accumulation = fields["dtype"] == "f16-f16"
        one = torch.ones((), device="cuda")

        def work(number: int) -> None:
            a, b, d = triples[number]
            match fields["elements"]["a"]:
                case "i8":
                    torch._int_mm(a, b, out=d)
                case "f8E4M3FN":
                    torch._scaled_mm(a, b, one, one, out_dtype=d.dtype, out=d)
                case _:
                    torch.matmul(a, b, out=d)

        return work

    def _cusparselt(self, sets: Tensors, fields: Mapping[str, Any]) -> Work:
        """On matrices of its own: it has another format."""
        torch = self._torch
        rows, stored = sets[0]["a"].shape
        two = torch.tensor([1, 0, 0, 1], device="cuda", dtype=torch.bool)
        pairs = []
        for s in sets:
            dense = torch.zeros((rows, 2 * stored), dtype=s["a"].dtype, device="cuda")
            dense[:, two.repeat(stored // 2)] = s["a"]
            b = s["b"].t() if fields["n_by_k"] else s["b"]
            pairs.append((torch.sparse.to_sparse_semi_structured(dense), b))

        def work(number: int) -> None:
            torch.mm(*pairs[number])

        return work

    def _sdpa(self, sets: Tensors, fields: Mapping[str, Any], backend: str) -> Work:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        attend = self._torch.nn.functional.scaled_dot_product_attention
        chosen = getattr(SDPBackend, backend)
        heads = [[s[name].unsqueeze(0) for name in "qkv"] for s in sets]

        def work(number: int) -> None:
            with sdpa_kernel(chosen):
                attend(*heads[number], is_causal=bool(fields["causal"]))

        return work


def _flash(sets: Tensors, fields: Mapping[str, Any], module: str) -> Work:
    """FlashAttention's own function, on copies with heads inside of places, as it has them."""
    attend = importlib.import_module(module).flash_attn_func
    given = [[s[name].transpose(0, 1)[None].contiguous() for name in "qkv"] for s in sets]

    def work(number: int) -> None:
        attend(*given[number], causal=bool(fields["causal"]))

    return work
