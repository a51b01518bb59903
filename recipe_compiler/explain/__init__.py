"""Explanations beside a refuted document: how to repair it, and what it samples instead."""
