"""Try a model that is to be registered: does it load, embed, and how alike are unrelated texts?"""

from pathlib import Path

import numpy as np

from graft_embedder.catalogue import CosineBackground, Entry
from graft_embedder.engine import Engine, Vectors
from graft_embedder.errors import EngineError, ModelFileError
from graft_embedder.loader import open_model
from graft_embedder.native_output import captured_output
from graft_embedder.preparation import Options, Preparer, Purpose

UNRELATED = (
    "The kettle takes four minutes to boil on the old stove.",
    "git rebase --autostash keeps uncommitted changes out of the way.",
    "Whales breathe air and sleep with one half of the brain at a time.",
    "The invoice from March was paid twice by mistake.",
    "A mutex that is never released blocks every later thread.",
    "Tulips are planted in autumn, before the ground freezes.",
    "The train to Lyon leaves from platform nine at half past six.",
    "PostgreSQL rewrites the whole table when a column type changes.",
    "She tuned the violin a little lower for the baroque piece.",
    "The API returns 429 when a client sends too many requests.",
    "Copper conducts heat better than iron does.",
    "The committee postponed its vote until after the holidays.",
    "A Docker layer is rebuilt when any file copied before it changes.",
    "Bread dough rises faster in a warm and damp kitchen.",
    "The goalkeeper broke his finger in the second half.",
    "Python evaluates default arguments once, when the function is defined.",
    "The lighthouse was automated in the nineteen-eighties.",
    "Sourdough, rye and spelt need different amounts of water.",
    "The certificate expired on a Sunday and nobody noticed.",
    "Glaciers carry stones for hundreds of kilometres.",
)
"""Sentences that have nothing to do with each other, half of them from a programmer's day."""


def measure_background(questions: Vectors, passages: Vectors) -> CosineBackground:
    """Return the cosine background of unit vectors, row by row of the same unrelated texts."""
    cosines = questions @ passages.T
    unrelated = cosines[~np.eye(len(cosines), dtype=np.bool_)]
    return CosineBackground(
        mean=float(unrelated.mean()),
        deviation=float(unrelated.std()),
        # Each text is in many pairs, so they count as many as there are texts.
        count=float(len(cosines)),
    )


def try_model(path: Path, entry: Entry) -> tuple[int, CosineBackground]:
    """Load *path* as *entry* says, embed with it, and return its dimensions and background.

    Raises:
        ModelFileError: it does not load, does not embed, or embeds everything alike.
    """
    with captured_output() as captured:
        try:
            engine, preparer = open_model(path, entry, threads=0)
            try:
                questions = _embed(engine, preparer, Purpose.QUERY)
                passages = _embed(engine, preparer, Purpose.PASSAGE)
            finally:
                engine.close()
        except EngineError as error:
            raise ModelFileError(f"{path} loads but does not embed: {error}") from error
        except ModelFileError as error:
            reason = captured.tail().strip().rpartition("\n")[2]
            raise ModelFileError(f"{error}" + (f" ({reason})" if reason else "")) from error
    background = measure_background(questions, passages)
    if background.deviation < np.finfo(np.float32).eps:
        raise ModelFileError(
            f"{path} gives every text the same vector; it is not an embedding model"
        )
    return engine.dimensions, background


def _embed(engine: Engine, preparer: Preparer, purpose: Purpose) -> Vectors:
    options = Options(purpose=purpose)
    prepared = [preparer.prepare(text, "text", options, lambda: None) for text in UNRELATED]
    return np.concatenate([engine.encode([each.sequences[0]]) for each in prepared])
