"""Which candidates stand aside: dead ends, and notes that apply to something else than is here.

They are judged like all others, but are never STRONG, and no other note is measured against them:
they take from no answer the margin that it has over the other answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graft_memstore.applicability import Applicability, Context, Fit, applies, judge
from graft_memstore.fusion import Fused
from graft_memstore.model import NoteKind
from graft_memstore.store.applies import PLAIN, read_particulars
from graft_memstore.store.database import Connection

ASIDE_MAX = 6
"""Best candidates that stand aside and are judged beside those that may answer."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The circumstances of all candidates.

    Attributes:
        special: by seq, of those that are dead ends or apply to something.
    """

    special: Mapping[int, Circumstances]

    def of(self, seq: int) -> Circumstances:
        """Return the circumstances of a candidate."""
        return self.special.get(seq, EVERYWHERE)

    def stands_aside(self, candidate: Fused) -> bool:
        """Tell whether a candidate may not be the answer."""
        circumstances = self.of(candidate.scores.seq)
        return not (circumstances.is_answer and circumstances.applies)

    def finalists(self, ranked: Sequence[Fused], answers_max: int) -> list[Fused]:
        """Return the best of *ranked* in their order: those that may answer, and those aside."""
        room = {False: answers_max, True: ASIDE_MAX}
        chosen = []
        for candidate in ranked:
            aside = self.stands_aside(candidate)
            if room[aside]:
                room[aside] -= 1
                chosen.append(candidate)
        return chosen


EVERYWHERE = Circumstances(kind=PLAIN.kind, applicability=())


def look_around(connection: Connection, ranked: Sequence[Fused], context: Context) -> Surroundings:
    """Return the circumstances of the candidates where *context* is what is there."""
    found = read_particulars(connection, [each.scores.seq for each in ranked])
    return Surroundings(
        special={
            seq: Circumstances(kind=each.kind, applicability=judge(each.applies_to, context))
            for seq, each in found.items()
        }
    )
