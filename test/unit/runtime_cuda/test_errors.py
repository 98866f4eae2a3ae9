"""What goes wrong on the way to a GPU: one error that names kernel or argument and what to do."""

import subprocess
import sys

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError
from tilec.runtime import cuda
from tilec.runtime.cuda.views import view
from tilec.tools import tile_run

X = np.arange(32, dtype=np.float32)


def test_nothing_of_cuda_is_imported():
    code = "import sys\nfrom tilec.runtime import cuda\ncuda.available\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "numpy" in loaded
    assert not loaded & {"cuda", "mlir", "torch_mlir", "llvmlite", "torch"}


def test_without_bindings(no_bindings):
    with pytest.raises(cuda.UnavailableError, match=r"pip install 'tilec\[cuda\]'"):
        cuda.gpu()
    assert not cuda.available()


def test_without_a_driver(fake, monkeypatch):
    def missing(flags):
        raise RuntimeError("libcuda.so.1 not found")

    monkeypatch.setattr(fake, "cuInit", missing)
    with pytest.raises(cuda.UnavailableError, match="no NVIDIA driver is installed"):
        cuda.load(".version 8.0\n.target sm_80")


@pytest.mark.parametrize("code", ["CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_STUB_LIBRARY"])
def test_without_a_gpu(fake, code):
    fake.failing["cuInit"] = code
    with pytest.raises(cuda.UnavailableError, match=f"the driver finds no GPU .{code}"):
        cuda.gpu()


def test_a_driver_that_does_not_start(fake):
    fake.failing["cuInit"] = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    with pytest.raises(cuda.UnavailableError, match="CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"):
        cuda.gpu()


def test_no_such_gpu(fake):
    with pytest.raises(cuda.UnavailableError, match="no GPU 2; there are: 0"):
        cuda.gpu(2)


def test_a_function_that_the_driver_lacks(fake, monkeypatch):
    def missing(func, index):
        raise RuntimeError("Function cuFuncGetParamInfo not found")

    monkeypatch.setattr(fake, "cuFuncGetParamInfo", missing)
    monkeypatch.setattr(fake, "cuModuleGetFunction", lambda hmod, name: fake._answer((1, None, "")))
    with pytest.raises(cuda.UnavailableError, match="too old for cuFuncGetParamInfo"):
        _ = cuda.load(b"\x7fELF\0").kernel("k").parameters


@pytest.mark.parametrize(
    ("target", "gpu", "fits"),
    [
        ("sm_90", (8, 0), False),
        ("sm_80", (9, 0), True),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_100f", (12, 0), False),
        ("sm_100a", (10, 3), False),
        ("sm_80", (99, 0), True),  # an architecture to come
        ("sm_90a", (99, 0), False),
    ],
)
def test_targets(fake, scale, target, gpu, fits):
    fake.limits |= dict(
        zip(("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"), gpu, strict=True)
    )
    ptx = scale.replace("sm_80", target)
    assert cuda.available(tilec.isa.target(target)) == fits
    if fits:
        assert cuda.load(ptx).kernel("scale").registers == 40
    else:
        number = 10 * gpu[0] + gpu[1]
        words = rf"the module is for {target}, which runs on .*Fake H200. is sm_{number}a?; compile"
        with pytest.raises(cuda.LoadError, match=words):
            cuda.load(ptx)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            r"PTX 8\.0, newer than.*CUDA 13\.0; update the driver",
        ),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", "no code for GPU 0 .Fake H200.; compile it for sm_90a"),
        ("CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "load a cubin"),
        ("CUDA_ERROR_INVALID_PTX", r"refuses the module for GPU 0 .*, sm_90a:\nptxas says no"),
        ("CUDA_ERROR_INVALID_IMAGE", "neither PTX nor a binary"),
        ("CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "does not load the module on GPU 0"),
    ],
)
def test_modules_that_do_not_load(fake, scale, code, words):
    fake.logs["CU_JIT_ERROR_LOG_BUFFER"] = b"ptxas says no"
    fake.failing["cuModuleLoadDataEx"] = code
    with pytest.raises(cuda.LoadError, match=words) as caught:
        cuda.load(scale).kernel()
    assert caught.value.log == "ptxas says no"
    assert cuda.load(scale).kernel().name == "scale"  # the next one does


