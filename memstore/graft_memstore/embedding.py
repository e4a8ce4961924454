"""What the memstore wants of an embedder, whoever stands behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graft_memstore.deadline import Deadline
from graft_memstore.model import Background, Model

WINDOW_TOKENS = 240
OVERLAP_TOKENS = 32
PASSAGES_MAX = 64
"""Windows of one note that are embedded; the rest is found by words alone."""


class TextRefusedError(Exception):
    """The embedder cannot embed this text and never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedModel:
    """The model that somebody needs.

    Attributes:
        name: its name.
        identity: what its vectors must come from; None where any of this name will do.
    """

    name: str
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """The model that answered.

    Attributes:
        background: cosines between its unrelated texts; None when it does not know.
    """

    identity: str
    name: str
    dimensions: int
    background: Background | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    """A question's vector.

    Attributes:
        model: the model that made it.
        values: little-endian float32 of unit length.
        truncated: part of the question was left out of it.
    """

    model: ModelFacts
    values: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowVector:
    """One stretch of a text, in code points, and its vector."""

    start_char: int
    end_char: int
    values: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVectors:
    """The windows of one text.

    Attributes:
        uncovered_from_char: first character in no window; the text's length when all are.
    """

    windows: tuple[WindowVector, ...]
    truncated: bool
    uncovered_from_char: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTexts:
    """Windows of several texts, in their order, and the model that made them."""

    model: ModelFacts
    texts: tuple[TextVectors, ...]


class Embedder(Protocol):
    """Makes vectors, waiting for the model as long as the caller's deadline allows."""

    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        """Embed a question.

        Raises:
            ModelNotReadyError: no vector of this model can be had in time; says why.
            TextRefusedError: this text has no vector.
        """

    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        """Embed up to *windows_max* windows of each of *texts*.

        Raises:
            ModelNotReadyError: see `embed_query`.
            TextRefusedError: one of the texts has no vector.
        """

    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        """Return the model, loaded.

        Raises:
            ModelNotReadyError: see `embed_query`.
        """

    def default_model(self) -> str:
        """Return the name of the model for profiles without vectors.

        Raises:
            ModelNotReadyError: nobody can tell.
        """


def model_for(serving: Model | None, embedder: Embedder) -> WantedModel:
    """Return the model whose vectors a profile takes: its own, else the default."""
    if serving is None:
        return WantedModel(name=embedder.default_model())
    return WantedModel(name=serving.name, identity=serving.identity)
