"""From text to a module: MLIR contexts, and parsing."""
