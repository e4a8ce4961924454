"""The queue before the model thread: order, bounds, and callers who go."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from tests.fake_engine import FakeEngine
from typing_extensions import override

from graft.wire.errors import BusyError, StoppingError
from graft_embedder.engine import Tokens, Vectors
from graft_embedder.errors import EngineError
from graft_embedder.tally import Counted
from graft_embedder.work_queue import Call, CallEndedError, Job, QueueLimits, WorkQueue

SECONDS = 20.0

Submit = Callable[..., "Future[Vectors]"]


@pytest.fixture
def engine() -> FakeEngine:
    """An engine that a test can hold inside `encode`."""
    return FakeEngine()


@pytest.fixture
def queue(engine: FakeEngine) -> Iterator[WorkQueue]:
    """A queue of four places, one of them for queries alone."""
    queue = WorkQueue(engine, QueueLimits(calls_max=4, query_reserve=1, bytes_max=1_000))
    yield queue
    engine.gate.set()
    assert queue.stop(SECONDS)


@pytest.fixture
def submit(engine: FakeEngine, queue: WorkQueue) -> Iterator[Submit]:
    """Run a job on a thread of its own, as a handler does."""
    with ThreadPoolExecutor(16) as pool:

        def start(*tokens: int, query: bool = False, call: Call | None = None) -> "Future[Vectors]":
            placed = threading.Event()

            def handle() -> Vectors:
                with queue.place(10, query=query):
                    job = Job([[each] for each in tokens], [(at,) for at in range(len(tokens))])
                    placed.set()
                    return queue.run(job, call or Call(SECONDS), query=query)

            future = pool.submit(handle)
            future.add_done_callback(lambda _done: placed.set())
            assert placed.wait(SECONDS)
            return future

        yield start
        engine.gate.set()


def hold(engine: FakeEngine, submit: Submit) -> "Future[Vectors]":
    """Have the model thread busy with a job of one token, 1."""
    engine.gate.clear()
    future = submit(1)
    assert engine.entered.wait(SECONDS)
    return future


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until *condition* holds."""
    pause = threading.Event()
    for _ in range(int(SECONDS / 0.005)):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError("it never came to hold")


def order(engine: FakeEngine) -> list[int]:
    """Return the first token of each decode, in order."""
    return [decode[0][0] for decode in engine.encoded]


def test_vectors_come_back_in_the_order_of_the_sequences(queue: WorkQueue) -> None:
    job = Job([[1], [2, 2], [3]], [(1,), (2, 0)])

    with queue.place(1, query=False):
        vectors = queue.run(job, Call(SECONDS), query=False)

    alone = FakeEngine()
    for index, sequence in enumerate(job.sequences):
        assert np.array_equal(vectors[index], alone.encode([sequence])[0])


