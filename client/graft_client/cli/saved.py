"""What is said of a note that was saved, whichever command saved it."""

from typing import TYPE_CHECKING

from graft_client.cli.output import Output, printable
from graft_client.cli.recall import talk_degraded
from graft_client.cli.secrets_asked import FoundSecrets
from graft_client.cli.words import count_of, where_saved
from graft_client.results import Inserted, short_id

if TYPE_CHECKING:
    from graft_client.requests import SecretsWish


def outcome_words(inserted: Inserted) -> str:
    """Say in a line what became of a note."""
    name, scope = short_id(inserted.id), printable(inserted.scope)
    if inserted.restored:
        return f"restored {name} in {scope}"
    if inserted.recalled:
        return f"not saved: it only retells a piece of {name}, which this session was given"
    if inserted.duplicate:
        return f"already there: {name} in {scope}"
    if inserted.trust == "held":
        return f"held {name}: its words are those of a rejected note, so only its id shows it"
    saved = f"saved {name} to {printable(where_saved(inserted.scope))}"
    if inserted.trust == "candidate" and not inserted.proposal:
        return f"{saved}; as a candidate, at most a WEAK answer until a reviewer approves"
    return saved


def write_saved(output: Output, inserted: Inserted, secrets: "SecretsWish") -> None:
    """Write what became of one note, and what else its reply tells.

    What looks like a secret is told unless *secrets* says that it is meant.
    """
    found = FoundSecrets(secrets)
    found.add(inserted)
    found.say(output)
    if output.as_json:
        output.record(inserted)
        return
    output.line(outcome_words(inserted))
    _write_corrected(output, inserted)
    for each in inserted.similar:
        alike = "the same text" if each.similarity >= 1 else f"{each.similarity:.0%} alike"
        output.line(f"  similar: {short_id(each.id)}  {printable(each.title)} ({alike})")
    if inserted.answers:
        output.line(f"  answers {count_of(inserted.answers, 'earlier question')} (graft misses)")
    if inserted.uncovered_from_char is not None:
        output.say(
            f"graft: the body is long; from character {inserted.uncovered_from_char:,} on it is"
            " found by its words alone"
        )
    if inserted.degraded:
        talk_degraded(output, inserted.degraded)
    else:
        say_pending(output, inserted.pending)


def _write_corrected(output: Output, inserted: Inserted) -> None:
    """Say what it means for the note that it corrects, or might."""
    if inserted.recalled:
        output.say(
            f"graft: if it corrects that note: graft insert --supersedes {short_id(inserted.id)}"
        )
    if inserted.superseded:
        event = inserted.superseded_event
        output.line(f"  supersedes {short_id(inserted.superseded)} (graft undo {event})")
    if inserted.proposal:
        output.line(
            f"  as a candidate: a reviewer verified the note that it corrects, and finds it as item"
            f" {inserted.proposal} (graft review show {inserted.proposal})"
        )


def say_pending(output: Output, pending: int) -> None:
    """Say how many texts have no vector yet."""
    if pending:
        output.say(f"graft: {count_of(pending, 'text')} still to embed, in the background")
