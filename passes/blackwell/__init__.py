"""What passes on programs for Blackwell decide by, and what they make."""
