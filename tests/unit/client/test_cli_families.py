import io
import json
from pathlib import Path

import click
import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import (
    daemon_service_pb2,
    note_pb2,
    profiles_service_pb2,
    recall_service_pb2,
)
from graft.wire.models import STARTER
from graft_client.cli.models import complete_models_or_files
from graft_client.cli.options import META_KEY, complete_profiles
from graft_client.cli.output import Output, Style, bar, printable
from graft_client.cli.profiles import complete_models
from graft_client.cli.waiting import describe, tell_default_model
from graft_client.cli.words import count_of, duration, size, where_searched
from graft_client.programs import missing
from graft_client.results import EmbedderStatus
from graft_client.settings import configure

PARAMETER = click.Option(["--any"])


def context(home: Path) -> click.Context:
    made = click.Context(click.Command("any"))
    made.meta[META_KEY] = {"home": str(home)}
    return made


def embedder(state: str, percent: int = 0) -> EmbedderStatus:
    return EmbedderStatus(
        pid=1,
        socket="/s",
        model="starter",
        state=state,
        percent=percent,
        problem="",
        uptime_s=0.0,
        backend="cpu",
    )


def test_a_note_is_shown_with_everything_that_is_known_of_it(
    command: Command, memstore: FakeState
) -> None:
    stored = command(
        *("insert", "--title", "t", "--body", "b\n", "--keyword", "k", "--scope", "user"),
        *("--source", "file:a.py", "--author", "me", "--kind", "dead-end", "--json"),
        *("--valid-to", "2026-06-01T00:00:00Z", "--expires-at", "2027-01-01T00:00:00Z"),
    ).json()

    shown = command("get", stored["id"]).out

    lines = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
    assert lines["id"].strip() == stored["id"]
    assert lines["state"].strip() == "active, observed"
    assert (lines["kind"].strip(), lines["author"].strip()) == ("dead-end", "me")
    assert lines["source"].strip() == "file:a.py"
    assert {"valid to", "expires", "saved"} <= set(lines)
    assert shown.startswith("    t\n")
    assert shown.endswith("\n\n    b\n")
    assert len(memstore.notes) == 1


def test_profiles_are_listed_made_and_named(command: Command, memstore: FakeState) -> None:
    added = command("profile", "add", "work")
    again = command("profile", "add", "work", "--json")
    listed = command("profile", "list", "--profile", "work").out
    current = command("profile", "current", "--profile", "work")

    assert added.out == "added work; use it with --profile work\n"
    assert (again.code, again.error()["reason"]) == (1, "PROFILE_EXISTS")
    assert listed.splitlines()[1].startswith("*\twork\t")
    assert (current.out, current.err) == ("work\n", "graft: chosen by flag\n")
    assert memstore.profiles == ["default", "work"]


def test_a_reindex_is_begun_followed_or_left_alone(command: Command, memstore: FakeState) -> None:
    running = profiles_service_pb2.GetReindexResponse(
        state=profiles_service_pb2.REINDEX_STATE_RUNNING, target_model="m", done=3, total=4
    )
    memstore.reindex_replies = [running]

    left = command("reindex", "--model", "m", "--detach")
    memstore.reindex_replies = [
        profiles_service_pb2.GetReindexResponse(state=profiles_service_pb2.REINDEX_STATE_NONE)
    ]
    followed = command("reindex", "--json").json()

    assert "moving to m: 3 of 4 notes; it goes on in the background" in left.out
    assert followed["state"] == "none"
    assert len(memstore.requests("StartReindex")) == 1


def test_a_reindex_that_cannot_go_on_ends_with_its_problem(
    command: Command, memstore: FakeState
) -> None:
    memstore.reindex_replies = [
        profiles_service_pb2.GetReindexResponse(
            state=profiles_service_pb2.REINDEX_STATE_WAITING,
            target_model="m",
            problem="no file; run: graft model pull m",
        )
    ]

    done = command("reindex", "--model", "m", "--json", "--timeout", "0.7")

    assert done.code == 1
    assert "graft model pull m" in done.error()["message"]


def test_counts_are_shown_by_scope(command: Command, memstore: FakeState) -> None:
    command("insert", "--title", "t")

    lines = command("stats").out.splitlines()

    assert lines[0] == "notes\t1"
    assert "size\t4.0 KiB" in lines
    assert "model\tstarter" in lines
    assert memstore.requests("GetStats") != []


def test_stopping_says_which_process_ended(command: Command, memstore: FakeState) -> None:
    assert command("stop").out == "stopped process 4242\n"
    assert command("stop", "--json").json() == {"stopped": 4242}
    assert len(memstore.requests("Stop")) == 2


def test_nothing_is_started_beside_a_memstore_that_runs_elsewhere(command: Command) -> None:
    done = command("start", "--json")

    assert done.code == 2
    assert "GRAFT_TARGET" in done.error()["message"]


def test_a_failed_embedder_is_shown_with_its_problem(command: Command, memstore: FakeState) -> None:
    memstore.status_reply.embedders.append(
        daemon_service_pb2.EmbedderStatus(model="m", state="failed", problem="no such file")
    )

    assert "embedder  m: failed\n          no such file\n" in command("status").out


