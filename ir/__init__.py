"""The floor that the dialects and the passes stand on: MLIR's bindings, with types."""
