"""recipe_compiler: from D(z), Q(z), H(z) to proved, fast, standalone samplers."""
