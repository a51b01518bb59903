"""The report on a document: every claim decided, and what is said beside the verdicts."""
