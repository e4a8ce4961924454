"""Every rpc has one right, or is closed to callers from outside on purpose."""

from graft.memory.v1 import tokens_service_pb2
from graft_memstore.access import Right
from graft_memstore.service.passages import _MODULES, PASSAGES
from graft_memstore.service.rights import RIGHTS

LOCAL = {
    "Stop",  # whoever may end the process sits at the machine
    "SetReviewer",
    "OpenReviewSession",
    "CloseReviewSession",
    "DecideReviewItem",
    "AddProfile",  # a token opens one
    "CreateToken",
    "ListTokens",
    "RevokeToken",
    "CreateBackup",  # of whole profiles, with the keys of their logs
    "VerifyBackup",
    "RestoreBackup",
    "RepairProfile",  # of files of this machine
}
WITHOUT_PROFILE = {"ListProfiles", "GetStatus", "GetReviewer"}


def methods() -> dict[str, set[str]]:
    return {
        f"/{service.full_name}/{method.name}": {each.name for each in method.input_type.fields}
        for module in _MODULES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }


def test_every_rpc_has_a_right_or_is_for_the_socket_alone() -> None:
    closed = {name.rpartition("/")[2] for name in methods() if name not in RIGHTS}

    assert closed == LOCAL
    assert set(PASSAGES) == set(methods())


def test_every_rpc_that_can_be_called_from_outside_says_which_profile_it_is_about() -> None:
    unplaced = {
        name.rpartition("/")[2]
        for name, fields in methods().items()
        if name in RIGHTS and "profile" not in fields
    }

    assert unplaced == WITHOUT_PROFILE


def test_whoever_may_only_read_may_change_nothing() -> None:
    changing = {
        name
        for name, fields in methods().items()
        if RIGHTS.get(name) is Right.READ and "request_id" in fields
    }

    assert not changing


def test_the_rights_are_those_of_the_proto() -> None:
    named = {name.removeprefix("RIGHT_").lower() for name in tokens_service_pb2.Right.keys()}  # noqa: SIM118 - an enum of protobuf's

    assert named - {"unspecified"} == {each.value for each in Right}
