"""Whatever is said of notes in whatever order, the memory is what ten lines of a model say."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from tests.unit.memstore.room import PERSON, Room
from typing_extensions import override

from graft.wire.errors import ServiceError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Lifecycle, NewNote, ScopeFilter, Trust
from graft_memstore.store.full_notes import read_full_page
from graft_memstore.store.notes import PageFilter

VALUES = st.sampled_from(["port 6432", "port 7000", "Port 7000", "port 8000"])
ACTIVE, SUPERSEDED, RETIRED = Lifecycle.ACTIVE, Lifecycle.SUPERSEDED, Lifecycle.RETIRED


@dataclass(frozen=True)
class State:
    """What the model knows of a note at a time; *verb* made it."""

    lifecycle: Lifecycle = ACTIVE
    trust: Trust = Trust.OBSERVED
    by: str = ""
    verb: Verb | None = None


@dataclass
class Model:
    """Notes as lists of states, the last one present, and values that were rejected."""

    values: dict[str, str] = field(default_factory=dict)
    states: dict[str, list[State]] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)

    def now(self, note: str) -> State:
        return self.states[note][-1]

    def is_shown(self, note: str) -> bool:
        return self.now(note).lifecycle is ACTIVE and self.now(note).trust is not Trust.REJECTED

    def head(self, note: str) -> str:
        while note in self.states and self.now(note).by:
            note = self.now(note).by
        return note

    def same(self, value: str) -> list[str]:
        return [each for each, other in self.values.items() if other == value.lower()]

    def leads_to(self, old: str, head: str) -> bool:
        return self.head(old) == head


class Verbs(RuleBasedStateMachine):
    """Says verbs of the store and of the model."""

    notes = Bundle("notes")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.room = Room(Path(self.folder.name), watched=False)
        self.model = Model()

    @override
    def teardown(self) -> None:
        self.room.close()
        self.folder.cleanup()

    def tell(self, allowed: bool, say: Callable[[], object]) -> bool:
        """Say something that the model allows or refuses; tell whether it was done."""
        self.room.clock.ms += 1
        if allowed:
            say()
            return True
        with pytest.raises(ServiceError):
            say()
        return False

    def add(self, note: str, state: State) -> None:
        self.model.states[note].append(state)

    def may_store(self, value: str, old: str) -> tuple[bool, str]:
        """Return whether a value may be stored in the place of *old*, and the note it is then."""
        model = self.model
        same = model.same(value)
        title = {each: self.room.note(each).title for each in same}
        twin = [each for each in same if model.is_shown(each) and title[each] == value]
        if value.lower() in model.rejected:
            return False, ""
        if twin:
            return twin[-1] != old, twin[-1]
        if any(model.now(each).lifecycle is not ACTIVE for each in same):
            return bool(old) and any(model.leads_to(each, old) for each in same), ""
        return True, ""

    @rule(target=notes, value=VALUES)
    def insert(self, value: str) -> str:
        allowed, twin = self.may_store(value, "")
        found: list[str] = []
        if self.tell(allowed, lambda: found.append(self.room.insert(value).id)):
            assert twin in ("", found[0])
            if not twin:
                self.model.values[found[0]] = value.lower()
                self.model.states[found[0]] = [State()]
        return found[0] if found else ""

    @rule(target=notes, value=VALUES, old=notes)
    def insert_in_the_place_of(self, value: str, old: str) -> str:
        model = self.model
        if old not in model.states:
            return ""
        allowed, twin = self.may_store(value, old)
        allowed = allowed and model.now(old).lifecycle is ACTIVE
        note = NewNote(title=value, supersedes=old, reason="moved")
        found: list[str] = []
        if self.tell(allowed, lambda: found.append(self.room.insert(note=note).id)):
            if not twin:
                model.values[found[0]] = value.lower()
                model.states[found[0]] = [State()]
            now = model.now(old)
            self.add(old, State(SUPERSEDED, now.trust, found[0], Verb.SUPERSEDE))
        return found[0] if found else ""

    @rule(old=notes, new=notes)
    def supersede(self, old: str, new: str) -> None:
        model = self.model
        if old not in model.states or new not in model.states:
            return
        allowed = old != new and model.now(old).lifecycle is ACTIVE and model.is_shown(new)
        if self.tell(allowed, lambda: self.room.change(Verb.SUPERSEDE, old, by=new)):
            self.add(old, State(SUPERSEDED, model.now(old).trust, new, Verb.SUPERSEDE))

    @rule(note=notes)
    def retire(self, note: str) -> None:
        self.simple(note, Verb.RETIRE, lambda now: now.lifecycle is ACTIVE, lifecycle=RETIRED)

    @rule(note=notes)
    def restore(self, note: str) -> None:
        self.simple(note, Verb.RESTORE, lambda now: now.lifecycle is RETIRED, lifecycle=ACTIVE)

    @rule(note=notes)
    def dispute(self, note: str) -> None:
        doubted = (Trust.DISPUTED, Trust.REJECTED)
        self.simple(
            note,
            Verb.DISPUTE,
            lambda now: now.lifecycle is ACTIVE and now.trust not in doubted,
            trust=Trust.DISPUTED,
        )

    @rule(note=notes)
    def mark_stale(self, note: str) -> None:
        self.simple(
            note,
            Verb.MARK_STALE,
            lambda now: now.lifecycle is ACTIVE and now.trust is Trust.OBSERVED,
            trust=Trust.STALE,
        )

    def simple(
        self,
        note: str,
        verb: Verb,
        takes: Callable[[State], bool],
        *,
        lifecycle: Lifecycle | None = None,
        trust: Trust | None = None,
    ) -> None:
        if note not in self.model.states:
            return
        now = self.model.now(note)
        if self.tell(takes(now), lambda: self.room.change(verb, note)):
            self.add(note, State(lifecycle or now.lifecycle, trust or now.trust, now.by, verb))

    @rule(note=notes)
    def reject(self, note: str) -> None:
        model = self.model
        if note not in model.states:
            return
        same = [
            each
            for each in model.same(model.values[note])
            if model.now(each).trust is not Trust.REJECTED
        ]
        used = [each for each in same if each != note and model.now(each).lifecycle is ACTIVE]
        allowed = note in same and (model.now(note).lifecycle is ACTIVE or not used)
        if self.tell(allowed, lambda: self.room.change(Verb.REJECT, note)):
            model.rejected.add(model.values[note])
            for each in same:
                now = model.now(each)
                self.add(each, State(now.lifecycle, Trust.REJECTED, now.by, Verb.REJECT))

    @rule(note=notes)
    def undo(self, note: str) -> None:
        model = self.model
        if note not in model.states:
            return
        last, *before = reversed(model.states[note])
        allowed = bool(before) and last.verb is not Verb.REJECT
        back = before[0] if before else State()
        if back.by and not last.by:
            allowed = allowed and back.by in model.states and model.head(back.by) != note
        event = self.room.note(note).event
        if self.tell(allowed, lambda: self.room.change(Verb.UNDO, event=event)):
            self.add(note, State(back.lifecycle, back.trust, back.by, Verb.UNDO))

    @rule(note=consumes(notes))
    def erase(self, note: str) -> None:
        model = self.model
        if note not in model.states:
            return
        by = model.now(note).by
        self.room.delete(note, caller=PERSON)
        del model.states[note], model.values[note]
        for states in model.states.values():
            now = states[-1]
            if now.by == note:
                states[-1] = State(now.lifecycle, now.trust, by, now.verb)

    @invariant()
    def a_listing_shows_what_the_model_shows(self) -> None:
        with self.room.profile.snapshot() as connection:
            wanted = PageFilter(scope=ScopeFilter(all=True))
            page = read_full_page(connection, wanted, now_ms=self.room.clock.ms, count_max=500)
        shown = {note for note in self.model.states if self.model.is_shown(note)}
        assert {note.id for note in page} == shown

    @invariant()
    def every_note_is_as_the_model_says(self) -> None:
        for note in self.model.states:
            now, stored = self.model.now(note), self.room.note(note)
            assert (stored.state.lifecycle, stored.state.trust) == (now.lifecycle, now.trust)
            head = self.model.head(note)
            assert (stored.superseded_by or "") == (head if head != note else "")

    @invariant()
    def the_audit_chain_agrees(self) -> None:
        report = self.room.verify()
        assert report.ok, report.summary


TestVerbs = Verbs.TestCase
TestVerbs.settings = settings(
    deadline=None,
    max_examples=12,
    stateful_step_count=20,
    suppress_health_check=[HealthCheck.too_slow],
)
