"""The embedders of a home: found when a model is needed, two at most, never mixed up."""

import importlib.util
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2
from graft.wire.errors import ModelNotReadyError
from graft.wire.launch import StartError
from graft.wire.models import MODEL_NAME, RegistryError
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import Places
from graft_memstore.embedder_process import (
    ANSWER_MARGIN_SECONDS,
    EmbedderProcess,
    EmbedderReport,
    not_ready,
)
from graft_memstore.embedding import (
    OVERLAP_TOKENS,
    WINDOW_TOKENS,
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    QueryVector,
    TextVectors,
    WantedModel,
    WindowVector,
)

EMBEDDERS_MAX = 2
"""Models in memory at once: the one that serves, and the one that a reindex moves to."""

POLL_SECONDS = 0.5
"""How often somebody who waits for room looks whether its own caller has gone."""


class Embedders(Embedder):
    """Makes vectors by embedder processes.

    Args:
        places: where they are found.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._changed = threading.Condition()
        # Least recently used first; one that somebody uses is not put away.
        self._processes: OrderedDict[str, EmbedderProcess] = OrderedDict()
        self._users: Counter[str] = Counter()
        self._leaving = 0
        self._stopped = False

    @override
    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        """Embed a question; see `Embedder.embed_query`."""
        request = embedder_pb2.EmbedRequest(
            texts=[text], purpose=embedder_pb2.PURPOSE_QUERY, query_tokens_max=tokens_max
        )
        model, reply = self._embed(wanted, request, deadline)
        embedding = reply.embeddings[0]
        return QueryVector(
            model=model,
            values=_vector(embedding.windows[0]),
            truncated=embedding.truncated,
        )

    @override
    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        """Embed texts that are to be found; see `Embedder.embed_passages`."""
        request = embedder_pb2.EmbedRequest(
            texts=texts,
            purpose=embedder_pb2.PURPOSE_PASSAGE,
            window_tokens=WINDOW_TOKENS,
            overlap_tokens=OVERLAP_TOKENS,
            windows_max=windows_max,
        )
        model, reply = self._embed(wanted, request, deadline)
        return EmbeddedTexts(
            model=model, texts=tuple(_text_vectors(each) for each in reply.embeddings)
        )

    @override
    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        """Return the model, loaded; see `Embedder.facts`."""
        with self._lent(wanted.name, deadline) as process:
            facts = process.facts(deadline)
        _check_identity(wanted, facts.identity)
        return facts

    @override
    def default_model(self) -> str:
        """Return the name of the model for profiles without vectors.

        Raises:
            ModelNotReadyError: the registry of models cannot be read, or nobody can tell.
        """
        try:
            return self._places.default_model()
        except (RegistryError, StartError) as error:
            raise ModelNotReadyError(str(error), metadata={"state": "failed"}) from error

    def reports(self, names: Sequence[str]) -> list[EmbedderReport]:
        """Tell how the embedders in use are, and those of *names* that run; starts nothing."""
        with self._changed:
            processes = dict(self._processes)
        reports = [process.report() for process in processes.values()]
        for name in (*names, *self._places.names()):
            if name not in processes and MODEL_NAME.fullmatch(name):
                processes[name] = self._process(name)
                report = processes[name].report()
                if report.pid:
                    reports.append(report)
        return reports

    def stop(self) -> None:
        """End every embedder that was used, and start none any more."""
        with self._changed:
            self._stopped = True
            processes = list(self._processes.values())
            self._processes.clear()
            self._changed.notify_all()
        for process in processes:
            process.end()

    def _embed(
        self, wanted: WantedModel, request: embedder_pb2.EmbedRequest, deadline: Deadline
    ) -> tuple[ModelFacts, embedder_pb2.EmbedResponse]:
        with self._lent(wanted.name, deadline) as process:
            return self._embed_by(process, wanted, request, deadline)

    def _embed_by(
        self,
        process: EmbedderProcess,
        wanted: WantedModel,
        request: embedder_pb2.EmbedRequest,
        deadline: Deadline,
    ) -> tuple[ModelFacts, embedder_pb2.EmbedResponse]:
        model = process.facts(deadline)
        _check_identity(wanted, model.identity)
        reply = process.embed(request, deadline)
        if reply.model.identity != model.identity:
            # It was restarted in between, with another file under the same name.
            _check_identity(wanted, reply.model.identity)
            model = process.facts(deadline)
        if reply.model.identity != model.identity:
            raise ModelNotReadyError(
                f"the file of model {wanted.name} is being replaced; try again",
                metadata={"state": "changing"},
            )
        return model, reply

    @contextmanager
    def _lent(self, name: str, deadline: Deadline) -> Iterator[EmbedderProcess]:
        """Lend the process of a model, which is not put away meanwhile.

        Raises:
            ModelNotReadyError: it is no model's name, or there is no room for it in time.
        """
        if not MODEL_NAME.fullmatch(name):
            raise ModelNotReadyError(
                f"{name!r} is no name of a model; see: graft model list",
                metadata={"state": "failed"},
            )
        with self._changed:
            if not deadline.patient and name not in self._processes:
                raise not_ready(name, "it is not loaded")
        end = Deadline(deadline.sooner(ANSWER_MARGIN_SECONDS))
        deadline.on_cancel(end.cancel)
        process = self._take(name, end)
        try:
            yield process
        finally:
            with self._changed:
                self._users[name] -= 1
                self._changed.notify_all()

    def _take(self, name: str, end: Deadline) -> EmbedderProcess:
        """Return the process of a model, once another one has gone where there are too many."""
        while True:
            with self._changed:
                if self._stopped:
                    raise not_ready(name, "the service is stopping")
                if name in self._processes or self._has_room():
                    process = self._processes.setdefault(name, self._process(name))
                    self._processes.move_to_end(name)
                    self._users[name] += 1
                    return process
                unused = next((each for each in self._processes if not self._users[each]), None)
                if unused is None or self._leaving:
                    if not end.left():
                        raise not_ready(name, "two other models are in use; try again")
                    self._changed.wait(min(end.left(), POLL_SECONDS))
                    continue
                process = self._processes.pop(unused)
                self._leaving += 1
            self._put_away(process)

    def _process(self, name: str) -> EmbedderProcess:
        return EmbedderProcess(name, self._places.of(name))

    def _has_room(self) -> bool:
        return len(self._processes) + self._leaving < EMBEDDERS_MAX

    def _put_away(self, process: EmbedderProcess) -> None:
        try:
            process.stop()
        finally:
            with self._changed:
                self._leaving -= 1
                self._changed.notify_all()


def extra_obstacle() -> str:
    """Tell why no embedder can be started in this installation; empty when one can."""
    if importlib.util.find_spec("llama_cpp") is None:
        return "the embedder is not installed; run: pip install 'graft-memory[embedder,starter]'"
    return ""


def _check_identity(wanted: WantedModel, identity: str) -> None:
    if wanted.identity is not None and wanted.identity != identity:
        raise ModelNotReadyError(
            f"the file of model {wanted.name} is another one than this profile's vectors come "
            f"from; put the old file back, or run: graft reindex --model {wanted.name}",
            metadata={"state": "other-model"},
        )


def _vector(window: embedder_pb2.Window) -> bytes:
    return np.array(window.values, dtype="<f4").tobytes()


def _text_vectors(embedding: embedder_pb2.TextEmbedding) -> TextVectors:
    return TextVectors(
        windows=tuple(
            WindowVector(
                start_char=window.start_char, end_char=window.end_char, values=_vector(window)
            )
            for window in embedding.windows
        ),
        truncated=embedding.truncated,
        uncovered_from_char=embedding.uncovered_from_char,
    )
