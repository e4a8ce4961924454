"""What the memory gave, as one self-contained page with charts that are read without colour."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape

from graft_client.analytics_reports import Analytics, HitCounts, NamedCounts, ReusedNote
from graft_client.cli.words import count_of, duration
from graft_client.results import short_id

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 220, 48, 28
BARS_MAX = 120
"""Bars of a chart; more days are put together."""
LEVELS = ("strong", "weak", "miss")
_LABELS = 6
_GRID = 4

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #8884; --fill: #0b6bcb; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16191d; --fill: #6cb2f5; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 780px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 11px; }
.strong { fill: var(--fill); } .weak { fill: url(#stripes); } .miss { fill: none; }
.weak, .miss, .strong { stroke: var(--ink); stroke-width: .7; }
.grid { stroke: var(--line); } .rate { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.key svg { width: 1em; height: 1em; vertical-align: -.1em; }
"""
# Levels differ by their pattern: filled, striped, empty.
_PATTERNS = (
    '<defs><pattern id="stripes" width="5" height="5" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><line y2="5" stroke="var(--fill)" stroke-width="4"/></pattern>'
    "</defs>"
)


def summary_of(found: Analytics, seconds_per_hit: int) -> list[str]:
    """Say in a few lines what was given."""
    hits = found.hits
    rate = f" ({rate_of(hits)})" if rate_of(hits) else ""
    asked = count_of(total_of(hits), "question")
    saved = duration(found.strong_given * seconds_per_hit)
    given = count_of(found.notes_given, "note")
    lines = [
        f"{asked}: {hits.strong:,} STRONG{rate}, {hits.weak:,} WEAK, {hits.miss:,} MISS",
        f"about {saved} saved, on the assumption of {seconds_per_hit} s for each STRONG answer",
        f"{given} reused; {found.degraded:,} answered without the model",
    ]
    if found.misses_kept:
        lines.append(f"misses: {found.misses_closed:,} closed, {found.misses_open:,} open")
    return lines


def figures_of(hits: HitCounts) -> tuple[str, str, str, str]:
    """Write how many answers of each level there were, and the share of STRONG ones."""
    return f"{hits.strong:,}", f"{hits.weak:,}", f"{hits.miss:,}", rate_of(hits)


def rate_of(hits: HitCounts) -> str:
    """Write the share of STRONG answers; nothing of no answers."""
    return "" if hits.hit_rate is None else f"{hits.hit_rate:.0%}"


def name_of(group: NamedCounts) -> str:
    """Name a scope, an agent or a door."""
    return group.name or "(none named)"


def title_of(note: ReusedNote) -> str:
    """Give the title of a note that was given often."""
    return note.title or "(not shown now)"


def total_of(hits: HitCounts) -> int:
    """Count answers of all levels."""
    return hits.strong + hits.weak + hits.miss


