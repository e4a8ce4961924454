"""The reviewer's passphrase: proved one attempt at a time, slowly, and kept nowhere."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.memstore.room import PERSON, START_MS, Room, open_room
from typing_extensions import override

from graft.wire.errors import (
    BadFieldError,
    BusyError,
    NoReviewerError,
    NotAllowedError,
    TooManyAttemptsError,
    WrongStateError,
)
from graft_memstore.review.reviewer import (
    DELAY_MS_MAX,
    SESSION_SECONDS,
    SESSIONS_MAX,
    Reviewer,
    ReviewerParts,
)
from graft_memstore.store.reviewer_file import ReviewerFiles, StoredReviewer

PHRASE = "correct horse battery staple"
OTHER = "a completely other passphrase"


class FilesThatFail(ReviewerFiles):
    """Ends the process, as it were, right before the file is put in its place."""

    @override
    def write(self, reviewer: StoredReviewer) -> None:
        raise SystemExit("killed")


@pytest.fixture
def set_room(still_room: Room) -> Room:
    """A room with a reviewer."""
    still_room.reviewer.set(still_room.profile, PERSON, PHRASE, "")
    return still_room


def parts(room: Room, files: ReviewerFiles) -> ReviewerParts:
    return ReviewerParts(
        files=files,
        open=room.profiles.open,
        now_ms=room.clock,
        seconds=lambda: room.clock.ms / 1_000,
        random=bytes,
    )


def prove(room: Room, passphrase: str = PHRASE) -> str:
    return room.reviewer.prove(room.profile, PERSON, passphrase)


def actions(room: Room) -> list[str]:
    with room.profile.snapshot() as connection:
        rows = connection.execute("SELECT action FROM events ORDER BY seq").fetchall()
    return [str(row[0]) for row in rows]


def test_who_knows_the_passphrase_is_the_reviewer_for_a_while(set_room: Room) -> None:
    token = prove(set_room)

    assert set_room.reviewer.role_of(token) == "reviewer"
    set_room.clock.ms += SESSION_SECONDS * 1_000
    with pytest.raises(NotAllowedError, match="has ended"):
        set_room.reviewer.role_of(token)


def test_a_session_ends_when_it_is_closed_and_when_the_passphrase_changes(set_room: Room) -> None:
    closed, open_ = prove(set_room), prove(set_room)
    set_room.reviewer.close(closed)
    assert set_room.reviewer.role_of(open_) == "reviewer"

    set_room.reviewer.set(set_room.profile, PERSON, OTHER, PHRASE)

    for token in (closed, open_, "", "0" * 64):
        with pytest.raises(NotAllowedError):
            set_room.reviewer.role_of(token)
    assert set_room.reviewer.role_of(prove(set_room, OTHER)) == "reviewer"


def test_of_many_sessions_the_oldest_ends(set_room: Room) -> None:
    first, *others = [prove(set_room) for _ in range(SESSIONS_MAX + 1)]

    with pytest.raises(NotAllowedError):
        set_room.reviewer.role_of(first)
    assert [set_room.reviewer.role_of(each) for each in others] == ["reviewer"] * SESSIONS_MAX


def test_wrong_passphrases_are_slowed_down_and_told_by_the_log(set_room: Room) -> None:
    waits = []
    for number in range(1, 12):
        with pytest.raises(NotAllowedError):
            prove(set_room, f"guess number {number}")
        with pytest.raises(TooManyAttemptsError) as raised:
            prove(set_room)
        wait_ms = raised.value.retry_after_ms
        assert wait_ms is not None
        waits.append(wait_ms)
        set_room.clock.ms += wait_ms

    assert waits[:5] == [1_000, 2_000, 4_000, 8_000, 16_000]
    assert waits[-1] == DELAY_MS_MAX
    assert actions(set_room).count("reviewer-refused") == 11
    assert set_room.reviewer.status().failures == 11
    assert set_room.reviewer.role_of(prove(set_room)) == "reviewer"
    assert set_room.reviewer.status().failures == 0


def test_a_restart_forgets_no_wrong_passphrase(set_room: Room) -> None:
    for _ in range(2):
        with pytest.raises(NotAllowedError):
            prove(set_room, OTHER)
        set_room.clock.ms += 1_000
    again = Reviewer(parts(set_room, ReviewerFiles(set_room.root / "audit")))

    with pytest.raises(TooManyAttemptsError):
        again.prove(set_room.profile, PERSON, PHRASE)


def test_a_clock_that_goes_back_locks_nobody_out(set_room: Room) -> None:
    with pytest.raises(NotAllowedError):
        prove(set_room, OTHER)
    set_room.clock.ms -= 1_000_000
    with pytest.raises(TooManyAttemptsError):
        prove(set_room)

    set_room.clock.ms += 1_000

    assert prove(set_room)


def test_of_attempts_at_once_one_is_looked_at(set_room: Room) -> None:
    def guess(number: int) -> str:
        try:
            prove(set_room, f"guess number {number}")
        except (BusyError, TooManyAttemptsError, NotAllowedError) as error:
            return type(error).__name__
        return "let in"

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(guess, range(64)))

    assert found.count("NotAllowedError") == 1
    assert "let in" not in found


def test_another_passphrase_takes_the_old_one(set_room: Room) -> None:
    with pytest.raises(NotAllowedError):
        set_room.reviewer.set(set_room.profile, PERSON, OTHER, "")
    set_room.clock.ms += 1_000
    with pytest.raises(NotAllowedError):
        set_room.reviewer.set(set_room.profile, PERSON, OTHER, OTHER)
    set_room.clock.ms += 2_000

    assert prove(set_room, PHRASE)


@pytest.mark.parametrize("passphrase", ["", "short", "x" * 1_025])
def test_what_is_no_passphrase_is_refused_without_a_word_of_it(
    still_room: Room, passphrase: str
) -> None:
    with pytest.raises(BadFieldError) as raised:
        still_room.reviewer.set(still_room.profile, PERSON, passphrase, "")

    assert not passphrase or passphrase not in raised.value.message
    assert not still_room.reviewer.exists()


def test_without_a_reviewer_nobody_is_one(still_room: Room) -> None:
    with pytest.raises(NoReviewerError, match="graft reviewer init"):
        prove(still_room)


def test_a_crash_between_the_steps_leaves_the_old_passphrase(set_room: Room) -> None:
    crashing = Reviewer(parts(set_room, FilesThatFail(set_room.root / "audit")))

    with pytest.raises(SystemExit):
        crashing.set(set_room.profile, PERSON, OTHER, PHRASE)

    assert actions(set_room).count("reviewer-set") == 2
    assert prove(set_room, PHRASE)
    with pytest.raises(NotAllowedError):
        prove(set_room, OTHER)


def test_a_crash_at_the_first_time_leaves_no_reviewer(still_room: Room) -> None:
    crashing = Reviewer(parts(still_room, FilesThatFail(still_room.root / "audit")))

    with pytest.raises(SystemExit):
        crashing.set(still_room.profile, PERSON, PHRASE, "")

    assert not still_room.reviewer.exists()


@pytest.mark.parametrize("profile", ["default", "work", "nowhere", "../x"])
def test_another_hash_in_the_place_of_the_recorded_one_opens_nothing(
    set_room: Room, tmp_path_factory: pytest.TempPathFactory, profile: str
) -> None:
    with open_room(tmp_path_factory.mktemp("other"), watched=False) as other:
        other.reviewer.set(other.profile, PERSON, OTHER, "")
        forged = (other.root / "audit" / "reviewer.json").read_text()
    set_room.profiles.add("work")
    named = forged.replace('"default"', f'"{profile}"')
    (set_room.root / "audit" / "reviewer.json").write_text(named)

    with pytest.raises(NotAllowedError, match="changed from outside"):
        prove(set_room, OTHER)


def test_the_passphrase_holds_in_every_profile(set_room: Room) -> None:
    work = set_room.profiles.add("work")

    assert set_room.reviewer.role_of(set_room.reviewer.prove(work, PERSON, PHRASE)) == "reviewer"
    with pytest.raises(NotAllowedError):
        set_room.reviewer.prove(work, PERSON, OTHER)


def test_a_folder_that_cannot_be_written_to_leaves_the_passphrase(set_room: Room) -> None:
    # A folder in the place of the file that would be written first.
    (set_room.root / "audit" / "reviewer.fresh").mkdir()

    with pytest.raises(WrongStateError, match="cannot be written"):
        set_room.reviewer.set(set_room.profile, PERSON, OTHER, PHRASE)

    assert prove(set_room)


def test_a_damaged_file_is_no_open_door(set_room: Room) -> None:
    (set_room.root / "audit" / "reviewer.json").write_text("{")

    assert set_room.reviewer.exists()
    assert "cannot be used" in set_room.reviewer.status().problem
    with pytest.raises(WrongStateError):
        prove(set_room)
    with pytest.raises(WrongStateError):
        set_room.reviewer.set(set_room.profile, PERSON, OTHER, "")


def test_the_passphrase_stands_in_no_file(set_room: Room) -> None:
    prove(set_room)
    with pytest.raises(NotAllowedError):
        prove(set_room, OTHER)

    files = [path for path in set_room.root.rglob("*") if path.is_file()]

    assert Path(set_room.root / "audit" / "reviewer.json") in files
    for path in files:
        content = path.read_bytes()
        assert PHRASE.encode() not in content
        assert OTHER.encode() not in content
    for name in ("reviewer.json", "reviewer-attempts.json"):
        assert (set_room.root / "audit" / name).stat().st_mode & 0o777 == 0o600
    assert set_room.reviewer.status().set_at_ms == START_MS
