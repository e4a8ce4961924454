"""Prompts that a person picks in a client: each tells an agent how to do one job."""

from collections.abc import Mapping
from dataclasses import dataclass

from graft_client.errors import InputError

ARGUMENT_CHARS_MAX = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt; *text* has the place of its argument, which *argument* describes, as {it}."""

    title: str
    description: str
    text: str
    name: str = ""
    argument: str = ""
    required: bool = False

    def filled(self, given: Mapping[str, str] | None) -> str:
        """Return the text with its argument.

        Raises:
            InputError: the argument is missing or too long, or there is one that it has not.
        """
        values = {name: value.strip() for name, value in (given or {}).items() if value.strip()}
        unknown = sorted(values.keys() - {self.name})
        if unknown:
            raise InputError(f"unknown arguments: {', '.join(unknown)[:200]}")
        value = values.get(self.name, "")
        if self.required and not value:
            raise InputError(f"{self.name} is missing: {self.argument}")
        if len(value) > ARGUMENT_CHARS_MAX:
            raise InputError(
                f"{self.name} has {len(value):,} characters; give {ARGUMENT_CHARS_MAX:,} at most"
            )
        return self.text.replace("{it}", value or "what this session is about")


PROMPTS: Mapping[str, Prompt] = {
    "recall": Prompt(
        title="What do we know about this?",
        description="Ask the memory about a problem before working on it.",
        name="problem",
        argument="the problem, or an error as it was printed",
        required=True,
        text=(
            "Ask Graft's memory before you work on this:\n\n{it}\n\n"
            "Call query with it. If the answer is STRONG, check that it holds here before you use"
            " it. If it is WEAK, open the note with get and judge whether it fits. If it is MISS,"
            " call retrieve with other words once, then say plainly what the memory does not know."
            " Name the notes that you used by their ids."
        ),
    ),
    "save": Prompt(
        title="Save what was learned",
        description="Save what took effort to find out, with its sources.",
        name="about",
        argument="what to save; left out: what the session was about",
        text=(
            "Save to Graft's memory what was learned about {it}.\n\n"
            "One note for each fact or solution that took effort and will be needed again. For"
            " each, call query with its title first: where a note says it already, save nothing;"
            " where one says something else that is no longer so, call insert with supersedes and"
            " the reason. Give the title in the words of whoever will ask, the files and commits"
            " it rests on as sources, and what was tried in vain as kind dead-end. No secrets, and"
            " nothing that can be read from the code at a glance. Say at the end which notes you"
            " saved."
        ),
    ),
    "tidy": Prompt(
        title="Tidy the memory",
        description="Look through what waits to be judged, and judge what is plain.",
        text=(
            "Tidy Graft's memory of this project. Call maintain_status, then maintain_scan. Judge"
            " each item that is plain with maintain_resolve and a reason; open both notes with get"
            " first. Call sources_diff, read what changed, and supersede notes that are no longer"
            " right; call sources_refresh for those that hold. Leave to me what is not plain: list"
            " it, with what you would do."
        ),
    ),
}
"""By the name that a client calls."""
