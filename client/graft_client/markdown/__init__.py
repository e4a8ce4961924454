"""Notes as Markdown files: how one is written, read, named and found."""
