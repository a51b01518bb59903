"""What one step computes: its series in the step size, its moments, and what they say about exp(-H)."""
