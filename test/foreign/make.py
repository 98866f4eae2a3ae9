"""Write the PTX of this suite anew: `python test/foreign/make.py PRODUCER …`.

| producer | wants |
|---|---|
| `nvcc` | NVIDIA's compiler on PATH |
| `clang` | `clang-19` on PATH: Debian's package of that name |
| `numba` | PyPI's numba-cuda, nvidia-cuda-nvcc and nvidia-cuda-nvrtc |
| `triton` | PyPI's triton |
| `warp` | PyPI's warp-lang |
| `halide` | PyPI's halide |
| `iree` | PyPI's iree-base-compiler |
| `tilelang` | PyPI's tilelang, which writes CUDA, and nvcc |

None wants a GPU. The first line of each text says which versions made it.
"""

import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
TARGET = 80


def write(name, producer, ptx):
    """A text, which says first who made it; without comments and what debuggers read."""
    ptx = re.sub(r"^\s*//.*\n|^\s*\n", "", ptx, flags=re.M)
    (HERE / name).write_text(f"// {producer}, by make.py\n{ptx.strip()}\n")


def output(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def release_of_nvcc():
    return re.search(r"release \S+ (\S+)", output("nvcc", "--version"))[1]


def nvcc():
    ptx = output("nvcc", f"-arch=sm_{TARGET}", "-std=c++17", "-ptx", HERE / "samples.cu", "-o", "-")
    write("samples.ptx", f"samples.cu by nvcc {release_of_nvcc()}", ptx)


def clang():
    release = re.search(r"version (\S+)", output("clang-19", "--version"))[1]
    ptx = output(
        "clang-19", "-xcuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "-O2", "-S",
        "--cuda-gpu-arch=sm_90", "-Xclang", "-target-feature", "-Xclang", "+ptx85",
        HERE / "clang.cu", "-o", "-",
    )  # fmt: skip
    write("clang.ptx", f"clang.cu by clang {release}", ptx)


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


def warp():
    import warp as wp

    wp.config.enable_backward = False
    import warp_kernels

    with tempfile.TemporaryDirectory() as folder:
        wp.compile_aot_module(
            warp_kernels, arch=[TARGET], module_dir=folder, use_ptx=True, strip_hash=True
        )
        (path,) = Path(folder).glob("*.ptx")
        ptx = path.read_text().rstrip("\0")
    ptx = ptx.replace("_cuda_kernel_forward", "")
    # Warp's library declares tables for volumes, which no kernel here reads.
    for declaration in re.findall(r"^\.(?:const|global) .*;$", ptx, flags=re.M):
        name = re.search(r"(\w+)(?:\[\d*\])?(?: =|;)", declaration)[1]
        if len(re.findall(rf"\b{re.escape(name)}\b", ptx)) == 1:
            ptx = ptx.replace(declaration + "\n", "")
    write("warp.ptx", f"warp_kernels.py by warp-lang {version('warp-lang')}", ptx)


def halide():
    import halide as hl
    import halide_kernels

    features = "no_runtime-no_asserts-no_bounds_query"
    target = hl.Target(f"x86-64-linux-cuda-cuda_capability_{TARGET}-{features}")
    for make in halide_kernels.KERNELS:
        out, inputs = make()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "host.ll"
            out.compile_to_llvm_assembly(str(path), inputs, make.__name__, target)
            host = path.read_text()
        held = re.search(r'cuda_gpu_source_kernels\.data = .*? c"(.*?)", align', host, re.S)[1]
        ptx = re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), held).rstrip("\0")
        for number, name in enumerate(re.findall(r"\.entry (\w+)", ptx)):
            ptx = ptx.replace(name, make.__name__ + "_again" * number)
        write(
            f"halide_{make.__name__}.ptx", f"halide_kernels.py by halide {version('halide')}", ptx
        )


def iree():
    with tempfile.TemporaryDirectory() as folder:
        output(
            "iree-compile", HERE / "iree.mlir", "--iree-hal-target-device=cuda",
            f"--iree-cuda-target=sm_{TARGET}", f"--iree-hal-dump-executable-binaries-to={folder}",
            "-o", Path(folder) / "module.vmfb",
        )  # fmt: skip
        (path,) = Path(folder).glob("*.ptx")
        ptx = path.read_text()
    for name in re.findall(r"\.entry (\w+)", ptx):
        ptx = ptx.replace(name, name.partition("_dispatch")[0])
    write("iree.ptx", f"iree.mlir by iree-base-compiler {version('iree-base-compiler')}", ptx)


def tilelang():
    import tilelang as compiler
    import tilelang_kernels

    root = Path(compiler.__file__).parent
    includes = ["-I", root / "src", "-I", root / "3rdparty" / "cutlass" / "include"]
    by = f"tilelang_kernels.py by tilelang {version('tilelang')} and nvcc {release_of_nvcc()}"
    for function, arch in tilelang_kernels.KERNELS:
        target = {"kind": "cuda", "arch": arch}
        with compiler.tvm.target.Target(target), tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "kernel.cu"
            source.write_text(compiler.lower(function, target=target).kernel_source)
            options = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-w", *includes]
            ptx = output("nvcc", f"-arch={arch}", *options, "-ptx", source, "-o", "-")
        name = function.attrs["global_symbol"]
        write(f"tilelang_{name}_{arch}.ptx", by, ptx.replace(f"{name}_kernel", name))


PRODUCERS = {
    made.__name__: made for made in (nvcc, clang, numba, triton, warp, halide, iree, tilelang)
}

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    for producer in sys.argv[1:]:
        PRODUCERS[producer]()
