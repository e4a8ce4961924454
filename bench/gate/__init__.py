"""What the gate is judged on."""
