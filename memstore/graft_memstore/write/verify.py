"""Verifies a note by a reviewer's word, a commit or a command that was run."""

import re
from dataclasses import replace

from graft.wire.errors import BadFieldError, NotAllowedError, WrongStateError
from graft_memstore.lifecycle import REVIEWER, Verb, after, is_protected
from graft_memstore.model import EventSeq, NoteId, Oracle, OracleKind, Trust
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.limits import COMMAND_CHARS_MAX
from graft_memstore.write.proposal import Proposal
from graft_memstore.write.state_change import (
    Saying,
    check_allowed,
    check_takes_nothing_back,
    read_present,
    record_state,
    state_facts,
)

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
DIGEST = re.compile(r"[0-9a-f]{64}")


def verify(
    transaction: Transaction, note_id: NoteId, oracle: Oracle | None, saying: Saying
) -> EventSeq:
    """Record by what a note was verified; return the event of that.

    What an agent names is a claim: it is shown as such and protects nothing.

    Raises:
        BadFieldError: there is no oracle, or it verifies nothing.
        NotAllowedError: a reviewer's word is given by somebody else.
        WrongStateError: the note's state does not take it, or a reviewer has verified it.
        ReviewerNeededError: the caller's role may propose it.
    """
    caller = saying.caller
    claimed = _checked(oracle)
    if claimed.kind is OracleKind.REVIEWER and caller.actor != REVIEWER:
        raise NotAllowedError(
            "a note is verified by hand by a reviewer alone; without one name what checked it, "
            "with: graft verify ID --commit SHA, or --run COMMAND"
        )
    present = read_present(transaction.connection, note_id)
    state = present.state
    if is_protected(state) and state.trust is Trust.VERIFIED and caller.actor != REVIEWER:
        raise WrongStateError(
            f"a reviewer verified note {note_id} already, which counts for more",
            metadata=state_facts(present),
        )
    proposal = Proposal(verb=Verb.VERIFY, note_id=note_id, oracle=claimed)
    check_allowed(Verb.VERIFY, present, caller, proposal)
    kept = state.oracle if is_protected(state) and claimed.kind is not OracleKind.REVIEWER else None
    said = replace(
        claimed,
        actor=caller.actor,
        session=caller.session,
        door=caller.door,
        at_ms=transaction.at_ms,
    )
    becomes = replace(after(Verb.VERIFY, state), oracle=kept or said)
    check_takes_nothing_back(transaction, present, becomes, caller, proposal)
    return record_state(transaction, Verb.VERIFY, present, becomes, saying)


def _checked(oracle: Oracle | None) -> Oracle:
    if oracle is None:
        raise BadFieldError("oracle", "none is given; name a commit, a run, or a reviewer's word")
    if oracle.kind is OracleKind.COMMIT and not COMMIT.fullmatch(oracle.commit):
        raise BadFieldError("commit", f"{oracle.commit[:80]!r} is not the whole hash of a commit")
    if oracle.kind is OracleKind.RUN:
        _check_run(oracle)
    return oracle


def _check_run(oracle: Oracle) -> None:
    command = oracle.command
    if not command.strip() or len(command) > COMMAND_CHARS_MAX:
        raise BadFieldError("run.command", f"must have 1 to {COMMAND_CHARS_MAX:,} characters")
    if oracle.exit_code != 0:
        raise BadFieldError(
            "run.exit_code", f"is {oracle.exit_code}: a command that failed verifies nothing"
        )
    if not DIGEST.fullmatch(oracle.output_digest):
        raise BadFieldError("run.output_digest", "is not a SHA-256 of 64 hex digits")