def test_the_assemblers_remarks_are_kept(fake, scale):
    fake.logs["CU_JIT_INFO_LOG_BUFFER"] = b"ptxas info : 40 registers"
    module = cuda.load(scale)
    module.kernel()
    assert module.log == "ptxas info : 40 registers"


def test_text_that_is_no_ptx(fake):
    with pytest.raises(cuda.LoadError, match="the text is not PTX"):
        cuda.load("gpu.module @m {}")


def test_kernels_that_are_not_there(fake, scale):
    with pytest.raises(LaunchError, match="no kernel 'scal'; it has scale"):
        cuda.load(scale).kernel("scal")
    with pytest.raises(LaunchError, match=r"which kernel.*scale, other"):
        cuda.load(scale + scale[scale.index(".visible") :].replace("scale", "other")).kernel()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([X, X], "kernel 'scale' takes 3 arguments .*, not 2"),
        ([X, X, X], "argument 2 is a pointer and parameter 'factor' of .f32 is not"),
        ([X, 1.5, 1.0], "argument 1 is 1.5; parameter 'x' takes an integer"),
        ([X, "x", 1.0], "argument 1 is 'x'; parameter 'x' takes a .u64"),
        ([X, X[::-1], 1.0], "argument 1 has strides .*numpy.ascontiguousarray"),
    ],
)
def test_arguments_that_do_not_fit(fake, kernel, arguments, words):
    with pytest.raises(LaunchError, match=words):
        kernel.launch(1, 32, arguments)
    assert not fake.memory
    assert not fake.named("cuLaunchKernelEx")


@pytest.mark.parametrize(
    ("extents", "options", "words"),
    [
        (((1, 1 << 16), 32), {}, r"a grid of \(1, 65536, 1\); at most \(2147483647, 65535"),
        ((0, 32), {}, "grid is 0; it takes one to three positive"),
        ((1, 64), {}, r"kernel 'scale' requires blocks of \(32, 1, 1\)"),
        ((1, 32), {"dynamic_smem": 1 << 18}, "262144 bytes of shared memory.*232448 per CTA"),
        (
            (3, 32),
            {"cluster": 2},
            "a grid of 3 CTAs along x is not a whole number of clusters of 2",
        ),
        ((1, 32), {"stream": "main"}, "stream is 'main'"),
    ],
)
def test_extents_that_do_not_fit(kernel, extents, options, words):
    with pytest.raises(LaunchError, match=words):
        kernel.launch(*extents, [X, X, 1.0], **options)


def test_too_many_threads_for_the_registers(fake, scale):
    kernel = cuda.load(scale.replace(".reqntid 32, 1, 1", "")).kernel()
    with pytest.raises(
        LaunchError, match="a CTA of 2048 threads; kernel 'scale', with 40 registers"
    ):
        kernel.launch(1, 2048, [X, X, 1.0])


def test_no_clusters(fake, kernel):
    fake.limits["CLUSTER_LAUNCH"] = 0
    with pytest.raises(LaunchError, match="has no clusters; sm_90 and later have"):
        kernel.launch(2, 32, [X, X, 1.0], cluster=2)


def test_what_the_driver_refuses(fake, kernel):
    fake.failing["cuLaunchKernelEx"] = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
    words = r"refuses kernel 'scale' .CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES. with grid \(1, 1, 1\)"
    with pytest.raises(LaunchError, match=words):
        kernel.launch(1, 32, [X, X, 1.0])
    assert not fake.memory


def test_memory_that_is_full(fake, kernel):
    fake.failing["cuMemAlloc"] = "CUDA_ERROR_OUT_OF_MEMORY"
    words = "argument 0 takes 128 bytes; GPU 0 .Fake H200. has 1073741824 bytes of free memory"
    with pytest.raises(cuda.OutOfMemoryError, match=words):
        kernel.launch(1, 32, [X.copy(), X, 1.0])
    with pytest.raises(cuda.OutOfMemoryError, match="the array takes 4398046511104 bytes"):
        cuda.Array((1 << 20, 1 << 20))
    kernel.launch(1, 32, [X.copy(), X, 1.0])


