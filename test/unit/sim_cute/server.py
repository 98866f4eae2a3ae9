"""Compiles `kernels.py` and `attention.py` to PTX, in a process of its own.

The CuTe DSL brings an MLIR of its own.

Each line of standard input is a JSON object with `kernel` and what it is made of, as its class
takes it; each answer one with `ptx`, `name`, `shared` (bytes of dynamic shared memory) and
`threads`, or `error`.
"""

import contextlib
import json
import re
import sys

from attention import Attention
from cutlass import cute
from kernels import KERNELS

CLASSES = {**KERNELS, "attention": Attention}


def compiled(request):
    kernel = CLASSES[request.pop("kernel")](**request)
    ptx = cute.compile(kernel, *kernel.arguments).__ptx__
    (name,) = re.findall(r"\.entry (\w+)\(", ptx)
    return {"ptx": ptx, "name": name, "shared": kernel.shared, "threads": kernel.threads}


def main():
    answers = sys.stdout
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                answer = compiled(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


main()
