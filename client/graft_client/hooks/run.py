"""What each event leads to."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from graft.memory.v1 import recall_service_pb2
from graft_client.hooks import wording
from graft_client.hooks.events import HookEvent
from graft_client.hooks.memory import Memory, find_memory, working_in
from graft_client.hooks.noticing import error_in, question_in, went_well
from graft_client.hooks.outputs import added, asked_at_the_end
from graft_client.hooks.sessions import SessionStates
from graft_client.settings import Configuration

MS_IN_SECOND = 1_000
SIGNATURE = "signature"
TITLE_ALONE = " title"
"""After the id of a note of which no more was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One run of a hook.

    Attributes:
        event: what happened.
        configuration: of the agent's environment.
        deadline: `time.monotonic` value after which nothing is waited for.
    """

    event: HookEvent
    configuration: Configuration
    deadline: float

    def output(self) -> str:
        """Do what the event leads to; return what is to be printed, empty for nothing.

        Raises:
            UnaryError: the memory does not answer in time.
        """
        match self.event.kind:
            case "session-start":
                return added(self.event, self._start())
            case "prompt":
                return added(self.event, self._prompt())
            case "post-tool":
                return added(self.event, self._tool())
            case _:
                return asked_at_the_end(self.event, self._stop())

    def _start(self) -> str:
        memory = self._memory()
        if self.configuration.may_start and not (memory and memory.has_embedder()):
            start_services(self.configuration)
        if memory is None:
            return ""
        stats = memory.stats()
        counts = [(each.scope, each.notes) for each in stats.scopes]
        return wording.told_start(counts, memory.waiting(), stats.notices)

    def _prompt(self) -> str:
        question = question_in(self.event.prompt)
        memory = self._memory() if question else None
        if memory is None:
            return ""
        return self._tell(memory.query(question), met="this prompt")

    def _tool(self) -> str:
        if not self.event.command:
            return ""  # what is read or written with other tools is no work that fails
        error = error_in(self.event.tool_text, self.event.command, failed=self.event.failed)
        if not error:
            if went_well(self.event.command, failed=self.event.failed):
                self._went_on()
            return ""
        memory = self._memory()
        if memory is None:
            return ""
        answer = memory.query(error)
        by_signature = any(each.name == SIGNATURE and each.value > 0 for each in answer.signals)
        if answer.hit == recall_service_pb2.HIT_STRONG or (answer.note.id and by_signature):
            return self._tell(answer, met="this error")
        self._met_an_error()
        return "\n".join(wording.told_notices(answer.notices))

    def _stop(self) -> str:
        states, session = self._states(), self.event.session
        state = states.read(session) if session else None
        if state is None or self.event.again or state.asked or not state.solved:
            return ""
        memory = self._memory()
        if memory is None:
            return ""
        state.asked = True
        states.write(session, state)
        return "" if memory.has_saved_since(state.met_ms) else wording.ask_to_save()

    def _tell(self, answer: recall_service_pb2.QueryResponse, *, met: str) -> str:
        """Tell of an answer's note, once a session, and what became of others."""
        states, session = self._states(), self.event.session
        state = states.read(session)
        lines = wording.told_notices(answer.notices)
        in_full = answer.hit == recall_service_pb2.HIT_STRONG
        # Of whom only the title was told, the note itself is still news.
        told = answer.note.id if in_full else f"{answer.note.id}{TITLE_ALONE}"
        if answer.note.id and not {answer.note.id, told}.intersection(state.told):
            lines.insert(0, wording.told_answer(answer, met=met))
            if session:
                state.tell([told])
                states.write(session, state)
        return "\n".join(lines)

    def _met_an_error(self) -> None:
        states, session = self._states(), self.event.session
        state = states.read(session)
        if session and not state.asked:
            state.met_ms = state.met_ms or time.time_ns() // 1_000_000
            state.solved = False
            states.write(session, state)

    def _went_on(self) -> None:
        states, session = self._states(), self.event.session
        state = states.read(session)
        if session and state.met_ms and not state.solved:
            state.solved = True
            states.write(session, state)

    def _memory(self) -> Memory | None:
        placed = working_in(self.configuration, self.event.directory)
        return find_memory(placed, self.event.session, self.deadline)

    def _states(self) -> SessionStates:
        return SessionStates(self.configuration.home.hooks)


def start_services(configuration: Configuration) -> None:
    """Have both services started by a process of its own, which nobody waits for."""
    home = str(configuration.home.root)
    options = ("--load", "--quiet", "--home", home, "--profile", configuration.profile)
    subprocess.Popen(  # noqa: S603 - our own module, no shell text from outside
        [sys.executable, "-m", "graft_client.cli", "start", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path("/"),
        env=dict(configuration.environ),
        start_new_session=True,
    )
