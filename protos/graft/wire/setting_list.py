"""Every setting of every program: name, variable, default, meaning."""

from dataclasses import dataclass

from graft.wire.events import LOG_FORMATS, TEXT
from graft.wire.models import MODEL_NAME, MODEL_NAME_RULE
from graft.wire.paths import PROFILE_NAME, PROFILE_NAME_RULE
from graft.wire.setting_rules import (
    Flag,
    Number,
    Rule,
    Whole,
    file_path,
    line,
    listen_address,
    loopback_address,
    name_like,
    one_of,
    or_empty,
    scope,
    socket_address,
    target,
    web_address,
)

SCOPE_CHARS_MAX = 1_024
AUTHOR_CHARS_MAX = 256

TIMEOUT_SECONDS_MAX = 86_400
"""A day; no call is worth waiting for longer."""

IDLE_MINUTES_MAX = 525_600
"""A year; who wants longer wants 0."""

GPU_LAYERS_MAX = 9_999
"""More than any model has: who writes 99 or 999 means all of them."""

THREADS_MAX = 512
"""llama.cpp's own limit (GGML_MAX_N_THREADS)."""

BATCH_TOKENS_MIN = 16
BATCH_TOKENS_MAX = 16_384
"""The attention mask of so many tokens takes half a gigabyte, four times as much for twice."""

EMBED_TOKENS_MIN = 16
"""A single character can take more tokens than fewer."""

EMBED_TOKENS_MAX = 8_192
"""No model takes more tokens for a question."""

HOOK_MS_MIN = 50
HOOK_MS_MAX = 10_000
"""Agents give up a hook after so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    Attributes:
        name: key in the file and in the code.
        variable: environment variable.
        rule: what it may be.
        default: text of the value that holds when nobody set one.
        help: what it does, one sentence, with its unit.
    """

    name: str
    variable: str
    rule: Rule
    default: str
    help: str


