"""Everything about a new note that can be worked out before the database is asked to wait."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from graft_memstore.applicability import parse_applies_to
from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.lexical import fold_note
from graft_memstore.model import (
    AppliesTo,
    Condition,
    Lifecycle,
    NewNote,
    NoteId,
    SimilarNote,
)
from graft_memstore.signature import Signature, signatures
from graft_memstore.store.fts import Words
from graft_memstore.store.misses import MissId
from graft_memstore.store.notes import KnownNote
from graft_memstore.visibility import NEVER_SHOWN, condition_of
from graft_memstore.write.hashes import content_hash, other_value_hashes, value_hash
from graft_memstore.write.restatement import words_hashes

ONE_WINDOW_CHARS = 120
"""A title of at most so many characters surely fits one window of 240 tokens."""

Place: TypeAlias = tuple[str, bytes]
"""Scope and content hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedNote:
    """A checked note, hashed, and with the signatures of the errors that it tells of.

    What it applies to is no part of its hashes: the same text for other versions is the same
    note, which then applies to those.

    Attributes:
        value_hashes: of what it says: its own first, then those of what it may be taken for.
        words_hashes: of its words that say something, likewise; empty where there are none.
    """

    note: NewNote
    applies_to: tuple[AppliesTo, ...]
    content_hash: bytes
    value_hashes: tuple[bytes, ...]
    words_hashes: tuple[bytes, ...]
    signatures: tuple[Signature, ...]

    @property
    def value_hash(self) -> bytes:
        """Hash of what it says, as it is stored."""
        return self.value_hashes[0]

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
        value_hashes=(
            value_hash(note.title, note.body),
            *other_value_hashes(note.title, note.body),
        ),
        words_hashes=words_hashes(note.title, note.body),
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
    return known.state.lifecycle is Lifecycle.ACTIVE and known.state.trust not in NEVER_SHOWN


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
        state = each.state
        same = times == (state.valid_from_ms, state.valid_to_ms, state.expires_at_ms)
        if in_force(each) and (same or condition_of(state, now_ms) is Condition.SHOWN):
            return each.id
    return None
