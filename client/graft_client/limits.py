"""The limits that the service keeps; what a caller reads from files or pipes is bounded by them."""

from typing import NamedTuple

TITLE_CHARS_MAX = 1_024
BODY_BYTES_MAX = 1 << 20
QUERY_BYTES_MAX = 64 << 10
KEYWORDS_MAX = 64
KEYWORD_CHARS_MAX = 128
SOURCES_MAX = 64
FINDINGS_MAX = 256
LOCATOR_CHARS_MAX = 2_048
SCOPE_CHARS_MAX = 1_024
AUTHOR_CHARS_MAX = 256
APPLIES_TO_MAX = 16
SPEC_CHARS_MAX = 256
CONTEXT_MAX = 1_024
REASON_CHARS_MAX = 1_024
COMMAND_CHARS_MAX = 1_024
PASSPHRASE_CHARS_MIN = 8
PASSPHRASE_CHARS_MAX = 1_024
REVIEW_MINUTES = 15
BATCH_NOTES_MAX = 256
BATCH_BYTES_MAX = 16 << 20
PAGE_SIZE_MAX = 256
TOP_K_MAX = 256
TOP_K = 25
DEPTH_MAX = 8
DEPTH = 3
BEAM_MAX = 32
BEAM = 4
SUGGESTED_MIN = 3
SUGGESTED_MAX = 6
PASSAGES_MAX = 64
ERRORS_MAX = 8
ERRORS_CHARS_MAX = 262_144
RECEIPTS_MAX = 5_000
MISSES_MAX = 500
MISSES = 50
QUESTION_CHARS_MAX = 1_000
FOUND_MAX = 2_000
UPKEEP_ITEMS_MAX = 1_000
UPKEEP_EVENTS_MAX = 1_000
IDLE_DAYS = 30
IDLE_DAYS_MAX = 3_650
LOCK_WAIT_SECONDS = 10
CONFIRM_BYTES_MAX = 64 << 20
CONFIRM_SECONDS = 1.0
CONFIRM_WITHIN_SECONDS = 60
GIVEN_SECONDS = 3_600
ANSWER_TOKENS = 4_000
ANSWER_TOKENS_MIN = 200
ANSWER_TOKENS_MAX = 100_000
RETOLD_CHARS_MAX = 32 * 1024
HEAD_BYTES_MAX = 4 << 10
FLAWS_MAX = 100
REFUSALS_MAX = 256
GIVEN_NOTES_MAX = 20_000
NOTICES_MAX = 10_000
NOTICES_TOLD_MAX = 10
SESSIONS_NAMED_MAX = 20
AGENT_FILE_BYTES_MAX = 32 << 20
AGENT_FILE_DEPTH_MAX = 200
FRONT_MATTER_CHARS_MAX = 1 << 18
MARKDOWN_FILE_BYTES_MAX = 4 << 20
MARKDOWN_FILES_MAX = 10_000
MARKDOWN_DEPTH_MAX = 32
TOKENS_MAX = 256
TOKEN_DAYS = 90
CALLS_PER_MINUTE_DEFAULT = 600
CALLS_PER_MINUTE_MAX = 60_000
CALLS_AT_ONCE_DEFAULT = 8
CALLS_AT_ONCE_MAX = 32
REMOTE_CALLS_MAX = 40

# A line of a .jsonl file holds one note as JSON, where a byte may take six (\u00XX).
LINE_BYTES_MAX = 8 << 20


class Limit(NamedTuple):
    """One limit, as the reference shows it."""

    what: str
    figure: str


