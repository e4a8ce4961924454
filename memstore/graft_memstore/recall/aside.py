"""Which candidates stand aside: dead ends, and notes that apply to something else than is here.

They are judged like all others, but are never STRONG, and no other note is measured against them:
they take from no answer the margin that it has over the other answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from graft_memstore.applicability import Applicability, Context, Fit, applies, judge
from graft_memstore.fusion import Fused
from graft_memstore.model import NoteKind
from graft_memstore.store.applies import PLAIN, read_particulars
from graft_memstore.store.database import Connection

ANSWERS_MAX = 6
"""Best candidates that the gate looks at, of those that may be the answer."""
ASIDE_MAX = 3
"""The same of dead ends, and of notes that do not apply here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What kind of thing a candidate tells, and whether that applies here."""

    kind: NoteKind
    applicability: tuple[Applicability, ...]

    @property
    def is_answer(self) -> bool:
        """Whether it tells what holds; a dead end tells what does not."""
        return self.kind is not NoteKind.DEAD_END

    @property
    def applies(self) -> bool:
        """Whether nothing that is here speaks against it."""
        return applies(self.applicability)

    @property
    def objections(self) -> list[str]:
        """What speaks against taking it for the answer, in words."""
        outside = [each.words for each in self.applicability if each.fit is Fit.OUTSIDE]
        return outside if self.is_answer else ["it is a dead end", *outside]

    @property
    def place(self) -> "Place":
        """What a candidate of this kind is looked at for."""
        if not self.is_answer:
            return Place.DEAD_END
        return Place.ANSWER if self.applies else Place.ELSEWHERE


class Place(Enum):
    """What a candidate is looked at for: to be the answer, or to stand aside."""

    ANSWER = "answer"
    DEAD_END = "dead end"
    ELSEWHERE = "applies elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A candidate that is judged."""

    candidate: Fused
    circumstances: Circumstances


def choose_finalists(
    connection: Connection,
    ranked: Sequence[Fused],
    context: Context,
    known_at_ms: int | None = None,
) -> list[Finalist]:
    """Return the best of *ranked*, in their order, where *context* is what is there.

    Those that stand aside have places of their own, so that many of them crowd out no answer.
    Ranges are compared only as far as that may still change who is chosen.
    """
    seqs = [each.scores.seq for each in ranked]
    particulars = read_particulars(connection, seqs, known_at_ms)
    room = {Place.ANSWER: ANSWERS_MAX, Place.DEAD_END: ASIDE_MAX, Place.ELSEWHERE: ASIDE_MAX}
    chosen = []
    for candidate in ranked:
        each = particulars.get(candidate.scores.seq, PLAIN)
        if not room[Place.DEAD_END if each.kind is NoteKind.DEAD_END else Place.ANSWER]:
            continue
        circumstances = Circumstances(kind=each.kind, applicability=judge(each.applies_to, context))
        if room[circumstances.place]:
            room[circumstances.place] -= 1
            chosen.append(Finalist(candidate=candidate, circumstances=circumstances))
    return chosen


def rivals(finalists: Sequence[Finalist]) -> list[Fused]:
    """Return the two best that may be the answer: what a margin is measured against."""
    answers = [each.candidate for each in finalists if each.circumstances.place is Place.ANSWER]
    return answers[:2]
