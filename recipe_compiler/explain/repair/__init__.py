"""What to change in a document whose claim is refuted."""