def page_of(found: Analytics, seconds_per_hit: int, at: datetime) -> str:
    """Return the page; nothing in it is fetched from anywhere."""
    facts = "".join(f"<li>{escape(each)}</li>" for each in summary_of(found, seconds_per_hit))
    parts = [
        "<h1>What the memory gave</h1>",
        f"<p>{at:%Y-%m-%d %H:%M} UTC</p>",
        f"<ul>{facts}</ul>",
    ]
    if total_of(found.hits):
        bars = _bars(found)
        parts += ["<h2>Answers by day</h2>", _key(), _chart(bars)]
        parts += ["<h2>Hit rate by day</h2>", _rates(bars)]
    parts += [
        _table("Scopes", found.scopes),
        _table("Agents", found.agents),
        _table("Doors", found.doors),
        _latency(found),
        _reused(found),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">"
        f"<title>Graft: what the memory gave</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


Bar = tuple[str, HitCounts]


def _bars(found: Analytics) -> list[Bar]:
    """Put days together until they fit."""
    size = -(-len(found.days) // BARS_MAX)
    pieces = [found.days[begin : begin + size] for begin in range(0, len(found.days), size)]
    bars = []
    for piece in pieces:
        strong, weak, miss = (sum(getattr(each.hits, level) for each in piece) for level in LEVELS)
        total = strong + weak + miss
        counts = HitCounts(
            strong=strong, weak=weak, miss=miss, hit_rate=strong / total if total else None
        )
        first, last = piece[0].day, piece[-1].day
        name = f"{first:%Y-%m-%d}" + ("" if first == last else f" to {last:%Y-%m-%d}")
        bars.append((name, counts))
    return bars


def _chart(bars: Sequence[Bar]) -> str:
    """Draw stacked bars, STRONG at the bottom; each says its figures to who points at it."""
    most = max(total_of(each) for _, each in bars) or 1
    step, drawn = _step(bars), []
    for place, (name, hits) in enumerate(bars):
        top = float(HEIGHT - BOTTOM)
        shapes = []
        for level in LEVELS:
            size = getattr(hits, level) * (HEIGHT - BOTTOM - 10) / most
            top -= size
            if size:
                shapes.append(
                    f'<rect class="{level}" x="{LEFT + place * step:.1f}" y="{top:.1f}"'
                    f' width="{max(step - 1, 1):.1f}" height="{size:.1f}"/>'
                )
        told = f"{name}: {hits.strong} STRONG, {hits.weak} WEAK, {hits.miss} MISS"
        drawn.append(f"<g><title>{escape(told)}</title>{''.join(shapes)}</g>")
    return _framed(
        "answers by day", drawn, bars, [f"{most * each / _GRID:g}" for each in range(_GRID + 1)]
    )


def _rates(bars: Sequence[Bar]) -> str:
    """Draw the share of STRONG answers; days without any are left out of the line."""
    step, points, dots = _step(bars), [], []
    for place, (name, hits) in enumerate(bars):
        if hits.hit_rate is None:
            continue
        x = LEFT + (place + 0.5) * step
        y = HEIGHT - BOTTOM - hits.hit_rate * (HEIGHT - BOTTOM - 10)
        points.append(f"{x:.1f},{y:.1f}")
        told = escape(f"{name}: {rate_of(hits)}")
        dots.append(
            f'<circle class="strong" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{told}</title></circle>'
        )
    line = f'<polyline class="rate" points="{" ".join(points)}"/>'
    return _framed(
        "hit rate by day", [line, *dots], bars, [f"{each / _GRID:.0%}" for each in range(_GRID + 1)]
    )


def _framed(label: str, drawn: Iterable[str], bars: Sequence[Bar], marks: Sequence[str]) -> str:
    """Set a chart into its axes; *label* is what a screen reader calls it."""
    lines = []
    for place, mark in enumerate(marks):
        y = HEIGHT - BOTTOM - place * (HEIGHT - BOTTOM - 10) / (len(marks) - 1)
        lines.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark}</text>'
        )
    every = -(-len(bars) // _LABELS)
    for place in range(0, len(bars), every):
        x = LEFT + place * _step(bars)
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - 8}">{escape(bars[place][0][:10])}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{_PATTERNS}'
        f"{''.join(lines)}{''.join(drawn)}</svg>"
    )


def _step(bars: Sequence[Bar]) -> float:
    return (WIDTH - LEFT) / len(bars)


def _key() -> str:
    squares = (
        f'<svg viewBox="0 0 10 10"><rect class="{level}" width="10" height="10"/></svg>'
        f" {level.upper()}"
        for level in LEVELS
    )
    return f'<p class="key">{" &nbsp; ".join(squares)}</p>'


def _table(title: str, groups: Sequence[NamedCounts]) -> str:
    rows = [(name_of(each), *figures_of(each.hits)) for each in groups]
    return _rows(title, ("", "STRONG", "WEAK", "MISS", "hit rate"), rows)


def _latency(found: Analytics) -> str:
    rows = [
        (name, f"{each.p50_ms:.1f}", f"{each.p90_ms:.1f}", f"{each.p99_ms:.1f}")
        for name, each in (("service", found.service), ("embedder", found.embedder))
        if each is not None
    ]
    return _rows("Milliseconds", ("", "half", "90 %", "99 %"), rows)


def _reused(found: Analytics) -> str:
    rows = [(f"{title_of(each)} · {short_id(each.id)}", f"{each.count:,}") for each in found.reused]
    return _rows("Notes reused most", ("", "times"), rows)


def _rows(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table, its first column words and the others numbers; nothing without rows."""
    if not rows:
        return ""
    first, *others = (escape(each) for each in head)
    names = f"<th>{first}</th>" + "".join(f'<th class="number">{each}</th>' for each in others)
    lines = []
    for row in rows:
        name, *numbers = (escape(each) for each in row)
        cells = "".join(f'<td class="number">{each}</td>' for each in numbers)
        lines.append(f"<tr><td>{name}</td>{cells}</tr>")
    return f"<h2>{title}</h2><table><tr>{names}</tr>{''.join(lines)}</table>"
