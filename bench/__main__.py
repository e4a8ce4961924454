"""Run the benchmarks: ``python -m bench [PART]…``; rows go to bench/results.jsonl."""

import importlib
import sys

from bench.rows import keep, show

PARTS = ("search", "embedder", "service", "upkeep", "mcp", "lifecycle", "hook")


def main(names: list[str]) -> int:
    """Run the named parts, all of them when none is named."""
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        sys.stderr.write(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}\n")
        return 2
    for name in names or PARTS:
        rows = []
        for row in importlib.import_module(f"bench.{name}").measure():
            show(row)
            rows.append(row)
        keep(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