def test_config_tells_path_values_and_whether_the_file_is_good(
    command: Command, memstore: FakeState, home: Path
) -> None:
    memstore.status_reply.settings["threads"] = "4"

    shown = command("config", "show")

    assert command("config", "path").out == f"{home}/config.toml\n"
    assert command("config", "check").out == f"{home}/config.toml is good\n"
    assert "threads\t0\tdefault\tGRAFT_THREADS\t4\n" in shown.out
    assert "graft stop" in shown.err


def test_results_are_lines_of_values_where_no_person_looks(
    command: Command, memstore: FakeState
) -> None:
    memstore.retrieve_reply = recall_service_pb2.RetrieveResponse(
        results=[
            recall_service_pb2.RetrievedNote(
                id="a" * 24 + "12345678",
                title="tab\there",
                score=0.5,
                keywords=["k", "j"],
                trust=note_pb2.TRUST_DISPUTED,
                trust_reason="not here",
            )
        ],
        degraded=["vector"],
    )

    found = command("retrieve", "x")
    memstore.retrieve_reply.Clear()
    nothing = command("retrieve", "x", "--scope", "user")

    assert found.out == "12345678\t0.5000\ttab\\there [disputed: not here]\tk, j\n"
    assert "without vector" in found.err
    assert (nothing.out, nothing.code) == ("", 0)
    assert "nothing found" in nothing.err


def test_usage_is_shown_with_the_way_to_the_help(command: Command) -> None:
    done = command("retrieve", "x", "--top-k", "many")

    assert done.code == 2
    assert done.err.startswith("Usage: graft retrieve")
    assert done.err.endswith("graft: see graft retrieve --help\n")


def test_profiles_and_models_are_offered_for_completion(home: Path) -> None:
    (home / "profiles" / "work").mkdir(parents=True)
    (home / "models.json").write_text(json.dumps({"registered": {"mine": {}}}))

    profiles = complete_profiles(context(home), PARAMETER, "w")
    models = complete_models(context(home), PARAMETER, "")

    assert [each.value for each in profiles] == ["work"]
    assert [each.value for each in models] == ["bge-m3", "mine", "starter"]


def test_the_shell_completes_paths_where_a_file_may_be_meant(home: Path) -> None:
    model = complete_models_or_files(context(home), PARAMETER, "st")
    file = complete_models_or_files(context(home), PARAMETER, "./my")

    assert [(each.type, each.value) for each in model] == [("plain", STARTER)]
    assert [(each.type, each.value) for each in file] == [("file", "./my")]


def test_completion_offers_what_it_can_in_a_broken_home(home: Path) -> None:
    (home / "config.toml").write_text("[")

    assert complete_profiles(context(home), PARAMETER, "") == []
    assert [each.value for each in complete_models(context(home), PARAMETER, "s")] == [STARTER]


def test_the_default_model_is_named_once_in_a_home(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = configure(home=home, environ={})
    output = Output(Style())

    tell_default_model(configuration, output)
    tell_default_model(configuration, output)

    said = capsys.readouterr().err
    assert said.count("the model starter by default") == 1
    assert "graft model pull bge-m3" in said


@pytest.mark.parametrize(
    ("state", "percent", "expected"),
    [
        ("starting", 0, "starting the embedder"),
        ("converting", 43, "writing the model starter 43 %"),
        ("loading", 99, "loading the model starter 99 %"),
        ("ready", 100, ""),
        ("failed", 0, ""),
    ],
)
def test_what_is_waited_for_is_said_in_plain_words(state: str, percent: int, expected: str) -> None:
    assert describe(embedder(state, percent)) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 漢字 🦀", "plain ü 漢字 🦀"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("two\nlines\ttab", "two lines\\ttab"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("right\u202eleft\u2028", "right\\u202eleft\\u2028"),
        ("half \udce9", "half \\udce9"),
    ],
)
def test_only_what_steers_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_json_holds_no_character_that_steers_a_terminal_and_loses_none() -> None:
    said = "\x1b[2J \x7f \x9b2J \u202e \u2028 \U000e0041 \ud800 👩‍👩‍👧 ü"
    data = io.TextIOWrapper(io.BytesIO(), "utf-8")

    Output(Style(as_json=True), data=data).record({"said": said})

    data.seek(0)
    line = data.read()
    assert {each for each in line if not each.isprintable()} == {"\n", "\u200d"}
    assert json.loads(line) == {"said": said}


def test_lines_of_a_body_stay_lines() -> None:
    assert printable("a\r\n\tb\x1b", multiline=True) == "a\n\tb\\x1b"


def test_amounts_are_put_for_people() -> None:
    assert [size(count) for count in (0, 1023, 1024, 5 << 20)] == [
        *("0 bytes", "1023 bytes", "1.0 KiB", "5.0 MiB")
    ]
    assert [duration(seconds) for seconds in (0.4, 61, 3_600, 90_061)] == [
        *("0 s", "1 min 1 s", "1 h", "1 d 1 h")
    ]
    assert [count_of(1, "note"), count_of(1_234, "note")] == ["1 note", "1,234 notes"]
    assert bar(0, 0, width=4) == "────   0%"
    assert bar(5, 4, width=4) == "━━━━ 100%"
    assert where_searched((), 0) == "searched every scope"
    assert "1 note lies elsewhere" in where_searched(("user",), 1)


def test_what_is_not_installed_is_named() -> None:
    assert missing(("json", "no_such_module_anywhere")) == ["no_such_module_anywhere"]
