"""What the data of a build show: facts decided exactly, and the finite integrals that follow from them."""
