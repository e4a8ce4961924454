"""Backups through a real server: what comes back, what must not, and what is left as it was."""

import json
import os
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import apsw
import grpc
import pytest
from blake3 import blake3
from tests.unit.memstore.room import PERSON, Room, open_room
from tests.unit.memstore.service.conftest import Stubs, served

from graft.memory.v1 import backups_service_pb2 as pb
from graft.memory.v1 import note_pb2, notes_service_pb2, recall_service_pb2
from graft.wire.errors import read_refusal
from graft.wire.metadata import BOUND_SCOPE_KEY, REVIEWER_KEY
from graft_memstore.lifecycle import Verb
from graft_memstore.store.backup_file import ArchiveReader, ArchiveWriter
from graft_memstore.store.backup_manifest import Manifest
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrations
from graft_memstore.upkeep.set_aside import KEPT_MAX
from graft_memstore.upkeep.verify_trail import verify_trail

CLI = (("graft-door", "cli"),)
OLD = Path(__file__).parents[1] / "store" / "old"
PASSPHRASE = "a long passphrase"  # noqa: S105 - of a test


def create(stubs: Stubs, **wanted: object) -> bytes:
    request = pb.CreateBackupRequest(**wanted)  # type: ignore[arg-type] # its own fields
    return b"".join(reply.piece for reply in stubs.backups.CreateBackup(request))


def pieces(raw: bytes) -> Iterator[bytes]:
    return (raw[start : start + (1 << 20)] for start in range(0, len(raw), 1 << 20))


def verify(stubs: Stubs, raw: bytes) -> pb.VerifyBackupResponse:
    messages = (pb.VerifyBackupRequest(piece=piece) for piece in pieces(raw))
    return stubs.backups.VerifyBackup(messages)


def restore(
    stubs: Stubs,
    raw: bytes,
    *,
    metadata: tuple[tuple[str, str], ...] = CLI,
    **options: object,
) -> pb.RestoreBackupResponse:
    first = pb.RestoreOptions(**options)  # type: ignore[arg-type] # its own fields

    def messages() -> Iterator[pb.RestoreBackupRequest]:
        yield pb.RestoreBackupRequest(options=first)
        for piece in pieces(raw):
            yield pb.RestoreBackupRequest(piece=piece)

    return stubs.backups.RestoreBackup(messages(), metadata=metadata)


