"""What makes tiles of upstream's linalg and vector."""
