"""What the memstore tells Prometheus; imported where that is switched on, and nowhere else."""
