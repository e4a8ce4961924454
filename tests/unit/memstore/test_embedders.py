"""Embedder processes: started when needed, waited for, replaced, never mixed up."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graft.wire.build import build_id
from graft.wire.errors import ModelNotReadyError
from graft.wire.launch import find_running, is_alive
from graft.wire.models import RegistryError
from graft.wire.paths import Home
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import Launch
from graft_memstore.embedders import Embedders
from graft_memstore.embedding import QueryVector, TextRefusedError, WantedModel
from graft_memstore.model import Background

SCRIPT = Path(__file__).with_name("standin_embedder.py")
LONG = 30.0
ONE = WantedModel(name="one")


class Household:
    """A home whose embedders are stand-ins."""

    def __init__(self, root: Path) -> None:
        root.chmod(0o700)
        self.home = Home(root=root)
        self.launch = Launch(
            home=self.home,
            command=(sys.executable, str(SCRIPT), "--home", str(root)),
            environ={"PATH": "/usr/bin:/bin"},
            build=build_id(),
            obstacle=lambda: "",
            default=lambda: "one",
        )
        self.embedders = Embedders(self.launch)

    def order(self, model: str, **orders: object) -> None:
        path = self.home.root / f"orders-{model}.json"
        path.write_text(json.dumps(orders), "utf-8")

    def starts(self) -> list[str]:
        path = self.home.root / "starts"
        return path.read_text("utf-8").split() if path.exists() else []

    def ask(
        self, wanted: WantedModel = ONE, seconds: float = LONG, *, patient: bool = True
    ) -> QueryVector:
        deadline = Deadline(seconds, patient=patient)
        return self.embedders.embed_query(wanted, "a question", 0, deadline)

    def wait_for(self, file: str) -> None:
        end = Deadline(LONG)
        while not (self.home.root / file).exists():
            end.wait(0.01)
            assert end.left() > 0, file

    def pid(self, model: str) -> int:
        record = find_running(self.home, f"embedder-{model}")
        return 0 if record is None else record.pid


@pytest.fixture
def household(tmp_path: Path) -> Iterator[Household]:
    """A household that leaves no process behind."""
    opened = Household(tmp_path)
    yield opened
    for name in sorted(set(opened.starts())):
        opened.launch.of(name).end()


def test_it_is_started_at_its_first_use_and_kept(household: Household) -> None:
    before = household.pid("one")

    vector = household.ask()
    household.ask()

    assert before == 0
    assert vector.model.identity == "file of one"
    assert vector.model.background == Background(mean=0.8, deviation=0.03, count=64)
    assert len(vector.values) == 8
    assert household.starts() == ["one"]


def test_an_embedder_that_runs_already_is_used(household: Household) -> None:
    household.ask()

    Embedders(household.launch).embed_query(ONE, "x", 0, Deadline(LONG))

    assert household.starts() == ["one"]


def test_many_that_need_it_at_once_start_one(household: Household) -> None:
    found: list[QueryVector] = []
    threads = [threading.Thread(target=lambda: found.append(household.ask())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)

    assert len(found) == 12
    assert household.starts() == ["one"]


def test_a_call_waits_while_the_model_loads(household: Household) -> None:
    household.order("one", loading_polls=5)

    assert household.ask().model.name == "one"


def test_a_call_gives_up_before_its_deadline_and_says_how_far_it_is(household: Household) -> None:
    household.ask()
    household.launch.of("one").end()
    household.order("one", state="loading")
    deadline = Deadline(4)

    with pytest.raises(ModelNotReadyError, match=r"loading \(40 %\)"):
        household.embedders.embed_query(ONE, "a question", 0, deadline)

    assert deadline.left() > 0


def test_a_model_that_cannot_be_loaded_is_told_and_not_tried_again_at_once(
    household: Household,
) -> None:
    household.order("one", state="failed", problem="the file is damaged; pull it again")

    for _ in range(3):
        with pytest.raises(ModelNotReadyError, match="pull it again"):
            household.ask()

    assert household.starts() == ["one"]
    assert household.pid("one") == 0


def test_an_embedder_that_ends_at_once_is_told_and_not_tried_again_at_once(
    household: Household,
) -> None:
    household.order("one", ends=True)

    for _ in range(3):
        with pytest.raises(ModelNotReadyError, match="the file is gone"):
            household.ask()

    assert household.starts() == ["one"]


def test_one_that_was_killed_is_started_again(household: Household) -> None:
    household.ask()
    os.kill(household.pid("one"), signal.SIGKILL)

    assert household.ask().model.name == "one"
    assert household.starts() == ["one", "one"]


def test_a_text_that_kills_it_is_given_up_on(household: Household) -> None:
    with pytest.raises(ModelNotReadyError, match="ended while it worked"):
        household.embedders.embed_query(ONE, "die", 0, Deadline(LONG))

    assert household.starts() == ["one", "one"]


def test_a_full_queue_is_waited_for(household: Household) -> None:
    household.order("one", busy_times=3)

    assert household.ask().model.name == "one"


def test_a_queue_that_stays_full_is_told(household: Household) -> None:
    household.ask()
    household.order("one", busy_times=10_000)

    with pytest.raises(ModelNotReadyError, match="the queue is full"):
        household.ask(seconds=2)


def test_who_waits_for_nothing_starts_none_and_uses_one_that_is_ready(
    household: Household,
) -> None:
    with pytest.raises(ModelNotReadyError, match="not loaded"):
        household.ask(patient=False)
    before = household.starts()
    household.ask()

    vector = household.ask(patient=False)

    assert before == []
    assert vector.model.identity == "file of one"
    assert household.starts() == ["one"]


def test_who_waits_for_nothing_starts_none_that_has_ended(household: Household) -> None:
    household.ask()
    os.kill(household.pid("one"), signal.SIGKILL)

    with pytest.raises(ModelNotReadyError):
        household.ask(patient=False)

    assert household.starts() == ["one"]
    assert household.ask().model.identity == "file of one"


def test_who_waits_for_nothing_does_not_wait_for_a_full_queue(household: Household) -> None:
    household.order("one", busy_times=1)
    household.embedders.facts(ONE, Deadline(LONG))

    with pytest.raises(ModelNotReadyError):
        household.ask(patient=False)

    assert household.ask().model.identity == "file of one"


def test_a_refused_text_is_told_apart_from_a_missing_model(household: Household) -> None:
    with pytest.raises(TextRefusedError, match="cannot be embedded"):
        household.embedders.embed_passages(ONE, ["refuse"], 1, Deadline(LONG))


def test_vectors_of_another_file_are_never_given(household: Household) -> None:
    wanted = WantedModel(name="one", identity="the old file")

    with pytest.raises(ModelNotReadyError, match="graft reindex --model one") as refusal:
        household.ask(wanted)

    assert refusal.value.metadata == {"state": "other-model"}


def test_two_models_at_most_are_in_memory(household: Household) -> None:
    for name in ("one", "two", "one", "three"):
        household.ask(WantedModel(name=name))

    assert [bool(household.pid(name)) for name in ("one", "two", "three")] == [True, False, True]


def test_three_models_that_are_asked_at_once_take_turns(household: Household) -> None:
    names = ("one", "two", "three")
    answered: list[str] = []
    most: list[int] = []
    ended = threading.Event()

    def ask(name: str) -> None:
        answered.extend(household.ask(WantedModel(name=name)).model.name for _ in range(5))

    def look() -> None:
        while not ended.wait(0.01):
            most.append(sum(is_alive(household.home, f"embedder-{name}") for name in names))

    asking = [threading.Thread(target=ask, args=(name,)) for name in names]
    looking = threading.Thread(target=look)
    for thread in (looking, *asking):
        thread.start()
    for thread in asking:
        thread.join(2 * LONG)
    ended.set()
    looking.join(LONG)

    assert {name: answered.count(name) for name in names} == dict.fromkeys(names, 5)
    assert max(most) == 2


def test_a_third_model_waits_for_one_in_use_and_says_so(household: Household) -> None:
    for name in ("one", "two"):
        household.order(name, state="loading")
    deadlines = [Deadline(600), Deadline(600)]

    def ask(name: str, deadline: Deadline) -> None:
        with pytest.raises(ModelNotReadyError):
            household.embedders.embed_query(WantedModel(name=name), "a question", 0, deadline)

    asking = [
        threading.Thread(target=ask, args=pair)
        for pair in zip(("one", "two"), deadlines, strict=True)
    ]
    for thread in asking:
        thread.start()
    end = Deadline(LONG)
    while len(household.starts()) < 2:
        end.wait(0.01)
        assert end.left() > 0

    try:
        with pytest.raises(ModelNotReadyError, match="two other models"):
            household.ask(WantedModel(name="three"), seconds=1)
    finally:
        for deadline in deadlines:
            deadline.cancel()
        for thread in asking:
            thread.join(LONG)
    assert sorted(household.starts()) == ["one", "two"]


def test_telling_how_they_are_starts_nothing(household: Household) -> None:
    assert household.embedders.reports(["one", "two"]) == []
    household.ask()

    (report,) = household.embedders.reports(["one"])

    assert (report.model, report.state) == ("one", "ready")
    assert report.pid == household.pid("one")
    assert household.starts() == ["one"]


def test_one_that_somebody_else_started_is_told_too(household: Household) -> None:
    household.ask()

    reports = Embedders(household.launch).reports(["one"])

    assert [report.pid for report in reports] == [household.pid("one")]


def test_a_failed_one_is_told_with_its_problem(household: Household) -> None:
    household.order("one", ends=True)
    with pytest.raises(ModelNotReadyError):
        household.ask()

    (report,) = household.embedders.reports([])

    assert report.state == "failed"
    assert "the file is gone" in report.problem


def test_stopping_ends_those_that_were_used(household: Household) -> None:
    household.ask()

    household.embedders.stop()

    assert household.pid("one") == 0


def test_nothing_is_started_after_the_end(household: Household) -> None:
    household.ask()

    household.embedders.stop()

    with pytest.raises(ModelNotReadyError, match="stopping"):
        household.ask()
    assert household.starts() == ["one"]


def test_a_call_that_outlives_the_end_leaves_nothing_running(household: Household) -> None:
    household.order("one", state="loading")
    refused: list[str] = []

    def ask() -> None:
        with pytest.raises(ModelNotReadyError) as refusal:
            household.ask()
        refused.append(refusal.value.message)

    asking = threading.Thread(target=ask)
    asking.start()
    end = Deadline(LONG)
    while not household.pid("one"):
        end.wait(0.01)
        assert end.left() > 0

    household.embedders.stop()
    asking.join(LONG)

    assert "stopping" in refused[0]
    assert household.pid("one") == 0


def test_an_idle_one_of_another_build_is_replaced(household: Household) -> None:
    household.ask()
    newer = Embedders(replace(household.launch, build="9.9.9+9"))

    newer.embed_query(ONE, "a question", 0, Deadline(LONG))

    assert household.starts() == ["one", "one"]


def test_where_none_can_be_started_the_reason_is_told(household: Household) -> None:
    launch = replace(household.launch, obstacle=lambda: "run: pip install it")
    embedders = Embedders(launch)

    with pytest.raises(ModelNotReadyError, match="pip install it"):
        embedders.embed_query(ONE, "a question", 0, Deadline(LONG))

    assert household.starts() == []


def test_a_caller_that_goes_is_not_waited_for(household: Household) -> None:
    household.order("one", state="loading")
    deadline = Deadline(600)
    ended = threading.Event()

    def ask() -> None:
        with pytest.raises(ModelNotReadyError):
            household.embedders.embed_query(ONE, "a question", 0, deadline)
        ended.set()

    asking = threading.Thread(target=ask)
    asking.start()
    deadline.cancel()

    assert ended.wait(LONG)
    asking.join(LONG)


def test_bulk_work_in_hand_is_ended_when_its_caller_goes(household: Household) -> None:
    household.ask()
    deadline = Deadline(600)

    def ask() -> None:
        with pytest.raises(ModelNotReadyError, match="the caller has gone"):
            household.embedders.embed_passages(ONE, ["wait"], 1, deadline)

    asking = threading.Thread(target=ask)
    asking.start()
    household.wait_for("waiting")
    deadline.cancel()

    household.wait_for("ended")
    asking.join(LONG)


def test_a_question_in_hand_is_ended_at_its_deadline(household: Household) -> None:
    household.ask()

    with pytest.raises(ModelNotReadyError, match="busy"):
        household.embedders.embed_query(ONE, "wait", 0, Deadline(1))

    household.wait_for("ended")


@pytest.mark.parametrize("name", ["", "../x", "UPPER", "x" * 41, "x.start"])
def test_what_is_no_name_of_a_model_starts_nothing(household: Household, name: str) -> None:
    with pytest.raises(ModelNotReadyError, match="no name of a model"):
        household.ask(WantedModel(name=name))

    assert household.starts() == []


def test_a_registry_that_cannot_be_read_is_a_reason(household: Household) -> None:
    def broken() -> str:
        raise RegistryError("models.json is not JSON; move it away")

    with pytest.raises(ModelNotReadyError, match="move it away"):
        Embedders(replace(household.launch, default=broken)).default_model()
