"""Whether exp(-H) has a finite integral at fixed sizes, for polynomial H."""
