"""Reads what waits for a reviewer, with the notes that it is about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graft_memstore.model import Condition, ItemId, ItemKind, Note, NoteId
from graft_memstore.store.database import Connection
from graft_memstore.store.events import read_event
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import (
    END_OF_ITEMS,
    ItemFilter,
    ReviewItem,
    count_open_items,
    read_decided_items,
    read_item,
    read_open_items,
)
from graft_memstore.store.tombstones import read_rejection
from graft_memstore.store.values import find_of_value
from graft_memstore.visibility import condition_of
from graft_memstore.write.queue import REJECTED_NOTE, TOMBSTONE, item_not_found


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNote:
    """A note, and whether searches show it now."""

    note: Note
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenItem:
    """An item with its notes, and who asked for it and why.

    Attributes:
        other: of a pair the second, of a held note the rejected one that it looks like.
    """

    item: ReviewItem
    note: SeenNote | None
    other: SeenNote | None
    reason: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePage:
    """A page of the queue.

    Attributes:
        next_place: where the next one begins; 0 after the last.
        waiting: how many of each kind wait.
    """

    items: tuple[SeenItem, ...]
    next_place: int
    waiting: dict[ItemKind, int]


def read_queue(
    profile: Profile[Index], wanted: ItemFilter, *, decided: bool, place: int, count_max: int
) -> QueuePage:
    """Return a page of what waits, oldest first, or of what was decided, newest first."""
    with profile.snapshot() as connection:
        now_ms = profile.now_ms(connection)
        if decided:
            before = place or END_OF_ITEMS
            items = read_decided_items(connection, wanted, before=before, count_max=count_max + 1)
        else:
            items = read_open_items(connection, wanted, after=place, count_max=count_max + 1)
        page = items[:count_max]
        seen = tuple(_without_bodies(each) for each in _seen(connection, page, now_ms))
        return QueuePage(
            items=seen,
            next_place=page[-1].item_id if len(items) > count_max else 0,
            waiting=count_open_items(connection, replace(wanted, kinds=())),
        )


def read_seen(profile: Profile[Index], item_id: ItemId) -> SeenItem:
    """Return one item with its notes whole.

    Raises:
        ItemNotFoundError: there is none.
    """
    with profile.snapshot() as connection:
        item = read_item(connection, item_id)
        if item is None:
            raise item_not_found(item_id)
        return _seen(connection, [item], profile.now_ms(connection))[0]


def _seen(connection: Connection, items: Sequence[ReviewItem], now_ms: int) -> list[SeenItem]:
    pairs = [(item, item.note_id, _other(connection, item)) for item in items]
    wanted = {note_id for _, *notes in pairs for note_id in notes if note_id is not None}
    notes = {
        note.id: SeenNote(note=note, condition=condition_of(note.state, now_ms))
        for note in read_full_notes(connection, sorted(wanted))
    }
    found = []
    for item, note_id, other_id in pairs:
        event = None if item.event is None else read_event(connection, item.event)
        found.append(
            SeenItem(
                item=item,
                note=None if note_id is None else notes.get(note_id),
                other=None if other_id is None else notes.get(other_id),
                reason="" if event is None else event.reason,
                session="" if event is None else event.channel,
            )
        )
    return found


def _other(connection: Connection, item: ReviewItem) -> NoteId | None:
    if item.other_id is not None:
        return item.other_id
    if REJECTED_NOTE in item.detail:
        return NoteId(str(item.detail[REJECTED_NOTE]))
    if TOMBSTONE in item.detail:
        number = item.detail[TOMBSTONE]
        assert isinstance(number, int), "written by ourselves"
        rejection = read_rejection(connection, number)
        if rejection is not None:
            return find_of_value(connection, rejection.value_hash, rejection.scope)
    return None


def _without_bodies(seen: SeenItem) -> SeenItem:
    return replace(seen, note=_without_body(seen.note), other=_without_body(seen.other))


def _without_body(seen: SeenNote | None) -> SeenNote | None:
    return None if seen is None else replace(seen, note=replace(seen.note, body=""))
