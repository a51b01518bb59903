"""The report on a document: the verdict of every claim, caveats and explanations."""
