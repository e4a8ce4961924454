"""ProfilesService: list and make profiles, and move one to another model."""

from collections.abc import Callable

import grpc
from typing_extensions import override

from graft.memory.v1 import profiles_service_pb2 as pb
from graft.memory.v1 import profiles_service_pb2_grpc
from graft.wire.errors import ModelNotFoundError, ServiceError
from graft.wire.models import RegistryError
from graft_memstore.deadline import Deadline
from graft_memstore.model import Model
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.convert import caller_of
from graft_memstore.store.profile import database_bytes, peek_model
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.reindex import ask_for_reindex, read_progress
from graft_memstore.upkeep.upkeep import Upkeep
from graft_memstore.write.acts import record_act

ACTION_ADD_PROFILE = "add-profile"


class ProfilesServicer(profiles_service_pb2_grpc.ProfilesServiceServicer):
    """Answers for the profiles of the home.

    Args:
        profiles: the profiles.
        upkeep: does what a reindex asks for.
        model_names: tells the models that a profile can be moved to.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        upkeep: Upkeep,
        model_names: Callable[[], list[str]],
    ) -> None:
        self._profiles = profiles
        self._upkeep = upkeep
        self._model_names = model_names

    @override
    def ListProfiles(
        self, request: pb.ListProfilesRequest, context: grpc.ServicerContext
    ) -> pb.ListProfilesResponse:
        """List the profiles."""
        return pb.ListProfilesResponse(
            profiles=[self._message(name) for name in self._profiles.names()]
        )

    @override
    def AddProfile(
        self, request: pb.AddProfileRequest, context: grpc.ServicerContext
    ) -> pb.AddProfileResponse:
        """Make a profile."""
        deadline = Deadline.of_call(context)
        added = self._profiles.add(request.name, deadline.for_work())
        caller = caller_of(context)
        added.write(
            lambda transaction: record_act(transaction, caller, ACTION_ADD_PROFILE, added.name),
            deadline.for_work(),
        )
        return pb.AddProfileResponse(profile=self._message(added.name))

    @override
    def StartReindex(
        self, request: pb.StartReindexRequest, context: grpc.ServicerContext
    ) -> pb.StartReindexResponse:
        """Begin to move a profile to another model."""
        names = self._known_models()
        if request.model not in names:
            raise ModelNotFoundError(
                f"no model is named {request.model[:80]!r}; there are {', '.join(names)}; "
                "another is added with: graft model pull, or: graft model use"
            )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            ask_for_reindex(profile, request.model, deadline.for_work(), caller=caller_of(context))
            worker = self._upkeep.worker(profile.name)
            if worker is not None:
                worker.begin_reindex()
        return pb.StartReindexResponse()

    @override
    def GetReindex(
        self, request: pb.GetReindexRequest, context: grpc.ServicerContext
    ) -> pb.GetReindexResponse:
        """Tell how far a reindex is."""
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            progress = read_progress(profile)
            worker = self._upkeep.worker(profile.name)
        problem = worker.reindex_problem if worker is not None and progress.target else ""
        return pb.GetReindexResponse(
            state=_state(progress.target, problem),
            target_model=progress.target,
            serving_model=progress.serving,
            done=progress.done,
            total=progress.total,
            problem=problem,
        )

    def _known_models(self) -> list[str]:
        try:
            return self._model_names()
        except RegistryError as error:
            raise ModelNotFoundError(str(error)) from error

    def _message(self, name: str) -> pb.Profile:
        path = self._profiles.path(name)
        model = self._model_of(name)
        return pb.Profile(
            name=name,
            model="" if model is None else model.name,
            dimensions=0 if model is None else model.dimensions,
            file_bytes=database_bytes(path),
        )

    def _model_of(self, name: str) -> Model | None:
        for profile in self._profiles.opened():
            if profile.name == name:
                return profile.serving_model
        try:
            return peek_model(self._profiles.path(name))
        except ServiceError:
            # A profile that cannot be opened is listed all the same; its use says why.
            return None


def _state(target: str, problem: str) -> pb.ReindexState.ValueType:
    if not target:
        return pb.REINDEX_STATE_NONE
    return pb.REINDEX_STATE_WAITING if problem else pb.REINDEX_STATE_RUNNING