SETTINGS = (
    Setting(
        name="profile",
        variable="GRAFT_PROFILE",
        rule=name_like(PROFILE_NAME, PROFILE_NAME_RULE),
        default="default",
        help="Profile that calls go to.",
    ),
    Setting(
        name="scope",
        variable="GRAFT_SCOPE",
        rule=or_empty(scope(SCOPE_CHARS_MAX)),
        default="",
        help="Scope of reads and writes; empty: the working directory's project and user.",
    ),
    Setting(
        name="author",
        variable="GRAFT_AUTHOR",
        rule=line(AUTHOR_CHARS_MAX),
        default="",
        help="Author of new notes.",
    ),
    Setting(
        name="autostart",
        variable="GRAFT_AUTOSTART",
        rule=Flag(),
        default="1",
        help="Start the services when nothing answers.",
    ),
    Setting(
        name="target",
        variable="GRAFT_TARGET",
        rule=or_empty(target()),
        default="",
        help="Memstore to use instead of the home's own (unix:PATH, tls://HOST:PORT); starts"
        " nothing.",
    ),
    Setting(
        name="token_file",
        variable="GRAFT_TOKEN_FILE",
        rule=or_empty(file_path()),
        default="",
        help="File with the token that a target on TCP asks for; GRAFT_TOKEN beats it.",
    ),
    Setting(
        name="tls_ca",
        variable="GRAFT_TLS_CA",
        rule=or_empty(file_path()),
        default="",
        help="Certificates (PEM) that a target's certificate must come from; empty: those that gRPC"
        " brings along.",
    ),
    Setting(
        name="tls_cert",
        variable="GRAFT_TLS_CERT",
        rule=or_empty(file_path()),
        default="",
        help="Certificate (PEM) to show to a target that asks for one, with tls_key.",
    ),
    Setting(
        name="tls_key",
        variable="GRAFT_TLS_KEY",
        rule=or_empty(file_path()),
        default="",
        help="Private key (PEM) of tls_cert.",
    ),
    Setting(
        name="timeout_seconds",
        variable="GRAFT_TIMEOUT",
        rule=Number(most=TIMEOUT_SECONDS_MAX, zero=False),
        default="30",
        help="Seconds that a call may take.",
    ),
    Setting(
        name="idle_minutes",
        variable="GRAFT_IDLE_MINUTES",
        rule=Number(most=IDLE_MINUTES_MAX, zero=True),
        default="30",
        help="Minutes without use after which a service ends; 0: never.",
    ),
    Setting(
        name="listen",
        variable="GRAFT_LISTEN",
        rule=or_empty(listen_address()),
        default="",
        help="Where the memstore listens on TCP besides its socket, for callers with a token;"
        " empty: nowhere. A memstore that listens does not end by itself.",
    ),
    Setting(
        name="listen_cert",
        variable="GRAFT_LISTEN_CERT",
        rule=or_empty(file_path()),
        default="",
        help="Certificate (PEM) for TLS at listen, read again when it changes; any but the loopback"
        " address needs one.",
    ),
    Setting(
        name="listen_key",
        variable="GRAFT_LISTEN_KEY",
        rule=or_empty(file_path()),
        default="",
        help="Private key (PEM, not encrypted) of listen_cert.",
    ),
    Setting(
        name="listen_client_ca",
        variable="GRAFT_LISTEN_CLIENT_CA",
        rule=or_empty(file_path()),
        default="",
        help="Certificates (PEM) that callers' certificates must come from; empty: callers need"
        " none.",
    ),
    Setting(
        name="model",
        variable="GRAFT_MODEL",
        rule=or_empty(name_like(MODEL_NAME, MODEL_NAME_RULE)),
        default="",
        help="Model of profiles without vectors; empty: the one chosen with `graft model use`,"
        " else bge-m3 if it is there, else starter.",
    ),
    Setting(
        name="model_mirror",
        variable="GRAFT_MODEL_MIRROR",
        rule=or_empty(web_address()),
        default="",
        help="Base address that model files are fetched from instead of their own.",
    ),
    Setting(
        name="metrics",
        variable="GRAFT_METRICS",
        rule=or_empty(loopback_address()),
        default="",
        help="Where the memstore tells Prometheus its metrics (HOST:PORT of this machine alone);"
        " takes the extra metrics; empty: nowhere.",
    ),
    Setting(
        name="traces",
        variable="GRAFT_TRACES",
        rule=or_empty(loopback_address()),
        default="",
        help="Collector of OpenTelemetry's (OTLP over gRPC, HOST:PORT of this machine alone) that"
        " services tell of their calls; takes the extra otel; empty: none.",
    ),
    Setting(
        name="embedder",
        variable="GRAFT_EMBEDDER",
        rule=or_empty(socket_address()),
        default="",
        help="Socket of an embedder that others run (unix:PATH); the memstore then starts none, and"
        " its model is the one of profiles without vectors; empty: the memstore runs its own.",
    ),
    Setting(
        name="gpu_layers",
        variable="GRAFT_GPU_LAYERS",
        rule=Whole(most=GPU_LAYERS_MAX, words=("auto",)),
        default="auto",
        help="Layers to put on the GPU; auto: all of them when the build has a GPU backend.",
    ),
    Setting(
        name="threads",
        variable="GRAFT_THREADS",
        rule=Whole(most=THREADS_MAX),
        default="0",
        help="Threads that the model computes with; 0: the CPUs that the process may use.",
    ),
    Setting(
        name="batch_tokens",
        variable="GRAFT_BATCH_TOKENS",
        rule=Whole(least=BATCH_TOKENS_MIN, most=BATCH_TOKENS_MAX),
        default="0",
        help="Tokens that one decode holds at most; 0: what suits the backend.",
    ),
    Setting(
        name="embed_tokens_max",
        variable="GRAFT_EMBED_TOKENS_MAX",
        rule=Whole(least=EMBED_TOKENS_MIN, most=EMBED_TOKENS_MAX),
        default="0",
        help="Tokens of a question that are embedded; 0: 256 on a processor, 512 on a GPU.",
    ),
    Setting(
        name="misses",
        variable="GRAFT_MISSES",
        rule=Flag(),
        default="1",
        help="Keep questions that nothing answered, for `graft misses`; they stay in the"
        " profile's file.",
    ),
    Setting(
        name="upkeep",
        variable="GRAFT_UPKEEP",
        rule=Flag(),
        default="1",
        help="Record what has expired and purge what a reviewer retired 30 days ago, in the"
        " background.",
    ),
    Setting(
        name="new_notes",
        variable="GRAFT_NEW_NOTES",
        rule=one_of("observed", "candidate"),
        default="observed",
        help="What notes of agents start as: observed, or candidate, which is at most a WEAK answer"
        " until a reviewer approves of it.",
    ),
    Setting(
        name="secrets",
        variable="GRAFT_SECRETS",
        rule=one_of("warn", "refuse", "off"),
        default="warn",
        help="What follows where a note to save holds what looks like a secret: it is saved and"
        " told of (warn), or not saved (refuse); off: nobody looks.",
    ),
    Setting(
        name="hooks",
        variable="GRAFT_HOOKS",
        rule=Flag(),
        default="1",
        help="Let agents' hooks (`graft hook`) do anything.",
    ),
    Setting(
        name="hook_ms",
        variable="GRAFT_HOOK_MS",
        rule=Whole(least=HOOK_MS_MIN, most=HOOK_MS_MAX),
        default="1000",
        help="Milliseconds after which an agent's hook ends, having said nothing; 0: at once.",
    ),
    Setting(
        name="log_level",
        variable="GRAFT_LOG_LEVEL",
        rule=one_of("debug", "info", "warning", "error"),
        default="info",
        help="Least level that services log.",
    ),
    Setting(
        name="log_format",
        variable="GRAFT_LOG_FORMAT",
        rule=one_of(*LOG_FORMATS),
        default=TEXT,
        help="What services write their logs as: lines for people, or JSON objects, one a line.",
    ),
)

BY_NAME = {setting.name: setting for setting in SETTINGS}
