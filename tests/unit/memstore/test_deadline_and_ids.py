"""Small pure parts: deadlines, clocks, ids."""

from typing import cast

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.clock import next_hlc, transaction_time
from graft_memstore.deadline import Deadline
from graft_memstore.ids import IdMaker, uuid7


def test_a_caller_with_time_is_answered_a_second_before_its_deadline() -> None:
    assert Deadline(30, lambda: 0.0).sooner(1.0) == 29.0


@pytest.mark.parametrize(("sent", "kept"), [(12.0, 12.0), (7_200.0, 3_600.0), (9.2e18, 30.0)])
def test_a_call_gets_the_time_that_its_caller_gave(sent: float, kept: float) -> None:
    class Context:
        def time_remaining(self) -> float:
            return sent

        def add_callback(self, _: object) -> bool:
            return True

        def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
            return ()

    deadline = Deadline.of_call(cast("grpc.ServicerContext", Context()))

    assert deadline.left() == pytest.approx(kept, abs=5.0)
    assert deadline.patient


def test_a_caller_in_a_hurry_gets_half_of_its_time() -> None:
    assert Deadline(1, lambda: 0.0).sooner(1.0) == 0.5


def test_a_caller_that_has_gone_has_no_time_left() -> None:
    deadline = Deadline(30, lambda: 0.0)
    called: list[str] = []
    deadline.on_cancel(lambda: called.append("before"))

    deadline.cancel()
    deadline.on_cancel(lambda: called.append("after"))

    assert deadline.left() == 0.0
    assert called == ["before", "after"]


def test_waiting_ends_when_the_caller_goes() -> None:
    deadline = Deadline(600)
    deadline.cancel()

    deadline.wait(600)

    assert deadline.left() == 0.0


@given(st.lists(st.integers(0, 2**45), min_size=1))
def test_time_and_order_never_go_back(walls: list[int]) -> None:
    times, orders = [0], [0]
    for wall in walls:
        times.append(transaction_time(wall, times[-1]))
        orders.append(next_hlc(wall, orders[-1]))

    assert times == sorted(times)
    assert orders == sorted(set(orders))


@pytest.mark.parametrize("size", [4, 10])
def test_ids_of_one_millisecond_go_up_whatever_the_random_bytes(size: int) -> None:
    make = IdMaker(lambda wanted: (b"\xff" if wanted == size else b"\x00") * wanted)

    ids = [make(1_700_000_000_000) for _ in range(1000)]

    assert ids == sorted(set(ids))
    assert {note_id[:12] for note_id in ids} == {f"{1_700_000_000_000:012x}"}


def test_an_id_has_the_bits_of_a_version_7_uuid() -> None:
    assert uuid7(0x0123456789AB, 0) == "0123456789ab70008000000000000000"
    assert uuid7(0x0123456789AB, 2**74 - 1) == "0123456789ab7fffbfffffffffffffff"
