"""Every limit on what can be stored, each named once."""

TITLE_CHARS_MAX = 1_024
BODY_BYTES_MAX = 1024 * 1024
KEYWORDS_MAX = 64
KEYWORD_CHARS_MAX = 128
SCOPE_CHARS_MAX = 1_024
SCOPES_MAX = 16
AUTHOR_CHARS_MAX = 256
SOURCES_MAX = 64
FINDINGS_MAX = 256
"""What was found of so many sources is told at once."""
PROJECTS_MAX = 16
"""Projects whose sources a read asks for."""
LOCATOR_CHARS_MAX = 2_048
PROJECT_CHARS_MAX = 1_024
APPLIES_TO_MAX = 16
"""Ranges that one note may carry."""
SPEC_CHARS_MAX = 256
"""Of one range with its name, and of one entry of a context."""
CONTEXT_MAX = 1_024
"""Entries of a question's context."""
REASON_CHARS_MAX = 1_024
COMMAND_CHARS_MAX = 1_024
"""Of the command that a note is verified by."""
BATCH_NOTES_MAX = 256
BATCH_BYTES_MAX = 16 * 1024 * 1024
SIMILAR_MAX = 3
PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 256
PAGE_SIZE_WITH_BODIES_MAX = 32
"""Together they stay below what a message may have, however long they are."""
TIME_MS_MAX = 253_402_300_799_999
"""Last millisecond of the year 9999."""
