"""Program to text: one standalone module."""
