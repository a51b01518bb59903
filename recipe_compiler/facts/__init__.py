"""Facts about formulas, by one fold over their nodes and a small domain for each property."""
