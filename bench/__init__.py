"""Benchmarks: every figure is a ratio against a rival in the same run, or a plain reading."""