def test_a_query_goes_before_waiting_bulk_and_between_the_decodes_of_a_running_one(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    engine.gate.clear()
    running = submit(1, 2)
    assert engine.entered.wait(SECONDS)
    waiting = submit(5)
    query = submit(9, query=True)
    wait_for(lambda: len(queue._queries) == 1 and len(queue._bulk) == 1)

    engine.gate.set()
    for future in (running, waiting, query):
        future.result(SECONDS)

    assert order(engine)[:2] == [1, 9]


def test_bulk_calls_take_turns(engine: FakeEngine, queue: WorkQueue, submit: Submit) -> None:
    first = hold(engine, submit)
    book = submit(10, 11, 12)
    wait_for(lambda: len(queue._bulk) == 1)
    title = submit(20)
    wait_for(lambda: len(queue._bulk) == 2)

    engine.gate.set()
    for future in (first, book, title):
        future.result(SECONDS)

    assert order(engine) == [1, 10, 20, 11, 12]


def test_a_full_queue_says_when_to_try_again(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    hold(engine, submit)
    submit(2)
    submit(3)

    with pytest.raises(BusyError) as caught, queue.place(1, query=False):
        pass

    assert caught.value.retry_after_ms is not None
    assert 100 <= caught.value.retry_after_ms <= 30_000


def test_bulk_leaves_a_place_for_a_query(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    hold(engine, submit)
    submit(2)
    submit(3)

    with queue.place(1, query=True):
        assert queue.calls == 4
        with pytest.raises(BusyError), queue.place(1, query=True):
            pass


def test_texts_of_too_many_bytes_wait_outside(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    hold(engine, submit)

    with pytest.raises(BusyError), queue.place(991, query=True):
        pass
    with queue.place(990, query=True):
        assert queue.calls == 2


def test_one_call_alone_always_fits(queue: WorkQueue) -> None:
    with queue.place(10_000, query=False):
        assert queue.calls == 1


def test_a_cancelled_call_leaves_the_queue_at_once(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    hold(engine, submit)
    call = Call(SECONDS)
    waiting = submit(5, call=call)
    wait_for(lambda: len(queue._bulk) == 1)

    call.end()

    with pytest.raises(CallEndedError):
        waiting.result(SECONDS)
    assert queue.calls == 1
    engine.gate.set()
    with queue.place(1, query=False):
        queue.run(Job([[7]], [(0,)]), Call(SECONDS), query=False)
    assert 5 not in order(engine)


def test_a_call_cancelled_in_the_middle_computes_no_further(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    engine.gate.clear()
    call = Call(SECONDS)
    running = submit(5, 6, 7, call=call)
    assert engine.entered.wait(SECONDS)

    call.end()
    engine.gate.set()

    with pytest.raises(CallEndedError):
        running.result(SECONDS)
    with queue.place(1, query=False):
        queue.run(Job([[9]], [(0,)]), Call(SECONDS), query=False)
    assert order(engine) == [5, 9]


def test_a_deadline_frees_the_place(engine: FakeEngine, queue: WorkQueue, submit: Submit) -> None:
    hold(engine, submit)

    late = submit(5, call=Call(0.01))

    with pytest.raises(CallEndedError):
        late.result(SECONDS)
    assert queue.calls == 1


def test_a_call_that_had_gone_before_is_not_computed(engine: FakeEngine, submit: Submit) -> None:
    hold(engine, submit)
    call = Call(SECONDS)
    call.end()

    gone = submit(5, call=call)

    with pytest.raises(CallEndedError):
        gone.result(SECONDS)


def test_what_the_engine_raises_reaches_the_caller_and_the_next_call_works(
    engine: FakeEngine, submit: Submit
) -> None:
    engine.fail_with = EngineError("no vector")

    with pytest.raises(EngineError, match="no vector"):
        submit(1, 2).result(SECONDS)

    engine.fail_with = None
    assert submit(3).result(SECONDS).shape == (1, engine.dimensions)


def test_vectors_of_a_wrong_shape_end_their_call_and_not_the_thread() -> None:
    class Odd(FakeEngine):
        @override
        def encode(self, sequences: Sequence[Tokens]) -> Vectors:
            return super().encode(sequences)[:, : 16 - 9 * (sequences[0] == [1])]

    queue = WorkQueue(Odd(), QueueLimits())
    with queue.place(10, query=False), pytest.raises(ValueError, match="shape"):
        queue.run(Job([[1]], [(0,)]), Call(SECONDS), query=False)

    with queue.place(10, query=False):
        vectors = queue.run(Job([[2]], [(0,)]), Call(SECONDS), query=False)

    assert vectors.shape == (1, 16)
    assert queue.stop(SECONDS)


def test_stopping_refuses_new_calls_and_finishes_those_inside(
    engine: FakeEngine, queue: WorkQueue, submit: Submit
) -> None:
    running = hold(engine, submit)

    queue.begin_stop()

    with pytest.raises(StoppingError), queue.place(1, query=True):
        pass
    engine.gate.set()
    assert running.result(SECONDS).shape == (1, engine.dimensions)
    assert queue.stop(SECONDS)


def test_many_callers_at_once_all_get_their_own_vectors(engine: FakeEngine) -> None:
    queue = WorkQueue(engine, QueueLimits(calls_max=64, query_reserve=8, bytes_max=1_000_000))

    def ask(token: int) -> bool:
        with queue.place(1, query=token % 3 == 0):
            job = Job([[token], [token + 1]], [(0,), (1,)])
            vectors = queue.run(job, Call(SECONDS), query=token % 3 == 0)
        expected = FakeEngine().encode([[token], [token + 1]])
        return bool(np.array_equal(vectors, expected))

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(ask, range(200)))
    assert queue.calls == 0
    assert queue.stop(SECONDS)


def test_what_was_computed_and_how_long_it_waited_is_counted(
    engine: FakeEngine, submit: Submit, queue: WorkQueue
) -> None:
    engine.gate.set()

    for _ in range(3):
        submit(1, 2).result(SECONDS)

    assert sum(queue.tally.wait_seconds.counts) == 3, "once for each call"
    assert sum(queue.tally.batch_windows.counts) == 6, "once for each decode"
    assert (queue.tally.batch_tokens.sum, queue.tally.batch_windows.sum) == (6, 6)


def test_a_value_lies_in_the_range_that_ends_with_it() -> None:
    counted = Counted((1.0, 2.0))

    for value in (0.5, 1.0, 1.5, 9.0):
        counted.add(value)

    assert (counted.counts, counted.sum) == ([2, 1, 1], 12.0)
