"""The notes and questions of `graft demo`: what an agent saves in weeks of work on one service."""

from typing import NamedTuple

from graft_client.requests import NewNote


class Question(NamedTuple):
    """One question of the demonstration and what it shows."""

    text: str
    shows: str


NOTES = (
    NewNote(
        title="Pytest hangs at exit when a worker thread is not a daemon",
        body="The suite passed and then never ended. A connection pool's reaper thread was started"
        " without `daemon=True`, so the interpreter waited for it. Close the pool in a fixture"
        " finaliser; `faulthandler.dump_traceback_later(30)` showed which thread it was.",
        keywords=("pytest", "threads"),
    ),
    NewNote(
        title="SQLite says 'database is locked' although the busy timeout is set",
        body="A transaction that begins with a read and then writes cannot wait: SQLite returns"
        " SQLITE_BUSY at once, because waiting could never help. Use `BEGIN IMMEDIATE` for every"
        " transaction that may write; then busy_timeout works as expected.",
        keywords=("sqlite", "locking"),
    ),
    NewNote(
        title="Docker build ignores the cache after COPY because of file times",
        body="CI checks out the tree anew for every run, so each COPY saw new times and rebuilt the"
        " dependencies. Copy the lock file alone first, install, and only then copy the sources.",
        keywords=("docker", "ci"),
    ),
    NewNote(
        title="The login token is refreshed 60 seconds before it runs out, not at the 401",
        body="Two requests that got a 401 at once both refreshed and the second refresh revoked the"
        " first one's token. The client now refreshes ahead of time under a lock; see"
        " `auth/session.py`.",
        keywords=("auth", "concurrency"),
    ),
    NewNote(
        title="Node 18 on the build machines lacks a stable global fetch",
        body="`ReferenceError: fetch is not defined` came from the oldest runner image. The"
        " workflow pins Node 20 now; do not add a polyfill.",
        keywords=("node", "ci"),
    ),
    NewNote(
        title="Money is stored as integer cents, never as float",
        body="Rounding 19.99 * 3 in floats gave invoices that were one cent off. Amounts are"
        " integers in the smallest unit, with the currency's code beside them.",
        keywords=("billing", "convention"),
    ),
    NewNote(
        title="Retrying a payment without an idempotency key charged customers twice",
        body="The gateway timed out after it had booked. Every charge now carries a key made of the"
        " order's id and attempt; the gateway returns the first result for the same key.",
        keywords=("billing", "retries"),
    ),
    NewNote(
        title="Compiling the native extension needs CMake 3.26 or newer",
        body='Older CMake fails with `Unknown CMake command "block"`. Ubuntu 22.04 ships 3.22;'
        " install a newer one with pip inside the virtual environment.",
        keywords=("build", "cmake"),
    ),
    NewNote(
        title="Reading the whole CSV export into memory kills the worker at 2 GB",
        body="The nightly export has grown to six million rows. Iterate over it with the csv module"
        " and write in batches of 5,000 rows; memory stays below 200 MB.",
        keywords=("memory", "import"),
    ),
    NewNote(
        title="Trigram indexes on every column made inserts nine times slower",
        body="Reverted. Only `title` keeps its trigram index; the other columns are searched"
        " through the full-text index, which is fast enough.",
        keywords=("postgres", "performance"),
        kind="dead-end",
    ),
    NewNote(
        title="Feature flags are read once at start; changing one needs a restart",
        body="They live in `config/flags.toml`. A change seems to have no effect until the pods are"
        " restarted: `kubectl rollout restart deploy/api`.",
        keywords=("config", "deploy"),
    ),
    NewNote(
        title="Times from the billing partner are local to Berlin and carry no offset",
        body="In March the reports were an hour off. Parse them with the zone Europe/Berlin and"
        " store UTC; the partner's page says so in a footnote.",
        keywords=("billing", "time"),
    ),
)

QUESTIONS = (
    Question("sqlite database is locked even with busy_timeout set", "the same problem, reworded"),
    Question(
        "test run finishes but the python process never exits, pytest hangs",
        "the answer is in the note, not in the question's words",
    ),
    Question(
        "can a customer be charged twice when a payment request is retried?",
        "asked as a person asks",
    ),
    Question("docker build cannot copy a file outside its context", "near, but another problem"),
    Question("how do I rotate the TLS certificates of the mail server", "never seen before"),
)
