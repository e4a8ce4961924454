"""What `graft doctor --gate` shows, applies and undoes."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import daemon_service_pb2 as pb
from graft.wire.errors import WrongStateError
from graft_client import AsyncGraft, Graft
from graft_client.gate_reports import GateStep
from graft_client.settings import configure


def rates(false: int, missed: int) -> pb.GateRates:
    return pb.GateRates(
        false_strong=pb.GateRate(count=false, total=100, share=false / 100, low=0.01, high=0.2),
        missed_strong=pb.GateRate(count=missed, total=50, share=missed / 50, low=0.1, high=0.4),
    )


def kind(name: str, count: int, total: int, *, answerable: bool) -> pb.GateKindRate:
    rate = pb.GateRate(count=count, total=total, share=count / total, low=0.1, high=0.4)
    return pb.GateKindRate(kind=name, answerable=answerable, wrong=rate)


def replies(
    *objections: str, proposed: float = 0.75, applied: bool = False
) -> list[pb.MeasureGateResponse]:
    report = pb.GateReport(
        notes=30,
        strong=0.5,
        strong_fitted=0.5,
        strong_proposed=proposed,
        rates=rates(8, 10),
        by_kind=[
            kind("mixed", 6, 40, answerable=False),
            kind("title", 2, 60, answerable=False),
            kind("title", 10, 50, answerable=True),
        ],
        held_out=rates(4, 5),
        held_out_proposed=rates(1, 5),
        calibration=[
            pb.CalibrationBin(
                low=0.5,
                high=0.6,
                predicted=0.56,
                right=pb.GateRate(count=3, total=4, share=0.75, low=0.3, high=0.95),
            )
        ],
        objections=objections,
        applied=applied,
    )
    return [
        pb.MeasureGateResponse(done=0, total=1),
        pb.MeasureGateResponse(done=1, total=1, report=report),
    ]


def test_figures_and_the_proposal_are_shown(command: Command, memstore: FakeState) -> None:
    memstore.gate_replies = replies()

    done = command("doctor", "--gate", "--profile", "work")

    assert done.code == 0
    assert done.out.splitlines() == [
        "false STRONG   8.0% (1.0% to 20.0%): 8 of 100",
        "  mixed        15.0% (10.0% to 40.0%): 6 of 40",
        "  title        3.3% (10.0% to 40.0%): 2 of 60",
        "missed STRONG  20.0% (10.0% to 40.0%): 10 of 50",
        "  title        20.0% (10.0% to 40.0%): 10 of 50",
        "0.5 to 0.6\t4\t56%\t75% (30% to 95%)",
        "threshold      STRONG from 0.500",
        (
            "proposed       STRONG from 0.750; on questions held out: "
            "false STRONG 4 -> 1 of 100, missed STRONG 5 -> 5 of 50"
        ),
    ]
    assert done.err.splitlines() == [
        "graft: asked of 30 notes, each question with and without its note",
        "graft: apply it with: graft doctor --gate --apply",
    ]
    (request,) = memstore.requests("MeasureGate")
    assert request == pb.MeasureGateRequest(profile="work")


def test_an_applied_threshold_says_how_it_is_undone(command: Command, memstore: FakeState) -> None:
    memstore.gate_replies = replies(applied=True)

    done = command("doctor", "--gate", "--apply")

    assert done.code == 0
    assert "undo with: graft doctor --gate --reset" in done.err
    (request,) = memstore.requests("MeasureGate")
    assert isinstance(request, pb.MeasureGateRequest)
    assert request.apply


def test_a_threshold_that_is_not_applied_ends_with_1_and_the_reason(
    command: Command, memstore: FakeState
) -> None:
    memstore.gate_replies = replies("missed STRONG would rise from 5 to 6 of 50")

    done = command("doctor", "--gate", "--apply")

    assert done.code == 1
    assert "not applied: missed STRONG would rise from 5 to 6 of 50" in done.err


def test_a_report_is_one_object(command: Command, memstore: FakeState) -> None:
    memstore.gate_replies = replies("no better one", proposed=0.5)

    done = command("doctor", "--gate", "--json", "--quiet")

    told = json.loads(done.out)
    assert (told["strong"], told["strong_proposed"], told["applied"]) == (0.5, 0.5, False)
    assert told["rates"]["false_strong"]["count"] == 8
    assert told["by_kind"][0]["kind"] == "mixed"
    assert told["by_kind"][0]["wrong"]["count"] == 6
    assert told["strong_passed_over"] is None
    assert told["calibration"][0]["right"]["share"] == 0.75
    assert told["objections"] == ["no better one"]


def test_a_threshold_says_whether_it_is_the_profile_s_own_and_which_is_passed_over(
    command: Command, memstore: FakeState
) -> None:
    memstore.gate_replies = replies()
    memstore.gate_replies[-1].report.strong_is_own = True

    own = command("doctor", "--gate")
    memstore.gate_replies[-1].report.strong_passed_over = 0.625
    over = command("doctor", "--gate")

    assert "STRONG from 0.500, the profile's own\n" in own.out
    assert "passed over" not in own.err
    assert "the profile's own threshold, 0.625, is passed over" in over.err


def test_a_reset_says_what_holds_again(command: Command, memstore: FakeState) -> None:
    done = command("doctor", "--gate", "--reset")

    assert done.out == "its own threshold is gone; STRONG from 0.750\n"
    assert memstore.requests("MeasureGate") == []


@pytest.mark.parametrize("options", [["--apply"], ["--reset"], ["--gate", "--apply", "--reset"]])
def test_options_that_cannot_be_meant_are_wrong_usage(
    command: Command, memstore: FakeState, options: list[str]
) -> None:
    done = command("doctor", *options)

    assert done.code == 2
    assert memstore.received == []


def test_a_refusal_ends_the_command_with_its_reason(command: Command, memstore: FakeState) -> None:
    memstore.failures = [WrongStateError("7 notes give a question; it takes 20")]

    done = command("doctor", "--gate", "--json")

    assert done.code == 1
    assert done.error()["reason"] == "WRONG_STATE"


def test_both_clients_tell_the_same_steps(
    graft: Graft, memstore: FakeState, home: Path, tmp_path: Path
) -> None:
    memstore.gate_replies = replies()

    async def steps() -> list[GateStep]:
        configuration = configure(home=home, directory=tmp_path, environ={})
        async with AsyncGraft(configuration=configuration) as other:
            assert (await other.reset_gate()).was_set
            return [step async for step in other.measure_gate()]

    told = asyncio.run(steps())

    assert told == list(graft.measure_gate())
    assert [step.done for step in told] == [0, 1]
    assert told[-1].report is not None
