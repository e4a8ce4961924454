"""Has the system's own manager keep a memstore running: systemd's user units, launchd's agents."""
