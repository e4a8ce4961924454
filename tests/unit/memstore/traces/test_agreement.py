"""What sharing signatures is worth."""

from graft_memstore.agreement import EXACT, LOOSE_MAX, LOOSE_MIN, agreement, strength
from graft_memstore.signature import Signature, Traits, signatures

CODED = "src/till.ts(3,4): error TS9107: Drawer 'left' is of no known kind."
RAISED = "shop.TillJammedError: the drawer of this till does not open"
PLACED = f'Traceback (most recent call last):\n  File "/s/till.py", line 9, in open_till\n{RAISED}'
ELSEWHERE = PLACED.replace("till.py", "safe.py").replace("open_till", "open_safe")


def held_by(*notes: str) -> dict[int, dict[int, Traits]]:
    """Return what the store holds of *notes*, numbered from 1."""
    held: dict[int, dict[int, Traits]] = {}
    for number, note in enumerate(notes, start=1):
        for each in signatures(note, titled=True):
            held.setdefault(each.digest, {})[number] = each.traits
    return held


def ask(text: str) -> tuple[Signature, ...]:
    return signatures(text)


def test_a_message_is_enough_unless_both_know_of_another_place() -> None:
    scores = agreement(ask(PLACED), held_by(RAISED, PLACED, ELSEWHERE))

    assert (scores[1], scores[2]) == (EXACT, EXACT)
    assert LOOSE_MIN <= scores[3] < EXACT


def test_what_wraps_another_error_identifies_nothing_by_itself() -> None:
    wrapper = (
        "java.lang.RuntimeException: cannot start the tills of this shop\n\tat a.B.c(B.java:1)"
    )
    jammed = f"{wrapper}\nCaused by: a.JammedException: drawer seven is stuck again"
    empty = f"{wrapper}\nCaused by: a.EmptyException: no change left in any drawer"

    scores = agreement(ask(jammed), held_by(jammed, empty, wrapper))

    assert (scores[1], scores[3]) == (EXACT, EXACT)
    assert strength(scores[2]) == 0.0


def test_the_same_code_about_another_thing_is_no_agreement() -> None:
    other = CODED.replace("Drawer 'left' is of no known kind", "Lamp 'red' was never plugged in")

    scores = agreement(ask(CODED), held_by(CODED, other))

    assert scores[1] == EXACT
    assert strength(scores[2]) == 0.0


def test_a_hint_is_worth_less_the_more_notes_share_it() -> None:
    mention = "TillJammedError: what to do"

    alone = agreement(ask(RAISED), held_by(mention))[1]
    shared = agreement(ask(RAISED), held_by(*[f"{mention} {number}" for number in range(9)]))[1]

    assert strength(alone) == 0.5
    assert 0.0 < shared < alone
    assert strength(shared) == 0.0


def test_hints_never_add_up_to_the_same_error() -> None:
    other = CODED.replace("'left'", "'right'")

    assert agreement(ask(CODED), held_by(other))[1] <= LOOSE_MAX < EXACT


def test_strength_has_three_steps() -> None:
    assert [strength(score) for score in (0.0, 0.44, LOOSE_MIN, LOOSE_MAX, EXACT)] == [
        0.0,
        0.0,
        0.5,
        0.5,
        1.0,
    ]
