"""How results are put for people: times, ids, sizes, scopes, a note with what is known of it."""

from collections.abc import Sequence
from datetime import datetime

from graft_client.authority import Oracle
from graft_client.cli.output import Output, printable
from graft_client.history import Uses
from graft_client.notices import GivenTo, Notice
from graft_client.results import Note, Trust, short_id
from graft_client.scope import USER

_STEP = 1024
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_BELIEVED = frozenset({"observed", "verified"})
_HIT_COLORS = {"STRONG": "green", "WEAK": "yellow", "MISS": "red"}


def day_and_time(instant: datetime) -> str:
    """Write *instant* in the reader's own time zone, to the minute."""
    return instant.astimezone().strftime("%Y-%m-%d %H:%M")


def full_time(instant: datetime) -> str:
    """Write *instant* in the reader's own time zone, with its offset."""
    return instant.astimezone().isoformat(sep=" ", timespec="seconds")


def size(count: float) -> str:
    """Write a number of bytes."""
    unit = 0
    while count >= _STEP and unit < len(_UNITS) - 1:
        count /= _STEP
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def binary_size(count: int) -> str:
    """Write a limit that is a whole number of KiB or MiB."""
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def duration(seconds: float) -> str:
    """Write how long something has been."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{number} {unit}" for number, unit in parts if number]
    return " ".join(shown[:2]) or "0 s"


def count_of(number: int, one: str, many: str = "") -> str:
    """Write a number of things."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def where_saved(scope: str) -> str:
    """Say where a note went and who sees it."""
    if scope == USER:
        return "user, seen everywhere"
    if scope.startswith("project:"):
        return f"{scope}, seen in that project"
    return f"{scope}, seen where that scope is asked for"


def where_searched(scopes: Sequence[str], elsewhere: int) -> str:
    """Say which scopes were looked at and how many notes lie in others."""
    looked = f"searched {' and '.join(scopes)}" if scopes else "searched every scope"
    if not elsewhere:
        return looked
    lie = "lies" if elsewhere == 1 else "lie"
    return f"{looked}; {count_of(elsewhere, 'note')} {lie} elsewhere (--all-scopes looks there too)"


def talk_notices(output: Output, notices: Sequence[Notice]) -> None:
    """Say on stderr what became of notes that this session was given, a line each."""
    for notice in notices:
        title = f' "{notice.title}"' if notice.title else ""
        by = f" by {short_id(notice.successor)}" if notice.successor else ""
        output.say(
            f"graft: note {short_id(notice.id)}{title}, which this session was given, was "
            f"{notice.happened}{by} (event {notice.event})"
        )


def talk_given_to(output: Output, told: GivenTo) -> None:
    """Say on stderr which sessions were given what holds no more."""
    if told.count:
        named = ", ".join(told.sessions) + (", …" if told.count > len(told.sessions) else "")
        were = "session was" if told.count == 1 else "sessions were"
        output.say(f"graft: {told.count:,} {were} given it and will be told: {named}")


def hit_style(hit: str) -> dict[str, object]:
    """Give the style that the word *hit* has on a terminal."""
    return {"fg": _HIT_COLORS[hit], "bold": True}


def doubts(trust: Trust, reason: str) -> str:
    """Say behind a title how far a note is to be believed, where that is less than fully."""
    if trust in _BELIEVED:
        return ""
    return f" [{trust}: {reason}]" if reason else f" [{trust}]"


def write_facts(output: Output, note: Note) -> None:
    """Write what is known of a note besides its text, one fact a line."""
    facts = [
        ("id", note.id),
        ("scope", note.scope),
        ("state", _state(note)),
        ("checked by", _oracle(note.oracle)),
        ("because", note.state_reason),
        ("replaced by", note.superseded_by or ""),
        ("kind", note.kind if note.kind != "note" else ""),
        ("keywords", ", ".join(note.keywords)),
        ("author", note.author),
        ("saved", full_time(note.recorded_at)),
        ("valid from", full_time(note.valid_from) if note.valid_from else ""),
        ("valid to", full_time(note.valid_to) if note.valid_to else ""),
        ("expires", full_time(note.expires_at) if note.expires_at else ""),
        ("pending", count_of(note.pending, "text") + " without vector" if note.pending else ""),
    ]
    facts += [("applies to", each) for each in note.applies_to]
    facts += [("source", f"{each.kind}:{each.locator}") for each in note.sources]
    for name, value in facts:
        if value:
            write_fact(output, name, value)


def write_fact(output: Output, name: str, value: str) -> None:
    """Write one thing that is known of a note."""
    output.line(f"{name + ':':<12}{printable(value)}", dim=True)


def used(uses: Uses) -> str:
    """Write how often a note was given out before."""
    if uses.last_used is None:
        return "never"
    answers = count_of(uses.strong, "time")
    last = full_time(uses.last_used)
    return f"{answers} as an answer, {count_of(uses.got, 'time')} by its id, last {last}"


def _state(note: Note) -> str:
    """Write a note's state, and why searches do not show it where that does not say so."""
    hidden = note.condition if note.condition.endswith(("expired", "valid")) else ""
    return ", ".join(each for each in (note.state, note.trust, hidden) if each)


def _oracle(oracle: Oracle | None) -> str:
    """Write by what a note was verified, and who claims so."""
    if oracle is None:
        return ""
    if oracle.kind == "reviewer":
        return "the reviewer"
    checked = {
        "commit": f"commit {oracle.commit[:12]}",
        "run": f"{oracle.command} (ended with {oracle.exit_code}, printed "
        f"{oracle.output_digest[:12]})",
    }[oracle.kind]
    session = f" in session {oracle.session}" if oracle.session else ""
    return f"{checked}, as claimed by {oracle.by} through {oracle.door}{session}"


def one_line(note: Note) -> str:
    """Write a note in one line: its kind where it is no plain one, short id, scope, keywords."""
    parts = [short_id(note.id), printable(note.scope), note.trust]
    if note.kind != "note":
        parts.insert(0, note.kind)
    if note.keywords:
        parts.append(printable(", ".join(note.keywords)))
    return " · ".join(parts)
