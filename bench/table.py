"""The README's table, made from the committed rows."""

import json
from collections.abc import Iterator

from bench.rows import RESULTS


def table() -> str:
    """Return the rows that have a rival or a target as a Markdown table."""
    lines = ["| what | measured | rival | to reach |", "| --- | --- | --- | --- |"]
    lines += _lines()
    return "\n".join(lines)


def _lines() -> Iterator[str]:
    for line in RESULTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        if not (row["target"] or row["rival"]):
            continue
        rival = (
            f"{row['rival']}: {_figure(row['rival_value'])} {row['unit']}" if row["rival"] else ""
        )
        missed = " — **not reached**" if row["reached"] is False else ""
        yield (
            f"| {row['what']} | {_figure(row['value'])} {row['unit']} "
            f"| {rival} | {row['target']}{missed} |"
        )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
