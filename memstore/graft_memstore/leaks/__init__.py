"""Finds what looks like a secret in a text: where it stands and what it is, never the secret."""
