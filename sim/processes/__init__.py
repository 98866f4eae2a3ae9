"""Waves of a launch that other processes run beside it: `beside` decides, `worker` runs them."""
