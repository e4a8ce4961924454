"""Embed the texts of one request: what is known from before, the rest through the queue."""

from collections.abc import Sequence

import numpy as np

from graft_embedder.batches import plan, plan_alone
from graft_embedder.engine import Tokens, Vectors
from graft_embedder.preparation import Options, Prepared, Preparer, Purpose
from graft_embedder.result_cache import ResultCache, TextVectors
from graft_embedder.work_queue import Call, Job, WorkQueue


class TextEmbedder:
    """Embeds and counts texts with one model."""

    def __init__(
        self, preparer: Preparer, queue: WorkQueue, cache: ResultCache, batch_tokens: int
    ) -> None:
        self._preparer = preparer
        self.queue = queue
        self._cache = cache
        self._batch_tokens = batch_tokens

    def embed(self, texts: Sequence[str], options: Options, call: Call) -> list[TextVectors]:
        """Return what became of each of *texts*, in order.

        Raises:
            BadFieldError: an option or a text cannot be taken; nothing is embedded then.
            BusyError: the queue is full.
            StoppingError: the service is stopping.
            CallEndedError: the caller went.
        """
        self._preparer.check(options)
        found = [self._cache.get(options, text) for text in texts]
        missing = [index for index, known in enumerate(found) if known is None]
        if missing:
            made = self._embed_missing(texts, missing, options, call)
            for index, result in zip(missing, made, strict=True):
                self._cache.put(options, texts[index], result)
                found[index] = result
        return [result for result in found if result is not None]

    def count(self, texts: Sequence[str], call: Call) -> list[int]:
        """Return the tokens of each bare text, in order.

        Raises:
            BusyError, StoppingError, CallEndedError: as for `embed`.
        """
        with self.queue.place(_bytes(texts), query=False):
            return [self._preparer.count(text, call.go_on) for text in texts]

    def _embed_missing(
        self, texts: Sequence[str], missing: Sequence[int], options: Options, call: Call
    ) -> list[TextVectors]:
        query = options.purpose is Purpose.QUERY and len(texts) == 1
        with self.queue.place(_bytes([texts[index] for index in missing]), query=query):
            prepared = [
                self._preparer.prepare(texts[index], f"texts[{index}]", options, call.go_on)
                for index in missing
            ]
            sequences = [sequence for each in prepared for sequence in each.sequences]
            job = Job(sequences, self._groups(sequences, options.purpose))
            vectors = self.queue.run(job, call, query=query)
        return _share_out(prepared, vectors, [len(texts[index]) for index in missing])

    def _groups(self, sequences: Sequence[Tokens], purpose: Purpose) -> list[tuple[int, ...]]:
        lengths = [len(sequence) for sequence in sequences]
        if purpose is Purpose.QUERY:
            return plan_alone(lengths)
        return plan(lengths, self._batch_tokens)


def _share_out(
    prepared: Sequence[Prepared], vectors: Vectors, lengths: Sequence[int]
) -> list[TextVectors]:
    results = []
    at = 0
    for each, length in zip(prepared, lengths, strict=True):
        end = at + len(each.sequences)
        results.append(
            TextVectors(
                spans=each.spans,
                # A copy, so that a kept result does not hold the whole request's vectors.
                vectors=np.array(vectors[at:end]),
                tokens=each.tokens,
                uncovered=each.uncovered,
                truncated=each.uncovered < length,
            )
        )
        at = end
    return results


def _bytes(texts: Sequence[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in texts)
