"""Checks of memory accesses."""
