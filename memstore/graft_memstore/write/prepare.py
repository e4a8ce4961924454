"""Everything about a new note that can be worked out before the database is asked to wait."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from graft_memstore.applicability import parse_applies_to
from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.lexical import fold_note
from graft_memstore.model import AppliesTo, Lifecycle, NewNote, NoteId, SimilarNote, Trust
from graft_memstore.signature import Signature, signatures
from graft_memstore.store.fts import Words
from graft_memstore.store.misses import MissId
from graft_memstore.store.notes import KnownNote
from graft_memstore.write.hashes import content_hash, value_hash

ONE_WINDOW_CHARS = 120
"""A title of at most so many characters surely fits one window of 240 tokens."""

Place: TypeAlias = tuple[str, bytes]
"""Scope and content hash."""

JUDGED_WRONG = frozenset({Trust.HELD, Trust.REJECTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedNote:
    """A checked note, hashed, and with the signatures of the errors that it tells of.

    What it applies to is no part of its hashes: the same text for other versions is the same
    note, which then applies to those.
    """

    note: NewNote
    applies_to: tuple[AppliesTo, ...]
    content_hash: bytes
    value_hash: bytes
    signatures: tuple[Signature, ...]

    @property
    def place(self) -> Place:
        """Its scope and its content: two notes of a batch that share both are one."""
        return self.note.scope, self.content_hash

    @property
    def has_passages(self) -> bool:
        """Whether it has text beyond what its title's vector stands for."""
        return bool(self.note.body.strip()) or len(self.note.title) > ONE_WINDOW_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleVector:
    """The vector of a new note's title, who is like it, and what it may answer."""

    model: ModelFacts
    window: WindowVector
    similar: tuple[SimilarNote, ...] = ()
    answered: tuple[MissId, ...] = ()


def prepare(note: NewNote) -> PreparedNote:
    """Hash *note*, read it for errors, and read what it applies to."""
    return PreparedNote(
        note=note,
        applies_to=tuple(parse_applies_to(spec) for spec in note.applies_to),
        content_hash=content_hash(note.title, note.body, note.kind),
        value_hash=value_hash(note.title, note.body),
        signatures=signatures_of(note.title, note.body),
    )


def signatures_of(title: str, body: str) -> tuple[Signature, ...]:
    """Return the signatures of the errors that a note tells of."""
    return signatures(f"{title}\n{body}", titled=True)


def words_of(title: str, body: str, keywords: tuple[str, ...]) -> Words:
    """Fold a note for the word indexes."""
    folded = fold_note(title, body, keywords)
    return Words(
        title=folded.title,
        body=folded.body,
        keywords=folded.keywords,
        cjk=folded.cjk,
        pieces=folded.pieces,
    )


def in_force(known: KnownNote) -> bool:
    """Tell whether a note is active and nobody has judged it wrong, whatever the time."""
    return known.lifecycle is Lifecycle.ACTIVE and known.trust not in JUDGED_WRONG


def twin_of(note: NewNote, known: Sequence[KnownNote], now_ms: int) -> NoteId | None:
    """Return the note that *note* would repeat, None when it has to be stored.

    One that no read shows now, being expired or not valid, is repeated only where the new one
    names the same times: otherwise whoever stores the text again would never find it.

    Args:
        note: the new note.
        known: notes of its scope with its content.
        now_ms: UTC milliseconds.
    """
    times = (note.valid_from_ms, note.valid_to_ms, note.expires_at_ms)
    for each in known:
        same = times == (each.valid_from_ms, each.valid_to_ms, each.expires_at_ms)
        if in_force(each) and (same or _is_shown(each, now_ms)):
            return each.id
    return None


def _is_shown(known: KnownNote, now_ms: int) -> bool:
    begins, ends, expires = known.valid_from_ms, known.valid_to_ms, known.expires_at_ms
    begun = begins is None or begins <= now_ms
    return begun and all(end is None or end > now_ms for end in (ends, expires))
