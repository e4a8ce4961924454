"""The one governed way in and out: checks, hashes, and the transactions that change notes."""
