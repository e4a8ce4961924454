"""Reading pasted errors: their lines, what failed, where, and what of it is the same elsewhere."""
