"""A caller that needs the tiny daemon: starts it or finds it, and prints its process id."""

import sys
import time
from pathlib import Path

from graft.wire.launch import ensure_running
from graft.wire.paths import Home

if __name__ == "__main__":
    home, *extra = sys.argv[1:]
    script = str(Path(__file__).with_name("tiny_daemon.py"))
    found = ensure_running(
        Home(root=Path(home)),
        "tiny",
        [sys.executable, script, "--home", home, *extra],
        environ={},
        deadline=time.monotonic() + 60,
    )
    sys.stdout.write(f"{found.pid}\n")
