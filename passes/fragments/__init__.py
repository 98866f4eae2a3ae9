"""What takes the tiles of a CTA apart into the fragments of its warps."""