LIMITS: tuple[Limit, ...] = (
    Limit("title", f"1 to {TITLE_CHARS_MAX:,} characters, not all white space"),
    Limit("body", f"{BODY_BYTES_MAX:,} bytes of UTF-8 (1 MiB)"),
    Limit("keywords", f"{KEYWORDS_MAX} of 1 to {KEYWORD_CHARS_MAX} characters"),
    Limit("sources", f"{SOURCES_MAX}, locators of 1 to {LOCATOR_CHARS_MAX:,} characters"),
    Limit(
        "what a note applies to",
        f"{APPLIES_TO_MAX} of 1 to {SPEC_CHARS_MAX} characters, ranges of 16 parts",
    ),
    Limit(
        "context of a query",
        f"{CONTEXT_MAX:,} of 1 to {SPEC_CHARS_MAX} characters, 16 versions of one name",
    ),
    Limit("scope", f"{SCOPE_CHARS_MAX:,} characters"),
    Limit("author", f"{AUTHOR_CHARS_MAX} characters"),
    Limit("reason", f"1 to {REASON_CHARS_MAX:,} characters"),
    Limit("command that a note is verified by", f"1 to {COMMAND_CHARS_MAX:,} characters"),
    Limit(
        "reviewer's passphrase", f"{PASSPHRASE_CHARS_MIN} to {PASSPHRASE_CHARS_MAX:,} characters"
    ),
    Limit(
        "reviewer's session",
        f"{REVIEW_MINUTES} minutes; the next try after wrong passphrases"
        " waits 1 s, then twice as long each time, 5 minutes at most",
    ),
    Limit(
        "question of query, retrieve and explore", f"{QUERY_BYTES_MAX:,} bytes of UTF-8 (64 KiB)"
    ),
    Limit("results of retrieve", f"{TOP_K} by default, {TOP_K_MAX} at most"),
    Limit("steps of explore", f"{DEPTH} by default, {DEPTH_MAX} at most"),
    Limit("notes that explore keeps at each step", f"{BEAM} by default, {BEAM_MAX} at most"),
    Limit(
        "keywords that classify suggests",
        f"{SUGGESTED_MIN} to {SUGGESTED_MAX}, where there are any",
    ),
    Limit("notes in one batch", f"{BATCH_NOTES_MAX}, together {BATCH_BYTES_MAX:,} bytes (16 MiB)"),
    Limit("line of a .jsonl file", f"{LINE_BYTES_MAX:,} bytes (8 MiB)"),
    Limit(
        "passages of a note that are embedded",
        f"{PASSAGES_MAX} of about 240 tokens; what lies beyond is found by its words",
    ),
    Limit(
        "errors that are read in one text",
        f"{ERRORS_MAX}; of more than {ERRORS_CHARS_MAX:,} characters the first and the last",
    ),
    Limit("receipts of answers", f"the last {RECEIPTS_MAX:,} of each profile"),
    Limit(
        "questions that nothing answered",
        f"{MISSES_MAX} groups of each profile, the first {QUESTION_CHARS_MAX:,} characters of one"
        f" question each; {MISSES} listed by default",
    ),
    Limit("access tokens of a home", f"{TOKENS_MAX}; each for {TOKEN_DAYS} days by default"),
    Limit(
        "calls of a token",
        f"{CALLS_PER_MINUTE_DEFAULT} a minute by default, {CALLS_PER_MINUTE_MAX:,} at most, and"
        f" {CALLS_AT_ONCE_DEFAULT} at once, {CALLS_AT_ONCE_MAX} at most; of all tokens"
        f" {REMOTE_CALLS_MAX} at once",
    ),
    Limit("rows that `log --verify` names", f"{FLAWS_MAX}; it counts the others"),
    Limit(
        "refusals within a minute",
        f"the first of a kind is recorded at once, the same again as one event with its count when"
        f" the minute ends; {REFUSALS_MAX} kinds, the others are one",
    ),
    Limit(
        "notices of what became of notes",
        f"of the last {GIVEN_NOTES_MAX:,} notes given to sessions; {NOTICES_MAX:,} wait,"
        f" {NOTICES_TOLD_MAX} come with an answer; a change names {SESSIONS_NAMED_MAX} sessions",
    ),
    Limit(
        "what one scan of maintain finds",
        f"{FOUND_MAX:,} things of a kind; {UPKEEP_ITEMS_MAX:,} shown at most",
    ),
    Limit(
        "files that are looked at for one answer",
        f"{CONFIRM_BYTES_MAX >> 20} MiB and {CONFIRM_SECONDS:.0f} s, told of within"
        f" {CONFIRM_WITHIN_SECONDS} s",
    ),
    Limit(
        "one answer of a tool of `graft mcp`",
        f"about {ANSWER_TOKENS:,} tokens; {ANSWER_TOKENS_MIN} to {ANSWER_TOKENS_MAX:,} with"
        " --max-tokens",
    ),
    Limit(
        "configuration file of an agent that `graft setup` changes",
        f"{AGENT_FILE_BYTES_MAX >> 20} MiB, {AGENT_FILE_DEPTH_MAX} values within one another",
    ),
    Limit(
        "Markdown file of `import-md`",
        f"{MARKDOWN_FILE_BYTES_MAX >> 20} MiB, of which the front matter has at most"
        f" {FRONT_MATTER_CHARS_MAX:,} characters",
    ),
    Limit(
        "files of one `import-md`",
        f"{MARKDOWN_FILES_MAX:,}, in folders at most {MARKDOWN_DEPTH_MAX} deep",
    ),
    Limit("sources that are told of at once", f"{FINDINGS_MAX}"),
    Limit(
        "text that is compared with what its session was given",
        f"{RETOLD_CHARS_MAX:,} characters, for {GIVEN_SECONDS // 60} minutes",
    ),
    Limit(
        "wait of a change for another program's lock of the file",
        f"{LOCK_WAIT_SECONDS} s, less where --timeout leaves less",
    ),
)
