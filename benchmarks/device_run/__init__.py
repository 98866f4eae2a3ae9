"""What a pack runs beside a GPU: proofs, probes and timings.

Needs numpy, ml_dtypes and the parts of tilec that need no MLIR (`isa`, `layout`, `runtime`, `sim`),
which a pack carries; of CUDA only the driver's own library.
"""
