"""Claims about the cycle of moves that one step of a chain is."""
