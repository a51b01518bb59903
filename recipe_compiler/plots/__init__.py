"""Pictures of a run, made of its data tree alone: chains, posterior, and what was forecast of both."""
