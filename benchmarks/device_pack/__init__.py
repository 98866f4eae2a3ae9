"""What makes a pack: kernels compiled here, and what they must give there."""
