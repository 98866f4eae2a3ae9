"""Dialects whose classes nobody needs to compile: a module each, for the bindings to find.

When MLIR's bindings first meet an op, a type or an attribute of a dialect, they import the
dialect's Python module for its classes. Those of `llvm` and `nvvm` have a class for each of a
thousand ops, which takes as long to import as all of tilec; with the modules here in their place
such ops are shown as `ir.OpView`, and types and attributes by their base classes. Who imports the
dialect's own module, as by `tilec.mlir.dialect("llvm")`, gets its classes from then on.
"""