def refused(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    refusal = read_refusal(caught.value)
    return refusal.reason, refusal.message


def titles(room: Room, profile: str = "default", *, shown: bool = True) -> set[str]:
    """Return the titles of a profile's notes, rejected ones only where asked for."""
    statement = (
        "SELECT title FROM notes JOIN note_states ON note_id = id AND known_to IS NULL"
        " WHERE trust != 'rejected' OR NOT ?"
    )
    with room.profiles.use(profile) as opened, opened.snapshot() as connection:
        return {row[0] for row in connection.execute(statement, (shown,))}


def state_of(room: Room) -> tuple[set[str], dict[str, bytes], int]:
    """Return which files a home has, what is kept of its logs outside them, and how many events."""
    root = room.root
    files = {path for path in root.rglob("*") if path.is_file()}
    # These come and go with connections.
    names = {str(path.relative_to(root)) for path in files if path.suffix != ".db-shm"}
    kept = {path.name: path.read_bytes() for path in (root / "audit").iterdir()}
    return names, kept, room.count("SELECT count(*) FROM events")


def drafts(root: Path) -> list[Path]:
    return list((root / "profiles" / ".drafts").iterdir())


def changed(raw: bytes, change: Callable[[apsw.Connection], object], folder: Path) -> bytes:
    """Return a backup whose database was changed, with digests that fit again."""
    reader = ArchiveReader(pieces(raw))
    manifest = reader.manifest()
    path = folder / "changed.db"
    path.unlink(missing_ok=True)
    reader.database(manifest.profiles[0], path)
    with closing(open_connection(path, write=False)) as connection:
        connection.execute("PRAGMA query_only = OFF")
        change(connection)
    return packed(manifest, path)


def packed(manifest: Manifest, path: Path, **other: object) -> bytes:
    values = {
        name: getattr(manifest.profiles[0], name)
        for name in manifest.profiles[0].__dataclass_fields__
    }
    values |= {
        "file_bytes": path.stat().st_size,
        "blake3": blake3(path.read_bytes()).hexdigest(),
        **other,
    }
    entry = type(manifest.profiles[0])(**values)
    made = Manifest(made_at_ms=manifest.made_at_ms, build=manifest.build, profiles=(entry,))
    return b"".join(ArchiveWriter(made, {entry.name: path}).pieces())


def test_a_backup_comes_back_in_another_home_as_it_was(stubs: Stubs, tmp_path: Path) -> None:
    room = stubs.room
    for number in range(5):
        room.insert(f"note {number}", "a body " * 30)
    room.wait_until_joined()
    raw = create(stubs)

    with open_room(tmp_path / "other") as other, served(other) as theirs:
        done = restore(theirs, raw)
        with other.profiles.use("default") as profile:
            report = verify_trail(profile)
            vectors = profile.serving_model
        again = other.insert("note 5")
        found = titles(other)

    assert [(each.source, each.name, each.notes) for each in done.profiles] == [
        ("default", "default", 5)
    ]
    assert all(check.ok for check in done.checks)
    assert report.ok, report.summary
    assert vectors is not None
    assert again.id
    assert found == {f"note {number}" for number in range(6)}


def test_the_reply_tells_what_the_backup_holds(stubs: Stubs) -> None:
    note = stubs.room.insert("one")
    stubs.room.insert("two")
    stubs.room.change(Verb.REJECT, note.id)
    stubs.room.wait_until_embedded()

    replies = list(stubs.backups.CreateBackup(pb.CreateBackupRequest()))

    backup = replies[-1].backup
    sent = b"".join(each.piece for each in replies)
    (profile,) = backup.profiles
    assert (profile.name, profile.notes, profile.events, profile.rejections) == ("default", 2, 3, 1)
    assert (profile.model, profile.vectors) == ("fake", 2)
    assert backup.bytes == len(sent) == max(each.file_bytes for each in replies)
    assert verify(stubs, sent).backup == backup
    assert replies[0].progress.profile == "default"


def test_writers_go_on_while_a_backup_is_made(stubs: Stubs) -> None:
    room = stubs.room
    for number in range(20):
        room.insert(f"before {number}", "b" * 20_000)
    stream = stubs.backups.CreateBackup(pb.CreateBackupRequest())
    next(stream)

    after = [room.insert(f"meanwhile {number}").id for number in range(5)]
    raw = b"".join(reply.piece for reply in stream)

    assert len(after) == 5
    assert verify(stubs, raw).backup.profiles[0].notes >= 20
    assert all(check.ok for check in verify(stubs, raw).checks)


def test_what_is_there_stays_unless_it_is_to_be_replaced(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("in the backup")
    raw = create(stubs)
    room.insert("newer than the backup")

    beside = restore(stubs, raw)
    reason, message = refused(lambda: restore(stubs, raw, profile="default"))
    third = restore(stubs, raw)

    assert beside.profiles[0].name == "default-restored"
    assert third.profiles[0].name == "default-restored-2"
    assert (reason, "--replace" in message) == ("PROFILE_EXISTS", True)
    assert titles(room) == {"in the backup", "newer than the backup"}
    assert titles(room, "default-restored") == {"in the backup"}


def test_what_is_replaced_is_put_aside_and_can_be_taken_back(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("in the backup")
    raw = create(stubs)
    room.insert("newer than the backup")

    done = restore(stubs, raw, replace=True)

    aside = Path(done.profiles[0].put_aside)
    assert titles(room) == {"in the backup"}
    assert aside.stat().st_mode & 0o777 == 0o600
    restore(stubs, aside.read_bytes(), profile="again")
    assert titles(room, "again") == {"in the backup", "newer than the backup"}


def test_only_so_many_of_what_was_put_aside_are_kept(stubs: Stubs) -> None:
    stubs.room.insert("a note")
    raw = create(stubs)
    put_aside = []
    for _ in range(KEPT_MAX + 2):
        stubs.room.clock.ms += 1
        put_aside.append(restore(stubs, raw, replace=True).profiles[0].put_aside)

    kept = sorted(str(path) for path in (stubs.room.root / "backups").iterdir())
    assert kept == put_aside[-KEPT_MAX:]


@pytest.mark.parametrize("replace", [True, False])
def test_what_was_erased_or_rejected_since_does_not_come_back(stubs: Stubs, replace: bool) -> None:
    room = stubs.room
    erased = room.insert("the zanzibar note", "zanzibar")
    rejected = room.insert("the crane is blue")
    room.insert("a sibling that stays")
    room.wait_until_joined()
    raw = create(stubs)
    assert b"zanzibar" in raw
    room.delete(erased.id)
    room.change(Verb.REJECT, rejected.id)

    (done,) = restore(stubs, raw, replace=replace).profiles

    place = room.profiles.path(done.name)
    with room.profiles.use(done.name) as profile:
        report = verify_trail(profile)
        again = store(stubs, done.name, "the crane is blue")
    assert (done.erased, done.rejected) == (1, 1)
    assert titles(room, done.name) == {"a sibling that stays"}
    assert b"zanzibar" not in place.read_bytes()
    assert report.ok, report.summary
    assert again == "REJECTED_TEXT"


def test_without_anything_erased_or_rejected_all_of_it_comes_back(stubs: Stubs) -> None:
    room = stubs.room
    for title in ("the zanzibar note", "the crane is blue", "a sibling"):
        room.insert(title)
    raw = create(stubs)

    (done,) = restore(stubs, raw, replace=True).profiles

    assert (done.erased, done.rejected) == (0, 0)
    assert titles(room) == {"the zanzibar note", "the crane is blue", "a sibling"}


def test_what_was_erased_stays_so_over_a_second_restore(stubs: Stubs) -> None:
    room = stubs.room
    erased = room.insert("the zanzibar note")
    raw = create(stubs)
    room.delete(erased.id)

    restore(stubs, raw, replace=True)
    (done,) = restore(stubs, raw, replace=True).profiles

    assert done.erased == 1
    assert titles(room) == set()


def test_another_memory_of_the_same_name_does_not_reach_what_is_restored_beside_it(
    stubs: Stubs, tmp_path: Path
) -> None:
    stubs.room.insert("the crane is blue")
    raw = create(stubs)

    with open_room(tmp_path / "other") as other, served(other) as theirs:
        note = other.insert("the crane is blue")
        other.change(Verb.REJECT, note.id)
        (done,) = restore(theirs, raw).profiles
        found = titles(other, done.name)

    assert (done.name, done.rejected) == ("default-restored", 0)
    assert found == {"the crane is blue"}


def test_questions_that_were_cleared_since_do_not_come_back(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("a note")
    insert = (
        "INSERT INTO misses (scopes, all_scopes, words_hash, count, first_at, last_at, question)"
        " VALUES ('[\"user\"]', 0, x'00', 1, 0, 0, 'where is zanzibar')"
    )
    room.profile.run(lambda connection: connection.execute(insert).fetchall())
    raw = create(stubs)
    room.clock.ms += 1
    assert clear_misses(stubs) == 1

    restore(stubs, raw, profile="again")

    with room.profiles.use("again") as profile, profile.snapshot() as connection:
        assert connection.execute("SELECT * FROM misses").fetchall() == []
    assert b"zanzibar" in raw


def test_all_profiles_come_back_each_by_its_name(stubs: Stubs, tmp_path: Path) -> None:
    room = stubs.room
    room.insert("of the default one")
    room.profiles.add("work")
    assert store(stubs, "work", "of work") == ""
    raw = create(stubs, all_profiles=True)

    with open_room(tmp_path / "other") as other, served(other) as theirs:
        restore(theirs, raw)
        one = restore(theirs, raw, profile="work", replace=True)
        none = refused(lambda: restore(theirs, raw, profile="play"))
        found = [titles(other), titles(other, "work")]

    assert found == [{"of the default one"}, {"of work"}]
    assert [each.name for each in one.profiles] == ["work"]
    assert none[0] == "PROFILE_NOT_FOUND"


def test_a_dry_run_changes_no_file(stubs: Stubs) -> None:
    room = stubs.room
    note = room.insert("a note")
    room.wait_until_joined()
    raw = create(stubs)
    room.delete(note.id)
    before = state_of(room)

    (done,) = restore(stubs, raw, replace=True, dry_run=True).profiles

    assert (done.name, done.event, done.erased, done.put_aside) == ("default", 0, 1, "")
    assert state_of(room) == before
    assert drafts(room.root) == []


def test_an_older_backup_is_brought_up_to_date(stubs: Stubs, tmp_path: Path) -> None:
    raw = old_backup(tmp_path / "old.db", 1)

    checked = verify(stubs, raw)
    (done,) = restore(stubs, raw, profile="old").profiles

    assert [check.detail for check in checked.checks if check.name == "schema"] == ["schema 1"]
    assert done.schema_before == 1
    with stubs.room.profiles.use("old") as profile, profile.snapshot() as connection:
        assert connection.pragma("user_version") == max(migrations())


@pytest.mark.parametrize("schema", ["03", "06", "09", "10"])
def test_a_backup_of_a_file_that_an_earlier_version_wrote_comes_back_with_its_log(
    stubs: Stubs, tmp_path: Path, schema: str
) -> None:
    stubs.room.insert("a note")
    manifest = ArchiveReader(pieces(create(stubs))).manifest()
    with tarfile.open(OLD / f"schema-{schema}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    head = json.loads((tmp_path / "default.head").read_text())
    raw = packed(
        manifest,
        tmp_path / "graft.db",
        schema=int(schema),
        events=head["count"],
        head=head["hash"],
        key=(tmp_path / "key").read_bytes().hex(),
    )

    (done,) = restore(stubs, raw, profile="old").profiles

    with stubs.room.profiles.use("old") as profile:
        report = verify_trail(profile)
    assert done.schema_before == int(schema)
    assert "the quay crane is oiled on Tuesdays" in titles(stubs.room, "old")
    assert report.ok, report.summary


def test_a_newer_backup_is_refused_with_both_numbers(stubs: Stubs, tmp_path: Path) -> None:
    stubs.room.insert("a note")
    newest = max(migrations())
    raw = changed(
        create(stubs), lambda file: file.execute(f"PRAGMA user_version = {newest + 1}"), tmp_path
    )

    reason, message = refused(lambda: restore(stubs, raw, profile="new"))

    assert reason == "SCHEMA_TOO_NEW"
    assert f"schema {newest + 1}, this one knows {newest}" in message
    assert stubs.room.profiles.names() == ["default"]


TRIGGER = "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM notes; END"
HOSTILE = {
    "a trigger": (TRIGGER, "no profile of schema 13 has"),
    "a table": ("CREATE TABLE other (a)", "no profile of schema 13 has"),
    "a table like a model's": ("CREATE TABLE vec_bits_9 (a)", "no profile of schema 13 has"),
    "no trigger": ("DROP TRIGGER events_never_go", "is no profile of schema 13"),
    "another text": ("UPDATE notes SET title = 'another'", "does not fit its log"),
    "a rejection": (
        "INSERT INTO tombstones (value_hash, scope, reason, actor, at)"  # noqa: ISC004 - one text
        " VALUES (randomblob(32), 'user', '', 'agent', 0)",
        "does not fit its log",
    ),
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_a_backup_that_was_changed_is_refused_and_changes_nothing(
    stubs: Stubs, tmp_path: Path, what: str
) -> None:
    stubs.room.insert("a note")
    stubs.room.insert("another")
    stubs.room.wait_until_joined()
    statement, why = HOSTILE[what]
    raw = changed(create(stubs), lambda file: file.execute(statement).fetchall(), tmp_path)
    before = state_of(stubs.room)

    reason, message = refused(lambda: restore(stubs, raw, profile="new"))

    assert (reason, why in message) == ("BAD_BACKUP", True), message
    assert refused(lambda: verify(stubs, raw))[0] == "BAD_BACKUP"
    assert state_of(stubs.room) == before
    assert drafts(stubs.room.root) == []


def test_what_is_no_backup_leaves_nothing_behind(stubs: Stubs) -> None:
    stubs.room.insert("a note")
    raw = create(stubs)

    for wrong in (b"", b"text" * 1_000, raw[:-1], raw[:5_000], raw[:-2_000] + bytes(2_000)):
        assert refused(lambda: restore(stubs, wrong, profile="new"))[0] == "BAD_BACKUP"  # noqa: B023 - called at once

    assert stubs.room.profiles.names() == ["default"]
    assert drafts(stubs.room.root) == []


def test_a_backup_that_claims_more_than_the_disk_has_is_refused_before_it_is_read(
    stubs: Stubs, tmp_path: Path
) -> None:
    stubs.room.insert("a note")
    reader = ArchiveReader(pieces(create(stubs)))
    manifest = reader.manifest()
    path = tmp_path / "small.db"
    reader.database(manifest.profiles[0], path)
    raw = packed(manifest, path, file_bytes=1 << 40)

    reason, message = refused(lambda: restore(stubs, raw, profile="new"))

    assert reason == "DISK_FULL"
    assert f"{1 << 40:,} bytes" in message


def test_a_damaged_profile_is_not_backed_up_and_a_backup_takes_its_place(stubs: Stubs) -> None:
    room = stubs.room
    room.tampered = True
    for number in range(50):
        room.insert(f"note {number}", "b" * 4_000)
    room.wait_until_joined()
    raw = create(stubs)
    with room.profiles.alone_with("default", 10.0):
        path = room.profiles.path("default")
        content = bytearray(path.read_bytes())
        content[200_000:230_000] = b"\xff" * 30_000
        path.write_bytes(content)

    reason, _ = refused(lambda: create(stubs))
    (done,) = restore(stubs, raw, replace=True).profiles

    assert reason == "DATABASE_DAMAGED"
    assert len(titles(room)) == 50
    kept = (Path(done.put_aside) / "graft.db").read_bytes()
    assert kept[200_000:230_000] == b"\xff" * 30_000


def test_a_profile_whose_log_does_not_fit_is_backed_up_and_says_so(stubs: Stubs) -> None:
    room = stubs.room
    room.tampered = True
    room.insert("a note")
    room.profile.run(lambda file: file.execute("UPDATE notes SET title = 'other'").fetchall())

    raw = create(stubs)
    checked = verify(stubs, raw)
    restored = restore(stubs, raw, profile="again")

    assert "title" in checked.backup.profiles[0].problem
    assert [check.name for check in checked.checks if not check.ok] == ["audit chain"]
    assert restored.profiles[0].name == "again"


def test_only_a_person_replaces_where_there_is_no_reviewer(stubs: Stubs) -> None:
    stubs.room.insert("a note")
    raw = create(stubs)

    for door in ("mcp", "library", "hook"):
        metadata = (("graft-door", door),)
        reason, _ = refused(lambda: restore(stubs, raw, replace=True, metadata=metadata))  # noqa: B023 - called at once
        assert reason == "NOT_ALLOWED"
    assert restore(stubs, raw, metadata=(("graft-door", "mcp"),)).profiles[0].name


def test_only_the_reviewer_replaces_and_stays_the_reviewer(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("a note")
    raw = create(stubs)
    room.reviewer.set(room.profile, PERSON, PASSPHRASE, "")
    assert refused(lambda: restore(stubs, raw, replace=True))[0] == "NOT_ALLOWED"

    token = room.reviewer.prove(room.profile, PERSON, PASSPHRASE)
    restore(stubs, raw, replace=True, metadata=(*CLI, (REVIEWER_KEY, token)))

    assert room.reviewer.prove(room.profile, PERSON, PASSPHRASE)
    assert room.reviewer.status().problem == ""


def test_a_restore_makes_no_reviewer_of_a_file_that_was_put_there(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("a note")
    raw = create(stubs)
    room.reviewer.set(room.profile, PERSON, PASSPHRASE, "")
    token = room.reviewer.prove(room.profile, PERSON, PASSPHRASE)
    path = room.root / "audit" / "reviewer.json"
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "salt": "00" * 16}))

    restore(stubs, raw, replace=True, metadata=(*CLI, (REVIEWER_KEY, token)))

    assert json.loads(path.read_text())["event"] == stored["event"]


def test_a_caller_that_is_bound_to_scopes_gets_none_and_sends_none(stubs: Stubs) -> None:
    stubs.room.insert("a note")
    raw = create(stubs)
    bound = ((BOUND_SCOPE_KEY, "user"),)

    def made() -> list[object]:
        return list(stubs.backups.CreateBackup(pb.CreateBackupRequest(), metadata=bound))

    def checked() -> object:
        messages = (pb.VerifyBackupRequest(piece=piece) for piece in pieces(raw))
        return stubs.backups.VerifyBackup(messages, metadata=bound)

    assert refused(made)[0] == "NOT_ALLOWED"
    assert refused(checked)[0] == "NOT_ALLOWED"
    assert refused(lambda: restore(stubs, raw, metadata=bound))[0] == "NOT_ALLOWED"


def test_a_restore_without_options_or_with_a_bad_name_is_refused(stubs: Stubs) -> None:
    stubs.room.insert("a note")
    raw = create(stubs)

    for name in ("../x", "a/b", ".hidden", "x" * 65):
        assert refused(lambda: restore(stubs, raw, profile=name))[0] == "BAD_FIELD"  # noqa: B023 - called at once
    none: Iterator[pb.RestoreBackupRequest] = iter([pb.RestoreBackupRequest(piece=raw[:100])])
    assert refused(lambda: stubs.backups.RestoreBackup(none))[0] == "BAD_FIELD"
    large = iter([pb.VerifyBackupRequest(piece=bytes((1 << 20) + 1))])
    assert refused(lambda: stubs.backups.VerifyBackup(large))[0] == "BAD_FIELD"


def test_a_caller_that_goes_away_leaves_no_draft(stubs: Stubs) -> None:
    for number in range(20):
        stubs.room.insert(f"note {number}", "b" * 100_000)
    stream = stubs.backups.CreateBackup(pb.CreateBackupRequest())
    next(stream)
    stream.cancel()

    # The next one waits for its turn, which comes when the first has been put away.
    assert create(stubs)
    assert drafts(stubs.room.root) == []


def test_who_works_with_a_profile_finishes_before_it_is_replaced(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("in the backup")
    raw = create(stubs)
    done: list[str] = []
    working, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with room.profiles.use("default") as profile, profile.snapshot():
            working.set()
            may_end.wait(20)
            done.append("worked")

    worker = threading.Thread(target=work)
    worker.start()
    working.wait(20)
    threading.Timer(0.2, may_end.set).start()
    restore(stubs, raw, replace=True)
    done.append("replaced")
    worker.join()

    assert done == ["worked", "replaced"]


def old_backup(path: Path, schema: int) -> bytes:
    """Make a backup of an empty profile as the first version of the program had it."""
    path.parent.mkdir(exist_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        for number, script in migrations().items():
            if number <= schema:
                connection.execute(script)
        connection.execute(f"PRAGMA user_version = {schema}")
    with open_room(path.parent / "maker") as maker, served(maker) as theirs:
        reader = ArchiveReader(pieces(create(theirs)))
        return packed(reader.manifest(), path, schema=schema, events=0, head="")


def store(stubs: Stubs, profile: str, title: str) -> str:
    """Store a note in a profile; return why that was refused, empty where it was not."""
    request = notes_service_pb2.InsertNoteRequest(
        profile=profile,
        note=notes_service_pb2.NewNote(title=title),
        request_id=str(UUID(bytes=os.urandom(16))),
    )
    try:
        stubs.notes.InsertNote(request)
    except grpc.RpcError as error:
        return read_refusal(error).reason
    return ""


def clear_misses(stubs: Stubs) -> int:
    """Erase the questions that nothing answered; return how many there were."""
    request = recall_service_pb2.ClearMissesRequest(
        scope=note_pb2.ScopeFilter(all=True), request_id=str(UUID(bytes=os.urandom(16)))
    )
    return stubs.recall.ClearMisses(request).questions
