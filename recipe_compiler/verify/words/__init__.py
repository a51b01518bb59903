"""What is claimed of a word, for every dynamics."""
