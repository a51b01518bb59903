"""The second engine's scalars: entries of formulas, their values, derivatives, quotients."""
