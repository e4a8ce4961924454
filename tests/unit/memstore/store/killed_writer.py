"""Stores notes until it is killed, and tells the id of each one that was acknowledged."""

import sys
from pathlib import Path

from tests.unit.memstore.room import open_room

if __name__ == "__main__":
    with open_room(Path(sys.argv[1]), watched=False) as room:
        number = 0
        while True:
            stored = room.insert(f"note {number}", "some words " * (number % 300))
            sys.stdout.write(f"{stored.id}\n")
            sys.stdout.flush()
            number += 1
