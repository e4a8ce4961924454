"""What both ends of a wire agree on; imports nothing of ours but generated modules."""
