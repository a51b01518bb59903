"""An evaluator of documents that imports nothing of this package: the second opinion, and the checker's engine."""
