"""What a caller asks for, with the defaults of its directory and settings filled in."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from graft.memory.v1 import (
    lifecycle_service_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
    scopes_service_pb2,
    sources_service_pb2,
    upkeep_service_pb2,
)
from graft_client import (
    lifecycle_operations,
    operations,
    recall_operations,
    receipt_operations,
    scope_operations,
    source_operations,
    upkeep_operations,
)
from graft_client.errors import InputError
from graft_client.explanations import ClearedMisses
from graft_client.filing_reports import ScopeMoved, SourcesAdded, SourcesDiff, SourcesRefreshed
from graft_client.lifecycle_operations import ChangeResponse, Verb
from graft_client.limits import BATCH_BYTES_MAX
from graft_client.operation import Operation
from graft_client.operations import Listing, Page
from graft_client.recall_operations import Search, Walk
from graft_client.requests import AsOfFields, KeywordChanges, NewNote, SecretsWish, TimeFields
from graft_client.results import (
    Changed,
    Deleted,
    Inserted,
    QueryAnswer,
    Retrieved,
    Source,
    Stats,
)
from graft_client.scope import (
    AllScopes,
    Project,
    ScopeChoice,
    read_scopes,
    write_scope,
)
from graft_client.settings import Configuration
from graft_client.source_operations import SourceListing, SourceLook, SourcePage
from graft_client.sources import Surveyor, look_at_all, spend_on_answer, spend_on_looking
from graft_client.upkeep_reports import Resolved, UpkeepDecision
from graft_client.walks import Classified, Explored

BATCH_NOTES = 64
"""Notes that are sent at once: few enough that a slow processor embeds their titles in time."""

REINDEX_POLL_SECONDS = 0.5

GATE_SECONDS = 600.0
"""What measuring the gate may take, or longer where calls may: a thousand questions."""

# The one place where request ids come from; a caller that needs its own passes it to the method.
new_request_id: Callable[[], uuid.UUID] = uuid.uuid4  # noqa: TID251


class Calls:
    """Makes operations for one caller: its profile, its scopes, its author, its request ids."""

    def __init__(
        self, configuration: Configuration, new_request_id: Callable[[], uuid.UUID]
    ) -> None:
        self._settings = configuration.settings
        self._profile = configuration.profile
        self._project: Project | None = configuration.project()
        self._bound = configuration.bound_scopes
        self._surveyor = Surveyor(self._project, configuration.directory)
        self._new_request_id = new_request_id

    @property
    def profile(self) -> str:
        """Profile that calls go to."""
        return self._profile

    @property
    def surveyor(self) -> Surveyor:
        """Looks at the sources of the working directory's project."""
        return self._surveyor

    def request_id(self, chosen: str | None) -> str:
        """Give the id that was *chosen* for a change, else a new one."""
        return chosen or str(self._new_request_id())

    def read_scopes(self, scope: str | AllScopes) -> ScopeChoice:
        """Say where a read looks; an empty *scope* means the setting, else the directory's."""
        chosen = scope or self._settings.text("scope")
        if self._bound and not chosen:
            return ScopeChoice(scopes=self._bound)
        return read_scopes(self._project, chosen)

    def complete(self, note: NewNote) -> NewNote:
        """Fill in scope, author and the project of files and commits."""
        chosen = note.scope or self._settings.text("scope")
        # A correction stands where the corrected note does, unless somebody says otherwise; what
        # a bound caller saves, where the service puts it.
        at_home = (note.supersedes or self._bound) and not chosen
        return replace(
            note,
            scope="" if at_home else write_scope(self._project, chosen),
            author=note.author or self._settings.text("author"),
            sources=self._surveyor.complete(note.sources, spend_on_looking()),
        )

    def insert(
        self,
        note: NewNote,
        *,
        wait: bool,
        request_id: str | None = None,
        secrets: SecretsWish = "",
    ) -> Operation[notes_service_pb2.InsertNoteResponse, Inserted]:
        """Store *note*."""
        return operations.insert(
            self._profile,
            self.complete(note),
            request_id=self.request_id(request_id),
            wait=wait,
            secrets=self._as_set(secrets),
        )

    def insert_many(
        self, notes: Sequence[NewNote], *, wait: bool, secrets: SecretsWish = ""
    ) -> Operation[notes_service_pb2.InsertNotesResponse, tuple[Inserted, ...]]:
        """Store one batch of notes."""
        return operations.insert_many(
            self._profile,
            [self.complete(note) for note in notes],
            request_id=self.request_id(None),
            wait=wait,
            secrets=self._as_set(secrets),
        )

    def _as_set(self, secrets: SecretsWish) -> SecretsWish:
        """Let the caller's own setting count, where the service was started with a laxer one."""
        refuses = self._settings.text("secrets") == "refuse"
        return "strict" if refuses and not secrets else secrets

    def list_page(
        self, scope: ScopeChoice, listing: Listing, page_token: str
    ) -> Operation[notes_service_pb2.ListNotesResponse, Page]:
        """List one page."""
        return operations.list_page(self._profile, scope, listing, page_token)

    def delete(
        self, note_id: str, *, reason: str, request_id: str | None = None
    ) -> Operation[notes_service_pb2.DeleteNoteResponse, Deleted]:
        """Take a note away."""
        return operations.delete(
            self._profile,
            note_id,
            reason=reason,
            request_id=self.request_id(request_id),
        )

    def supersede(
        self, note_id: str, by: str, reason: str, request_id: str | None
    ) -> Operation[lifecycle_service_pb2.SupersedeNoteResponse, Changed]:
        """Put the note *by* in the place of another."""
        return lifecycle_operations.supersede(
            self._profile, note_id, by=by, reason=reason, request_id=self.request_id(request_id)
        )

    def say(
        self, verb: Verb, note_id: str, reason: str, request_id: str | None
    ) -> Operation[ChangeResponse, Changed]:
        """Say *verb* of a note."""
        return lifecycle_operations.say(
            self._profile, verb, note_id, reason=reason, request_id=self.request_id(request_id)
        )

    def set_times(
        self, note_id: str, times: TimeFields, reason: str, request_id: str | None
    ) -> Operation[lifecycle_service_pb2.SetNoteTimesResponse, Changed]:
        """Set a note's times."""
        return lifecycle_operations.set_times(
            self._profile,
            note_id,
            times,
            reason=reason,
            request_id=self.request_id(request_id),
        )

    def set_keywords(
        self, note_id: str, keywords: KeywordChanges, reason: str, request_id: str | None
    ) -> Operation[lifecycle_service_pb2.SetNoteKeywordsResponse, Changed]:
        """Change a note's keywords."""
        return lifecycle_operations.set_keywords(
            self._profile,
            note_id,
            keywords,
            reason=reason,
            request_id=self.request_id(request_id),
        )

    def list_sources(
        self, listing: SourceListing, page_token: str
    ) -> Operation[sources_service_pb2.ListSourcesResponse, SourcePage]:
        """List one page of sources."""
        return source_operations.list_sources(self._profile, listing, page_token)

    def add_sources(
        self, note_id: str, sources: Sequence[Source], reason: str, request_id: str | None
    ) -> Operation[sources_service_pb2.AddSourcesResponse, SourcesAdded]:
        """Give a note sources, which are looked at now."""
        return source_operations.add_sources(
            self._profile,
            note_id,
            self._surveyor.complete(sources, spend_on_looking()),
            reason=reason,
            request_id=self.request_id(request_id),
        )

    def report_sources(
        self, looks: Sequence[SourceLook]
    ) -> Operation[sources_service_pb2.ReportSourcesResponse, SourcesDiff]:
        """Tell what sources are."""
        return source_operations.report_sources(
            self._profile, looks, request_id=self.request_id(None)
        )

    def refresh_sources(
        self, looks: Sequence[SourceLook], reason: str
    ) -> Operation[sources_service_pb2.RefreshSourcesResponse, SourcesRefreshed]:
        """Take what sources are for what holds."""
        return source_operations.refresh_sources(
            self._profile, looks, reason=reason, request_id=self.request_id(None)
        )

    def move_scope(
        self, source: str, target: str, reason: str, request_id: str | None, *, dry_run: bool
    ) -> Operation[scopes_service_pb2.MoveScopeResponse, ScopeMoved]:
        """Move a scope's notes."""
        return scope_operations.move_scope(
            self._profile,
            (source, target),
            reason=reason,
            request_id=self.request_id(request_id),
            dry_run=dry_run,
        )

    def resolve(
        self, item: int, decision: UpkeepDecision, keep: str, reason: str, request_id: str | None
    ) -> Operation[upkeep_service_pb2.ResolveItemResponse, Resolved]:
        """Decide one thing that upkeep found."""
        return upkeep_operations.resolve(
            self._profile,
            item,
            decision,
            keep=keep,
            reason=reason,
            request_id=self.request_id(request_id),
        )

    def undo(
        self, event: int, reason: str, request_id: str | None
    ) -> Operation[lifecycle_service_pb2.UndoEventResponse, Changed]:
        """Take back the last change of a note."""
        return lifecycle_operations.undo(
            self._profile, event, reason=reason, request_id=self.request_id(request_id)
        )

    def query(
        self, text: str, scope: ScopeChoice, context: Sequence[str], instants: AsOfFields
    ) -> Operation[recall_service_pb2.QueryResponse, QueryAnswer]:
        """Ask the gate."""
        if isinstance(context, str):
            raise InputError("context must be a list, not one text")
        tokens = self._settings.integer("embed_tokens_max")
        asked = recall_operations.query(
            self._profile, scope, text, instants, embed_tokens_max=tokens, context=context
        )
        return recall_operations.will_confirm(asked, self._surveyor.projects)

    def confirm(
        self, answer: QueryAnswer
    ) -> Operation[recall_service_pb2.ConfirmAnswerResponse, QueryAnswer]:
        """End an *answer* by what its sources are."""
        looks = look_at_all(self._surveyor, answer.to_confirm, spend_on_answer())
        return source_operations.confirm(self._profile, answer, looks)

    def retrieve(
        self, search: Search, scope: ScopeChoice
    ) -> Operation[recall_service_pb2.RetrieveResponse, Retrieved]:
        """Search."""
        tokens = self._settings.integer("embed_tokens_max")
        found = replace(search, embed_tokens_max=tokens)
        return recall_operations.retrieve(self._profile, scope, found)

    def explore(
        self, walk: Walk, scope: ScopeChoice
    ) -> Operation[recall_service_pb2.ExploreResponse, Explored]:
        """Walk over the graph."""
        tokens = self._settings.integer("embed_tokens_max")
        begun = replace(walk, embed_tokens_max=tokens)
        return recall_operations.explore(self._profile, scope, begun)

    def classify(
        self, title: str, scope: ScopeChoice
    ) -> Operation[recall_service_pb2.ClassifyResponse, Classified]:
        """Suggest keywords."""
        return recall_operations.classify(self._profile, scope, title)

    def clear_misses(
        self, scope: ScopeChoice, request_id: str | None = None
    ) -> Operation[recall_service_pb2.ClearMissesResponse, ClearedMisses]:
        """Erase the questions that nothing answered."""
        return receipt_operations.clear_misses(
            self._profile, scope, request_id=self.request_id(request_id)
        )

    def stats(self, scope: ScopeChoice) -> Operation[notes_service_pb2.GetStatsResponse, Stats]:
        """Count what the profile holds."""
        return operations.stats(self._profile, scope)

    def start_reindex(
        self, model: str
    ) -> Operation[profiles_service_pb2.StartReindexResponse, None]:
        """Begin to move the profile to *model*."""
        return operations.start_reindex(self._profile, model)


def batches(notes: Iterable[NewNote]) -> Iterator[tuple[NewNote, ...]]:
    """Cut *notes* into batches that the service takes in one transaction each."""
    batch: list[NewNote] = []
    batch_bytes = 0
    for note in notes:
        note_bytes = _text_bytes(note)
        # Half the limit leaves room for what is not text.
        if batch and batch_bytes + note_bytes > BATCH_BYTES_MAX // 2:
            yield tuple(batch)
            batch, batch_bytes = [], 0
        batch.append(note)
        batch_bytes += note_bytes
        if len(batch) == BATCH_NOTES:
            yield tuple(batch)
            batch, batch_bytes = [], 0
    if batch:
        yield tuple(batch)


def _text_bytes(note: NewNote) -> int:
    locators = (each.locator for each in note.sources)
    texts = (note.title, note.body, *note.keywords, *locators, *note.applies_to)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
