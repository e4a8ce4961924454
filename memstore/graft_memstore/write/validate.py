"""Checks a note before anything is done with it, and brings its keywords into one form.

Titles, keywords, scopes, authors and sources are single lines: control characters and line ends
in them are refused, since they are printed on terminals and in lists. A body may hold any
character but NUL, and so is stored whole or not at all.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from graft.wire.characters import (
    NOT_IN_LINE,
    NOT_IN_REASON,
    NOT_IN_TEXT,
    is_blank,
    is_scope_shaped,
)
from graft.wire.errors import BadFieldError, FieldViolation
from graft_memstore.applicability import (
    Context,
    SpecError,
    parse_applies_to,
    parse_context,
    problem_of,
)
from graft_memstore.errors import BadFieldsError
from graft_memstore.model import USER_SCOPE, NewNote, ScopeFilter, Source
from graft_memstore.provenance import FINGERPRINT
from graft_memstore.write.identify import check_piece
from graft_memstore.write.limits import (
    APPLIES_TO_MAX,
    AUTHOR_CHARS_MAX,
    BATCH_BYTES_MAX,
    BATCH_NOTES_MAX,
    BODY_BYTES_MAX,
    CONTEXT_MAX,
    KEYWORD_CHARS_MAX,
    KEYWORDS_MAX,
    LOCATOR_CHARS_MAX,
    PROJECT_CHARS_MAX,
    PROJECTS_MAX,
    REASON_CHARS_MAX,
    SCOPE_CHARS_MAX,
    SCOPES_MAX,
    SOURCES_MAX,
    SPEC_CHARS_MAX,
    TIME_MS_MAX,
    TITLE_CHARS_MAX,
)


def check_note(note: NewNote, prefix: str = "note") -> NewNote:
    """Return *note* with its defaults and with each keyword once, after NFC and trim.

    Args:
        note: as the caller sent it.
        prefix: name of the field that holds it, such as "notes[3]".

    Raises:
        BadFieldsError: names every field that cannot be taken, and its limit.
    """
    checked = replace(
        note,
        keywords=tidy_keywords(note.keywords),
        scope=note.scope or USER_SCOPE,
        reason=note.reason.strip(),
    )
    violations = [
        FieldViolation(field=f"{prefix}.{name}", description=description)
        for name, description in _violations(note, checked)
    ]
    if violations:
        raise BadFieldsError(violations)
    return checked


def check_title(title: str) -> str:
    """Return *title* if a note can have it.

    Raises:
        BadFieldError: it is empty, too long, or no line of text.
    """
    description = _title_problem(title)
    if description:
        raise BadFieldError("title", description)
    return title


def check_batch(notes: Sequence[NewNote]) -> list[NewNote]:
    """Return the notes as `check_note` does.

    Raises:
        BadFieldsError: there are none or too many, or one of them cannot be taken.
    """
    if not 1 <= len(notes) <= BATCH_NOTES_MAX:
        raise BadFieldError("notes", f"{len(notes)} notes; a batch has 1 to {BATCH_NOTES_MAX}")
    size = sum(_bytes(note.title) + _bytes(note.body) for note in notes)
    if size > BATCH_BYTES_MAX:
        raise BadFieldError(
            "notes", f"{size:,} bytes of text; a batch has {BATCH_BYTES_MAX:,} at most"
        )
    checked: list[NewNote] = []
    violations: list[FieldViolation] = []
    for number, note in enumerate(notes):
        try:
            checked.append(check_note(note, f"notes[{number}]"))
        except BadFieldsError as error:
            violations += error.violations
    if violations:
        raise BadFieldsError(violations)
    return checked


def check_request_id(request_id: str) -> str:
    """Return *request_id* in its one form.

    Raises:
        BadFieldError: it is no UUID.
    """
    try:
        return str(UUID(request_id))
    except ValueError as error:
        raise BadFieldError(
            "request_id", f"{request_id[:80]!r} is no UUID; make a new one for each change"
        ) from error


def check_reason(reason: str) -> str:
    """Return *reason*, trimmed.

    Raises:
        BadFieldError: it is empty, too long, or holds control characters.
    """
    trimmed = reason.strip()
    problem = _reason_problem(trimmed)
    if problem:
        raise BadFieldError("reason", problem)
    return trimmed


def check_times(
    valid_from_ms: int | None, valid_to_ms: int | None, expires_at_ms: int | None
) -> None:
    """See that a note may have these times, UTC milliseconds.

    Raises:
        BadFieldError: one is too far away, or validity ends before it begins.
    """
    found = {
        "valid_from": _time_problem(valid_from_ms),
        "valid_to": _time_problem(valid_to_ms) or _order_problem(valid_from_ms, valid_to_ms),
        "expires_at": _time_problem(expires_at_ms),
    }
    for name, problem in found.items():
        if problem:
            raise BadFieldError(name, problem)


def check_scopes(scope: ScopeFilter) -> ScopeFilter:
    """Return *scope* if a read can use it.

    Raises:
        BadFieldError: no scope is named and not all are wanted, or one cannot be a scope.
    """
    if not scope.all and not scope.scopes:
        raise BadFieldError("scope", "names no scope; name some, or ask for all")
    if len(scope.scopes) > SCOPES_MAX:
        raise BadFieldError("scope.scopes", f"{len(scope.scopes)} scopes; {SCOPES_MAX} at most")
    for each in scope.scopes:
        description = _scope_problem(each)
        if description:
            raise BadFieldError("scope.scopes", description)
    return scope


def check_projects(projects: Sequence[str]) -> tuple[str, ...]:
    """Return the projects that a read asks for.

    Raises:
        BadFieldError: there are too many, or one cannot be a project.
    """
    problem = _too_many(len(projects), PROJECTS_MAX)
    for each in projects:
        problem = problem or _line_problem(each, PROJECT_CHARS_MAX)
    if problem:
        raise BadFieldError("projects", problem)
    return tuple(projects)


def check_keyword_filter(keywords: Sequence[str]) -> tuple[str, ...]:
    """Return the keywords that a read filters by, in the form in which they are stored.

    Raises:
        BadFieldError: there are too many, or one cannot be a keyword.
    """
    tidy = tidy_keywords(keywords)
    description = _keywords_problem(tidy)
    if description:
        raise BadFieldError("keywords", description)
    return tidy


def check_context(entries: Sequence[str]) -> Context:
    """Return what a question says is there.

    Raises:
        BadFieldError: there are too many entries, or one cannot be read.
    """
    problem = _specs_problem(entries, CONTEXT_MAX)
    if problem:
        raise BadFieldError("context", problem)
    try:
        return parse_context(entries)
    except SpecError as error:
        raise BadFieldError("context", str(error)) from error


def tidy_keywords(keywords: Sequence[str]) -> tuple[str, ...]:
    """Return each keyword once, after NFC and trim, in the order in which they came."""
    return tuple(dict.fromkeys(unicodedata.normalize("NFC", each).strip() for each in keywords))


def _violations(sent: NewNote, note: NewNote) -> list[tuple[str, str]]:
    """Return field and description of everything that is wrong with a note."""
    found = [
        ("title", _title_problem(note.title)),
        ("body", _body_problem(note.body)),
        # What was sent counts: a thousand spellings of one keyword are a thousand keywords.
        (
            "keywords",
            _too_many(len(sent.keywords), KEYWORDS_MAX) or _keywords_problem(note.keywords),
        ),
        ("scope", _scope_problem(note.scope)),
        ("author", _line_problem(note.author, AUTHOR_CHARS_MAX)),
        ("sources", _sources_problem(note.sources)),
        ("valid_from_ms", _time_problem(note.valid_from_ms)),
        (
            "valid_to_ms",
            _time_problem(note.valid_to_ms) or _order_problem(note.valid_from_ms, note.valid_to_ms),
        ),
        ("expires_at_ms", _time_problem(note.expires_at_ms)),
        ("applies_to", _applies_to_problem(note.applies_to)),
        ("supersedes", _piece_problem(note.supersedes)),
        ("reason", _note_reason_problem(note)),
    ]
    return [(name, description) for name, description in found if description]


def _piece_problem(piece: str) -> str:
    try:
        if piece:
            check_piece(piece, "supersedes")
    except BadFieldError as error:
        return error.violations[0].description
    return ""


def _note_reason_problem(note: NewNote) -> str:
    needed = note.supersedes or note.restore
    return _reason_problem(note.reason) if needed or note.reason else ""


def _reason_problem(reason: str) -> str:
    if is_blank(reason) or len(reason) > REASON_CHARS_MAX:
        return f"{len(reason):,} characters; say why in 1 to {REASON_CHARS_MAX:,}"
    return "holds control characters" if NOT_IN_REASON.search(reason) else ""


def _title_problem(title: str) -> str:
    if is_blank(title):
        return f"is empty; it needs 1 to {TITLE_CHARS_MAX:,} characters that can be seen"
    return _line_problem(title, TITLE_CHARS_MAX)


def _body_problem(body: str) -> str:
    size = _bytes(body)
    if size > BODY_BYTES_MAX:
        return f"has {size:,} bytes; {BODY_BYTES_MAX:,} at most; split it into several notes"
    found = NOT_IN_TEXT.search(body)
    return f"holds a NUL at character {found.start():,}; take it out" if found else ""


def _keywords_problem(keywords: tuple[str, ...]) -> str:
    if len(keywords) > KEYWORDS_MAX:
        return _too_many(len(keywords), KEYWORDS_MAX)
    for keyword in keywords:
        if is_blank(keyword):
            return f"one is empty; each needs 1 to {KEYWORD_CHARS_MAX} characters"
        problem = _line_problem(keyword, KEYWORD_CHARS_MAX)
        if problem:
            return f"{keyword[:40]!r} {problem}"
    return ""


def _scope_problem(scope: str) -> str:
    if not is_scope_shaped(scope):
        return (
            f'{scope[:80]!r} is no scope; use "user", "team:<name>", "project:<host/path>" '
            "or a plain name"
        )
    return _line_problem(scope, SCOPE_CHARS_MAX)


def _sources_problem(sources: tuple[Source, ...]) -> str:
    if len(sources) > SOURCES_MAX:
        return _too_many(len(sources), SOURCES_MAX)
    for source in sources:
        if is_blank(source.locator):
            return "one has an empty locator; say which file, address, commit or test"
        problem = _line_problem(source.locator, LOCATOR_CHARS_MAX)
        if problem:
            return f"locator {source.locator[:40]!r} {problem}"
        problem = _line_problem(source.project, PROJECT_CHARS_MAX)
        if problem:
            return f"project {source.project[:40]!r} {problem}"
        problem = fingerprint_problem(source.fingerprint)
        if problem:
            return problem
    return ""


def fingerprint_problem(fingerprint: str) -> str:
    """Return why a source cannot have this fingerprint; empty where it can, or has none."""
    if not fingerprint or FINGERPRINT.fullmatch(fingerprint):
        return ""
    return (
        f"{fingerprint[:80]!r} is no fingerprint; write blake3: and the 64 hex digits of a file's "
        "content, or git: and the 40 or 64 of a commit or blob"
    )


def check_sources(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return *sources* if a note can be given them.

    Raises:
        BadFieldError: there are none or too many, or one of them cannot be.
    """
    problem = _sources_problem(tuple(sources))
    if problem or not sources:
        raise BadFieldError("sources", problem or "none is given; name at least one")
    return tuple(sources)


