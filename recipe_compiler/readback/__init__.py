"""Read-back: the emitted text, read as mathematics, is what was verified, or it is not written."""
