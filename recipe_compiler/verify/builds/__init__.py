"""Claims about a build: what it binds, the noise it injects, and the claims of its dynamics at its values."""
