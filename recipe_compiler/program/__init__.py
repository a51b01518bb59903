"""The statements of one step, in index notation."""