def _applies_to_problem(specs: Sequence[str]) -> str:
    problem = _specs_problem(specs, APPLIES_TO_MAX)
    if problem:
        return problem
    try:
        return problem_of([parse_applies_to(spec) for spec in specs])
    except SpecError as error:
        return str(error)


def _specs_problem(specs: Sequence[str], count_max: int) -> str:
    if len(specs) > count_max:
        return _too_many(len(specs), count_max)
    for spec in specs:
        problem = _line_problem(spec, SPEC_CHARS_MAX)
        if problem:
            return f"{spec[:40]!r} {problem}"
    return ""


def _line_problem(text: str, chars_max: int) -> str:
    if len(text) > chars_max:
        return f"has {len(text):,} characters; {chars_max:,} at most"
    found = NOT_IN_LINE.search(text)
    if found:
        return (
            f"holds the control character U+{ord(found[0]):04X} at character "
            f"{found.start():,}; it must be one line of text"
        )
    return ""


def _time_problem(time_ms: int | None) -> str:
    if time_ms is not None and abs(time_ms) > TIME_MS_MAX:
        return f"{time_ms} ms is beyond the year 9999"
    return ""


def _order_problem(valid_from_ms: int | None, valid_to_ms: int | None) -> str:
    if valid_from_ms is None or valid_to_ms is None:
        return ""
    return "" if valid_from_ms < valid_to_ms else "is not after valid_from_ms"


def _too_many(count: int, count_max: int) -> str:
    return f"has {count:,} entries; {count_max} at most" if count > count_max else ""


def _bytes(text: str) -> int:
    return len(text.encode())
