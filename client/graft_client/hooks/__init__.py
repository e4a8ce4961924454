"""What coding agents run at their events: bounded, silent, never in the way."""