def test_memory_of_nobody(fake, kernel):
    known = cuda.Array.of(X).__cuda_array_interface__ | {"data": (0x1234, False)}
    alien = type("Alien", (), {"__cuda_array_interface__": known})()
    with pytest.raises(
        LaunchError, match="argument 0 has the address 0x1234, which is not in a GPU"
    ):
        kernel.launch(1, 32, [alien, X, 1.0])


def test_a_bound_launch_takes_no_arrays_of_the_host(fake, kernel):
    with pytest.raises(
        LaunchError, match=r"takes arrays on the GPU; tilec\.runtime\.cuda\.Array\.of"
    ):
        kernel.bind(1, 32, [X, X, 1.0])
    assert not fake.memory


def test_an_array_takes_its_own_shape_and_type(fake):
    with pytest.raises(LaunchError, match=r"float64 \(32,\) does not fill one of float32 \(32,\)"):
        cuda.Array.of(X).fill(X.astype(np.float64))


# Faults


def test_a_fault_names_the_kernel_and_the_next_launch_works(fake, kernel):
    held, stream = cuda.Array.of(X), cuda.Stream()
    bound = kernel.bind(1, 32, [held, held, 1.0])
    fake.faulting["scale"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    y = np.zeros_like(X)
    words = r"kernel 'scale' faulted on GPU 0 .*no memory is allocated .CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(cuda.FaultError, match=words) as caught:
        kernel.launch(1, 32, [y, X, 2.0])
    assert (caught.value.code, caught.value.kernel) == ("CUDA_ERROR_ILLEGAL_ADDRESS", "scale")
    fake.faulting.clear()
    kernel.launch(1, 32, [y, X, 2.0])
    assert (y == 2 * X).all()
    assert len(fake.named("cuDevicePrimaryCtxReset")) == 1
    # What was in the old context is lost, and says so.
    with pytest.raises(cuda.CudaError, match="the array was lost when the context of GPU 0"):
        held.numpy()
    with pytest.raises(LaunchError, match="argument 1 was lost"):
        kernel.launch(1, 32, [y, held, 2.0])
    with pytest.raises(cuda.CudaError, match="the stream was lost"):
        stream.synchronize()
    with pytest.raises(LaunchError, match="the stream was lost"):
        kernel.launch(1, 32, [y, X, 2.0], stream=stream)
    with pytest.raises(LaunchError, match="bind it again"):
        bound()
    stream.close()
    held.close()


def test_nothing_of_the_old_context_is_launched(fake, kernel):
    """Though the new one begins with that very launch."""
    compiled = tilec.compile(
        "gpu.module @m { gpu.func @k(%a: memref<32xf32>) kernel { gpu.return } }"
    )
    for launch in (
        lambda held, stream: kernel.launch(1, 32, [X.copy(), X, 2.0], stream=stream),
        lambda held, stream: kernel.launch(1, 32, [X.copy(), held, 2.0]),
        lambda held, stream: compiled.launch(held, grid=1, block=1),
    ):
        held, stream = cuda.Array.of(X), cuda.Stream()
        fake.faulting["scale"] = "CUDA_ERROR_LAUNCH_FAILED"
        with pytest.raises(cuda.FaultError):
            kernel.launch(1, 32, [X.copy(), X, 2.0])
        fake.faulting.clear()
        with pytest.raises(LaunchError, match="was lost"):
            launch(held, stream)


def test_a_fault_that_shows_later(fake, kernel):
    x, stream = cuda.Array.of(X), cuda.Stream()
    fake.faulting["scale"] = "CUDA_ERROR_MISALIGNED_ADDRESS"
    kernel.launch(1, 32, [x, x, 2.0], stream=stream)
    for wait in (stream.synchronize, x.numpy):
        with pytest.raises(cuda.FaultError, match=r"kernel 'scale'.*not aligned"):
            wait()
    cuda.gpu().synchronize()  # of a new context, in which nothing runs
    assert x.lost


def test_shared_memory_is_opted_in_to_again(fake, kernel):
    kernel.occupancy(32, 100 * 1024)
    cuda.gpu().reset()
    kernel.occupancy(32, 100 * 1024)
    assert len(fake.named("cuFuncSetAttribute")) == 2


def test_a_gpu_that_does_not_come_back(fake, kernel):
    fake.faulting["scale"] = "CUDA_ERROR_ILLEGAL_INSTRUCTION"
    with pytest.raises(cuda.FaultError):
        kernel.launch(1, 32, [X.copy(), X, 2.0])
    fake.failing["cuDevicePrimaryCtxReset"] = "CUDA_ERROR_UNKNOWN"
    with pytest.raises(cuda.CudaError, match="start a new process"):
        kernel.launch(1, 32, [X.copy(), X, 2.0])


# Compiled programs and the command line


def test_devices(fake):
    compiled = tilec.compile(
        "gpu.module @m { gpu.func @k(%a: memref<4xf32>) kernel { gpu.return } }"
    )
    x = np.zeros(4, np.float32)
    with pytest.raises(tilec.TilecError, match="unknown device 'gpu'; legal: cuda, sim"):
        compiled.launch(x, grid=1, block=1, device="gpu")
    with pytest.raises(LaunchError, match="argument 0 is on a GPU; the simulator takes numpy"):
        compiled.launch(cuda.Array.of(x), grid=1, block=1, device="sim")
    with pytest.raises(LaunchError, match="does not fix its block"):
        compiled.launch(x, grid=1)
    with pytest.raises(LaunchError, match="no kernel 'j'; nearest: k"):
        compiled.launch(x, grid=1, kernel="j")
    with pytest.raises(
        LaunchError, match="argument 0 has elements of float64; the kernel takes f32"
    ):
        compiled.launch(x.astype(np.float64), grid=1, block=1)
    with pytest.raises(LaunchError, match=r"argument 0 is 3 with strides \[1\]; .* takes 4xf32"):
        compiled.launch(x[:3], grid=1, block=1)
    with pytest.raises(LaunchError, match="sm_80 has no clusters"):
        compiled.launch(x, grid=2, block=1, device="sim", cluster=2)
    assert compiled.launch(x, grid=1, block=1) is None
    fake.limits["COMPUTE_CAPABILITY_MAJOR"] = 7  # older than sm_80
    cuda.device._known.cache_clear()
    assert compiled.launch(x, grid=1, block=1).kernel == "k"


@pytest.fixture
def command(tmp_path, scale, capsys):
    """`tile-run` on the kernel; its exit code, standard output and standard error."""
    file = tmp_path / "scale.ptx"
    file.write_text(scale)

    def run(*options):
        arguments = ["--arg", "zeros:32", "--arg", "arange:32", "--arg", "2"]
        code = tile_run.main([str(file), *arguments, *options])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_the_command_runs_on_a_gpu(fake, command, tmp_path, device):
    out = tmp_path / "y.npy"
    assert command("--device", device, "--out", f"0={out}") == (0, "ran on GPU 0 (Fake H200)\n", "")
    assert (np.load(out) == 2 * X).all()
    assert '"device": "GPU 0 (Fake H200)"' in command("--report", "json")[1]


def test_the_command_without_a_gpu(no_bindings, command):
    code, printed, error = command("--device", "cuda")
    assert (code, printed) == (1, "")
    assert error.startswith("error: CUDA needs cuda-bindings")
    assert error.count("\n") == 1
    assert command()[0] == 0  # on the simulator


def test_what_only_the_simulator_does(fake, command):
    assert command("--lines")[0] == 0
    assert not fake.named("cuLaunchKernelEx")
    assert "--no-checks is only for the simulator" in command("--device", "cuda", "--no-checks")[2]


def test_elements_of_no_bytes(fake):
    x = cuda.Array.of(X)
    interface = x.__cuda_array_interface__ | {"typestr": "|V0", "strides": (0,)}
    odd = type("Odd", (), {"__cuda_array_interface__": interface})()
    with pytest.raises(LaunchError, match=r"x has elements of dtype\('V'\), of no bytes"):
        view(odd, "x")
