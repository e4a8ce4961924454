import asyncio
import inspect
from pathlib import Path

import grpc
import pytest
from tests.unit.client.fake_memstore import FakeState

from graft.wire.errors import StoppingError
from graft_client import AsyncGraft, Graft, NewNote
from graft_client.errors import DeadlineError, NobodyAnsweredError, NotFoundError
from graft_client.settings import configure

SYNC_ALONE = {"close", "insert_batches"}


def client(home: Path, directory: Path) -> AsyncGraft:
    return AsyncGraft(configuration=configure(home=home, directory=directory, environ={}))


def test_it_has_the_verbs_of_the_blocking_client_with_the_same_arguments() -> None:
    def public(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(kind)
            if inspect.isfunction(member) and not name.startswith("_") and name not in SYNC_ALONE
        }

    assert public(AsyncGraft) == public(Graft)


def test_notes_are_stored_listed_and_deleted(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    async def work() -> tuple[list[str], str]:
        async with client(home, tmp_path) as graft:
            first = await graft.insert("first", "body")
            await graft.insert_many([NewNote(title=f"more {n}") for n in range(3)])
            titles = [note.title async for note in graft.list()]
            deleted = await graft.delete(first.id, reason="done")
            return titles, deleted.outcome

    titles, outcome = asyncio.run(work())

    assert titles == ["more 2", "more 1", "more 0", "first"]
    assert outcome == "erased"
    assert len(memstore.notes) == 3


def test_calls_may_run_at_once_and_are_repeated_where_that_is_safe(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    memstore.failures += [StoppingError("stopping"), grpc.StatusCode.UNAVAILABLE]

    async def work() -> None:
        async with client(home, tmp_path) as graft:
            await asyncio.gather(*(graft.insert(f"note {n}") for n in range(8)))

    asyncio.run(work())

    assert len(memstore.notes) == 8
    assert len(memstore.requests("InsertNote")) == 10


def test_failures_are_errors_of_graft(home: Path, memstore: FakeState, tmp_path: Path) -> None:
    async def work() -> None:
        async with client(home, tmp_path) as graft:
            with pytest.raises(NotFoundError):
                await graft.get("12345678")
            memstore.failures.append(grpc.StatusCode.UNAVAILABLE)
            with pytest.raises(NobodyAnsweredError):
                await graft.add_profile("work")
            memstore.hold = True
            with pytest.raises(DeadlineError):
                await graft.within(0.3).query("x")

    asyncio.run(work())


def test_the_services_are_looked_after_without_blocking_the_loop(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    async def work() -> int | None:
        async with client(home, tmp_path) as graft:
            status = await graft.status()
            assert status.memstore is not None
            assert status.memstore.pid == 4242
            return await graft.stop()

    assert asyncio.run(work()) == 4242
    assert [name for name, _ in memstore.received] == ["GetStatus", "Stop"]


def test_a_question_says_what_is_there(home: Path, memstore: FakeState, tmp_path: Path) -> None:
    memstore.query_reply.context_wanted.append("pypi:django")

    async def work() -> tuple[str, ...]:
        async with client(home, tmp_path) as graft:
            await graft.insert("t", applies_to=["os:linux"])
            return (await graft.query("x", context=["os:linux"])).context_wanted

    assert asyncio.run(work()) == ("pypi:django",)
    (request,) = memstore.requests("Query")
    assert list(request.context) == ["os:linux"]  # type: ignore[attr-defined] # the fake keeps all kinds
    assert [list(each.applies_to) for each in memstore.notes.values()] == [["os:linux"]]
