"""What passes know of a program without changing it."""
