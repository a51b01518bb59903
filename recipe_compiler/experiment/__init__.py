"""Experiments of papers: documents that name builds, figures of their draws and claims; run, tabled, judged, drawn."""
