"""The embedder: one GGUF embedding model in memory, texts in, vectors out."""
