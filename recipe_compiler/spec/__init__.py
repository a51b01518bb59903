"""Documents, and what they mean."""
