"""Makes anew what a profile's file derives from its notes, where that is not as it should be.

Notes, states, the log and rejections are never touched: what is wrong with them nothing here can
know better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graft.wire.errors import ServiceError
from graft_memstore.model import Caller, ModelRole, NoteId
from graft_memstore.store.coverage import count_forgotten
from graft_memstore.store.database import Connection, StatementError
from graft_memstore.store.derived_words import (
    rebuild_indexes,
    rebuild_words,
    stray_words,
    words_at,
)
from graft_memstore.store.fts import Words, delete_words, insert_words
from graft_memstore.store.integrity import integrity_problems
from graft_memstore.store.keywords import read_keywords
from graft_memstore.store.models import read_model
from graft_memstore.store.note_rows import read_note_rows
from graft_memstore.store.pending import insert_forgotten_pending
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.vectors import count_wrong_bits, rebuild_bits
from graft_memstore.write.acts import record_act
from graft_memstore.write.prepare import ONE_WINDOW_CHARS, words_of

ACTION_REPAIR = "repair"
PAGE_ROWS = 50
"""Notes that are read at once; each may have a body of 1 MiB."""

INDEX_PROBLEMS = ("index", "fts5", "malformed inverted index")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One kind of derived thing; see graft.memory.v1.Repair.

    Attributes:
        mendable: what was found can be made anew.
    """

    name: str
    found: int
    repaired: bool
    detail: str
    mendable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """How the word indexes differ from the notes.

    Attributes:
        wrong: notes whose words are other than they should be, with those.
        stray: numbers that words of no note stand under.
        moved: notes whose words stand under another number: that was changed by hand.
    """

    wrong: tuple[tuple[int, Words], ...]
    stray: tuple[int, ...]
    moved: tuple[NoteId, ...]


def repair_profile(
    profile: Profile[Index], caller: Caller, wait_seconds: float, *, dry_run: bool
) -> list[Repair]:
    """Look at what is derived and make anew what is wrong, each kind by itself.

    Raises:
        ServiceError: the file cannot be read.
    """
    kinds: Sequence[tuple[str, Callable[[Connection], Repair], Callable[[Connection], None]]] = (
        ("indexes", _look_at_indexes, _mend_indexes),
        ("words", _look_at_words, _mend_words),
        ("bits", _look_at_bits, _mend_bits),
        ("pending", _look_at_pending, _mend_pending),
    )
    done = []
    for name, look, mend in kinds:
        with profile.snapshot() as connection:
            found = look(connection)
        if found.found and found.mendable and not dry_run:
            found = _mended(profile, caller, wait_seconds, (name, look, mend))
        done.append(found)
        if name == "indexes" and found.found and not found.repaired:
            # What is read by them, or from damaged pages, cannot be relied on.
            break
    return done


def _mended(
    profile: Profile[Index],
    caller: Caller,
    wait_seconds: float,
    kind: tuple[str, Callable[[Connection], Repair], Callable[[Connection], None]],
) -> Repair:
    name, look, mend = kind

    def change(transaction: Transaction) -> Repair:
        # Looked at once more: others may have changed it meanwhile.
        before = look(transaction.connection)
        if not before.found:
            return before
        mend(transaction.connection)
        after = look(transaction.connection)
        if before.found != after.found:
            what = f"{name}: {before.found - after.found:,}"
            record_act(transaction, caller, ACTION_REPAIR, what)
        return Repair(
            name=name,
            found=before.found,
            repaired=not after.found,
            detail=before.detail if not after.found else after.detail,
        )

    try:
        return profile.write(change, wait_seconds)
    except ServiceError as error:
        return Repair(name=name, found=1, repaired=False, detail=error.message)


def _look_at_indexes(connection: Connection) -> Repair:
    problems = integrity_problems(connection)
    ours = [each for each in problems if any(word in each for word in INDEX_PROBLEMS)]
    others = [each for each in problems if each not in ours]
    detail = "SQLite's indexes fit their tables"
    if others:
        detail = (
            f"{others[0]}: no index, so it cannot be made anew; take a backup back with: graft"
            " backup restore FILE --replace"
        )
    elif ours:
        detail = ours[0]
    return Repair(
        name="indexes", found=len(problems), repaired=False, detail=detail, mendable=not others
    )


def _mend_indexes(connection: Connection) -> None:
    rebuild_indexes(connection)
    rebuild_words(connection)


def _look_at_words(connection: Connection) -> Repair:
    folded = _compare_words(connection)
    count = len(folded.wrong) + len(folded.stray) + len(folded.moved)
    detail = f"words of notes that are not as they should be: {len(folded.wrong):,}"
    if folded.stray:
        detail += f", words of no note: {len(folded.stray):,}"
    if folded.moved:
        detail += (
            f"; the number of note {folded.moved[0]} was changed by hand, and is left as it is:"
            " compare it with a backup"
        )
    return Repair(name="words", found=count, repaired=False, detail=detail)


def _compare_words(connection: Connection) -> Folded:
    stray = {seq: words_at(connection, seq) for seq in stray_words(connection)}
    wrong: list[tuple[int, Words]] = []
    moved: list[NoteId] = []
    after = 0
    while page := read_note_rows(connection, after, PAGE_ROWS):
        carried = read_keywords(connection, [row.id for row in page])
        for row in page:
            after = row.seq
            if row.note is None:
                continue
            words = words_of(row.note.title, row.note.body, carried.get(row.id, ()))
            found = words_at(connection, row.seq)
            elsewhere = [seq for seq, each in stray.items() if each == words]
            if found is None and elsewhere:
                # What tells that its number was changed stays, and so do the words.
                moved.append(row.id)
                del stray[elsewhere[0]]
            elif found != words:
                wrong.append((row.seq, words))
    return Folded(wrong=tuple(wrong), stray=tuple(stray), moved=tuple(moved))


def _mend_words(connection: Connection) -> None:
    folded = _compare_words(connection)
    for seq in (*folded.stray, *(seq for seq, _ in folded.wrong)):
        delete_words(connection, seq)
    for seq, words in folded.wrong:
        insert_words(connection, seq, words)


def _look_at_bits(connection: Connection) -> Repair:
    count, problems = 0, []
    for role in ModelRole:
        model = read_model(connection, role)
        if model is None:
            continue
        try:
            wrong = count_wrong_bits(connection, model.model_id)
        except StatementError as error:
            wrong = 1
            problems.append(f"the signs of model {model.name} cannot be read ({error})")
        count += wrong
    detail = problems[0] if problems else f"signs of vectors that are wrong: {count:,}"
    return Repair(name="bits", found=count, repaired=False, detail=detail)


def _mend_bits(connection: Connection) -> None:
    for role in ModelRole:
        model = read_model(connection, role)
        if model is not None:
            rebuild_bits(connection, model.model_id, model.dimensions)


def _look_at_pending(connection: Connection) -> Repair:
    model = read_model(connection, ModelRole.SERVING)
    count = 0 if model is None else count_forgotten(connection, model.model_id)
    detail = f"notes that neither have a vector nor wait for one: {count:,}"
    return Repair(name="pending", found=count, repaired=False, detail=detail)


def _mend_pending(connection: Connection) -> None:
    model = read_model(connection, ModelRole.SERVING)
    assert model is not None, "without one nothing was found"
    insert_forgotten_pending(connection, model.model_id, ONE_WINDOW_CHARS)
