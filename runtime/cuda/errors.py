"""What can go wrong between a kernel and a GPU, beside a launch that does not fit."""

from __future__ import annotations

from types import MappingProxyType

from tilec.isa import TilecError

FAULTS = MappingProxyType(
    {
        "CUDA_ERROR_ASSERT": "an assertion in it failed",
        "CUDA_ERROR_CONTAINED": "memory that it used is damaged",
        "CUDA_ERROR_ECC_UNCORRECTABLE": "memory that it used is damaged",
        "CUDA_ERROR_HARDWARE_STACK_ERROR": "its call stack is corrupt, or overflowed",
        "CUDA_ERROR_ILLEGAL_ADDRESS": "it accessed an address where no memory is allocated",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION": "it executed an illegal instruction",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE": "an instruction took an address of another state space",
        "CUDA_ERROR_INVALID_PC": "its program counter left the program",
        "CUDA_ERROR_LAUNCH_FAILED": "it stopped on an exception",
        "CUDA_ERROR_LAUNCH_TIMEOUT": "it ran longer than the system allows",
        "CUDA_ERROR_MISALIGNED_ADDRESS": "it accessed an address that is not aligned",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK": "it did not free its tensor memory",
    }
)
"""The driver's errors that leave a context unusable, in words about the kernel."""


class CudaError(TilecError):
    """CUDA cannot do what was asked."""


class UnavailableError(CudaError):
    """There is no GPU to use: cuda-bindings, the driver, or the GPU itself is missing."""


class DriverError(CudaError):
    """A function of the driver failed.

    Attributes:
        code: the driver's name for the error, such as `CUDA_ERROR_INVALID_VALUE`.
        function: the function.
    """

    def __init__(self, code: str, function: str) -> None:
        self.code = code
        self.function = function
        super().__init__(f"{function} of the CUDA driver returned {code}")


class CaptureError(CudaError):
    """Something was asked that a stream cannot record into a graph.

    Attributes:
        code: the driver's name for the error.
        function: the function that it refused.
    """

    def __init__(self, code: str, function: str) -> None:
        self.code = code
        self.function = function
        super().__init__(
            f"{function} of the CUDA driver returned {code}: a stream is being recorded into a "
            f"graph, which takes only launches on this stream, without a wait, of kernels that "
            f"were launched before with such arguments, whose arrays are on the GPU"
        )


class LoadError(CudaError):
    """A GPU cannot run a module: its target or version is another, or it does not assemble.

    Attributes:
        log: what the driver's assembler wrote.
    """

    def __init__(self, message: str, log: str = "") -> None:
        self.log = log
        super().__init__(f"{message}\n{log}" if log else message)


class OutOfMemoryError(CudaError):
    """A GPU has too little free memory."""


class FaultError(CudaError):
    """A kernel faulted. What the GPU's context held is lost; the next launch begins a new one.

    Attributes:
        code: the driver's name for the error.
        kernel: the kernel that was launched last, or empty.
    """

    def __init__(self, code: str, kernel: str, gpu: str) -> None:
        self.code = code
        self.kernel = kernel
        who = f"kernel '{kernel}'" if kernel else "a kernel of another library"
        super().__init__(
            f"{who} faulted on {gpu}: {FAULTS[code]} ({code}). Arrays on that GPU are lost; the "
            "next launch begins a new context. The simulator names the instruction and the thread"
        )
