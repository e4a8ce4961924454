"""Notes to measure with: seeded, of the lengths that agents write, made of technical words."""

import random
from dataclasses import dataclass

SUBJECTS = (
    "the migration",
    "a worker pod",
    "the login token",
    "an integration test",
    "the build cache",
    "a websocket client",
    "the retry queue",
    "the Postgres replica",
    "a Docker layer",
    "the CI runner",
    "the TLS certificate",
    "a cron job",
    "the feature flag",
    "the search index",
    "a memory profile",
    "the release branch",
)
EVENTS = (
    "fails with a timeout",
    "keeps the old value",
    "runs twice after a restart",
    "loses its last line",
    "needs the lock first",
    "ignores the environment",
    "leaks a file descriptor",
    "waits for the wrong port",
    "drops the header",
    "reads a stale cache",
    "breaks on Windows paths",
    "rejects a valid key",
)
CAUSES = (
    "because the pool is smaller than the number of workers",
    "since the default changed in the last minor release",
    "when the clock of the host is behind",
    "unless the variable is exported before the shell starts",
    "if two processes open the file at once",
    "as the proxy rewrites the path",
    "whenever the container has no init process",
    "because the type of the column is text and not a number",
)
REMEDIES = (
    "Set the limit in the service's own file and restart it with a drain.",
    "Pass the flag on the command line; the configuration file is read too late.",
    "Pin the version in the lock file until the fix has been released upstream.",
    "Run the seed script before the first test, and the clean-up after the last.",
    "Take the advisory lock, then check the state again before writing.",
    "Delete the directory and let the tool make it anew; nothing else lives there.",
    "Send the header from the client, since the gateway strips the one from the browser.",
    "Raise the timeout to ninety seconds and log the slow query with its plan.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticNote:
    """A note that reads like one, and is about nothing."""

    title: str
    body: str


def notes(count: int, seed: int = 7) -> list[SyntheticNote]:
    """Return *count* notes with bodies of 2 to 16 sentences (30 to 300 tokens)."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        title = f"{draw.choice(SUBJECTS)} {draw.choice(EVENTS)} in module {number}"
        body = " ".join(
            draw.choice(REMEDIES) if draw.random() < 0.5 else _sentence(draw)
            for _ in range(draw.randint(2, 16))
        )
        made.append(SyntheticNote(title=title.capitalize(), body=body))
    return made


def _sentence(draw: random.Random) -> str:
    words = f"{draw.choice(SUBJECTS)} {draw.choice(EVENTS)} {draw.choice(CAUSES)}."
    return words.capitalize()
