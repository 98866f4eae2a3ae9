"""What chooses instructions and layouts, and moves conversions between them."""
