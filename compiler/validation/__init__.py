"""Passes that prove themselves: what a kernel computes before and after each, on drawn inputs."""
