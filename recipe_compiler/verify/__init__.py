"""Claims and how they are decided."""
