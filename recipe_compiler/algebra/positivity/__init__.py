"""Signs of scalars and positive semidefiniteness of matrices of scalars, on a declared domain, decided exactly."""
