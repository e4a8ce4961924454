"""The reviewer: who it is, and what they decide of what waits."""
