"""Write the PTX of this suite anew: `python test/foreign/make.py nvcc|numba|triton …`.

`nvcc` wants NVIDIA's compiler on PATH; `numba` the packages numba-cuda, nvidia-cuda-nvcc and
nvidia-cuda-nvrtc; `triton` the package triton. None wants a GPU. The first line of each text says
which versions made it.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
TARGET = 80


def write(name, producer, ptx):
    """A text, which says first who made it; without comments and what debuggers read."""
    ptx = re.sub(r"^\s*//.*\n|^\s*\n", "", ptx, flags=re.M)
    (HERE / name).write_text(f"// {producer}, by make.py\n{ptx.strip()}\n")


def nvcc():
    said = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    release = re.search(r"release \S+ (\S+)", said)[1]
    command = ["nvcc", f"-arch=sm_{TARGET}", "-std=c++17", "-ptx", HERE / "samples.cu", "-o", "-"]
    ptx = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    write("samples.ptx", f"samples.cu by nvcc {release}", ptx)


def numba():
    import numba_kernels
    from numba import cuda

    parts = []
    for function, signature in numba_kernels.KERNELS.items():
        ptx, _ = cuda.compile_ptx(function, signature, cc=(TARGET // 10, TARGET % 10))
        mangled = re.search(r"\.entry (\w+)", ptx)[1]
        ptx = ptx.replace(mangled, function.__name__)
        ptx = re.sub(r"_ZN08NumbaEnv\w+", f"{function.__name__}_environment", ptx)
        parts.append(ptx if not parts else ptx[ptx.index(".address_size 64") + 16 :])
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "numba-cuda"))
    write("numba.ptx", f"numba_kernels.py by {versions}", "\n".join(parts))


class PtxReached(BaseException):
    """Carries the PTX out of Triton's compiler before it calls ptxas."""


def triton():
    import triton as compiler
    import triton_kernels
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler import ASTSource

    def stop(_self, src, metadata, *_):
        raise PtxReached(src, metadata)

    CUDABackend.make_cubin = stop
    shared = {}
    for name, (types, constants, warps) in triton_kernels.KERNELS.items():
        function = getattr(triton_kernels, name)
        given = iter(types.split())
        names = function.arg_names
        signature = {n: "constexpr" if n in constants else next(given) for n in names}
        aligned = [n for n in names if signature[n].startswith("*")]
        attrs = {(names.index(n),): [["tt.divisibility", 16]] for n in aligned}
        source = ASTSource(function, signature, constants, attrs)
        options = {"num_warps": warps}
        try:
            compiler.compile(source, target=GPUTarget("cuda", TARGET, 32), options=options)
        except PtxReached as reached:
            ptx, metadata = reached.args
        shared[name] = metadata["shared"]
        ptx = re.sub(r"^\s*\.section[\s\S]*?^\s*\}|^\s*\.(file|loc).*\n", "", ptx, flags=re.M)
        write(f"triton_{name}.ptx", f"triton_kernels.py by triton {version('triton')}", ptx)
    (HERE / "triton_shared.json").write_text(json.dumps(shared, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    for producer in sys.argv[1:]:
        {"nvcc": nvcc, "numba": numba, "triton": triton}[producer]()
