"""Looks new notes through for secrets before they are stored, and decides what follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graft.wire.errors import BadFieldError, DeadlinePassedError, SecretFoundError
from graft_memstore.deadline import Deadline
from graft_memstore.leaks.scan import FINDINGS_MAX, Finding, Findings, find_secrets
from graft_memstore.lifecycle import is_person
from graft_memstore.model import Caller, NewNote
from graft_memstore.store.notes import read_stored
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.store_note import StoredReply

ACTION_ALLOW_SECRET = "allow-secret"  # noqa: S105 - the name of an act
NAMED_MAX = 3
"""Places that a refusal, or the log, names; the others are counted."""


class SecretsRule(StrEnum):
    """What follows where a note holds what looks like a secret; the setting `secrets`."""

    WARN = "warn"
    REFUSE = "refuse"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsWish:
    """What a caller wants: to be refused, whatever the rule, or to store what is meant.

    Attributes:
        has_reviewer: one is set up, who alone may allow what the rule refuses.
    """

    strict: bool = False
    allow: bool = False
    has_reviewer: bool = False


AS_SET = SecretsWish()


class Screen:
    """Stands before the store.

    Args:
        rule: what follows where the caller wants nothing else.
    """

    def __init__(self, rule: SecretsRule) -> None:
        self._rule = rule

    def look(
        self, notes: Sequence[NewNote], wish: SecretsWish, deadline: Deadline
    ) -> tuple[Findings, ...]:
        """Return what looks like a secret in each of *notes*.

        Raises:
            BadFieldError: the caller wants two things that exclude each other.
            DeadlinePassedError: the caller has gone.
        """
        if wish.strict and wish.allow:
            raise BadFieldError("allow_secret", "strict_secrets is set as well; leave one out")
        if self._rule is SecretsRule.OFF and not wish.strict:
            return tuple(Findings() for _ in notes)
        found = []
        for note in notes:
            if deadline.left() <= 0:
                raise DeadlinePassedError(
                    "nothing was stored: the deadline passed while the notes were looked through;"
                    " send fewer at once"
                )
            found.append(look_through(note))
        return tuple(found)

    def refuse(self, findings: Sequence[Findings], caller: Caller, wish: SecretsWish) -> None:
        """Refuse notes in which something was found, where that is the rule or the wish.

        Raises:
            SecretFoundError: they are not to be stored.
        """
        if not any(findings):
            return
        if wish.strict:
            raise _refusal(findings, "it was asked for strictly; " + _ALLOW)
        if self._rule is not SecretsRule.REFUSE:
            return
        if not wish.allow:
            raise _refusal(findings, _ALLOW_AS_REVIEWER if wish.has_reviewer else _ALLOW)
        # An agent does not undo a person's rule.
        if is_person(caller, has_reviewer=wish.has_reviewer):
            return
        raise _refusal(findings, _ALLOW_AS_REVIEWER if wish.has_reviewer else _ALLOW)


_ALLOW = "take it out; a person who means it says: graft insert --allow-secret"
_ALLOW_AS_REVIEWER = (
    "take it out; the setting secrets is refuse, so the reviewer alone can say that it is meant:"
    " graft insert --allow-secret --as-reviewer"
)


def look_through(note: NewNote) -> Findings:
    """Return what looks like a secret in what *note* says, in any of its texts."""
    found = [each for field, text in _texts(note) for each in find_secrets(field, text)]
    return Findings(first=tuple(found[:FINDINGS_MAX]), more=max(len(found) - FINDINGS_MAX, 0))


def record_meant(
    transaction: Transaction,
    stored: Sequence[StoredReply],
    findings: Sequence[Findings],
    caller: Caller,
) -> None:
    """Record of each note that was stored or added to that its secrets are meant: what and where.

    No text, masked or not, is recorded.
    """
    for each, found in zip(stored, findings, strict=True):
        if not found or not each.event:
            continue
        note = read_stored(transaction.connection, each.id)
        assert note is not None, "it was stored in this transaction"
        record_on_note(transaction, caller, ACTION_ALLOW_SECRET, note, f"meant: {_named(found)}")


def _texts(note: NewNote) -> Iterator[tuple[str, str]]:
    yield "title", note.title
    yield "body", note.body
    for place, keyword in enumerate(note.keywords):
        yield f"keywords[{place}]", keyword
    for place, source in enumerate(note.sources):
        yield f"sources[{place}].locator", source.locator
        yield f"sources[{place}].project", source.project
    yield "author", note.author
    yield "reason", note.reason


def _refusal(findings: Sequence[Findings], what_to_do: str) -> SecretFoundError:
    place, found = next((place, each) for place, each in enumerate(findings) if each)
    count = sum(len(each.first) + each.more for each in findings)
    first = found.first[0]
    metadata = {
        "findings": str(count),
        "kind": first.kind,
        "field": first.field,
        "line": str(first.line),
        "column": str(first.column),
        "excerpt": first.excerpt,
    }
    where = ""
    if len(findings) > 1:
        metadata["note"] = str(place)
        where = f"in note {place + 1} of {len(findings)}, "
    told = "; ".join(f"{_placed(each)} ({each.excerpt})" for each in found.first[:NAMED_MAX])
    more = count - min(len(found.first), NAMED_MAX)
    others = f", and {more:,} more" if more else ""
    return SecretFoundError(
        f"nothing was stored: {where}this looks like a secret: {told}{others}; {what_to_do}",
        metadata=metadata,
    )


def _named(found: Findings) -> str:
    told = "; ".join(_placed(each) for each in found.first[:NAMED_MAX])
    more = len(found.first) + found.more - min(len(found.first), NAMED_MAX)
    return f"{told}; and {more:,} more" if more else told


def _placed(finding: Finding) -> str:
    return f"{finding.kind} in {finding.place}"
