"""How functions of the state grow: at one end of a coordinate, and far out in all blocks together."""
