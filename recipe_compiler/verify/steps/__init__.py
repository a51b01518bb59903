"""Claims about the step of a build: that a word makes the equation, what its pieces keep, its order."""
