"""Compiles `kernels.py` to PTX, in a process of its own: Triton brings an LLVM of its own.

Each line of standard input is a JSON object with `kernel`, `signature` (types of the arguments
that are not constexprs), `aligned` (the numbers of those known to be divisible by 16),
`constexprs`, `capability` and `options`; each answer one with `ptx`, `name`, `shared`
(bytes of dynamic shared memory) and `threads`, or `error`.
"""

import json
import sys

import kernels
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource


class PtxReached(BaseException):
    """Carries the PTX out of Triton's compiler before it calls ptxas."""


def stop(_self, src, metadata, *_):
    raise PtxReached(src, metadata)


def compiled(request):
    function = getattr(kernels, request["kernel"])
    constexprs = {
        name: getattr(tl, value[3:]) if str(value).startswith("tl.") else value
        for name, value in request["constexprs"].items()
    }
    runtime = [name for name in function.arg_names if name not in constexprs]
    types = dict(zip(runtime, request["signature"], strict=True))
    order = function.arg_names
    source = ASTSource(
        fn=function,
        signature={name: types.get(name, "constexpr") for name in order},
        constexprs=constexprs,
        attrs={
            (order.index(runtime[number]),): [["tt.divisibility", 16]]
            for number in request["aligned"]
        },
    )
    try:
        triton.compile(
            source,
            target=GPUTarget("cuda", request["capability"], 32),
            options=request["options"],
        )
    except PtxReached as reached:
        ptx, metadata = reached.args
        return {
            "ptx": ptx,
            "name": metadata["name"],
            "shared": metadata["shared"],
            "threads": 32 * metadata["num_warps"],
        }
    raise AssertionError("Triton made no PTX")


def main():
    CUDABackend.make_cubin = stop
    for line in sys.stdin:
        try:
            answer = compiled(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
