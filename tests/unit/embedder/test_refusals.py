"""What ends the work on texts reaches the caller as a refusal it can act on."""

import pytest

from graft.wire.errors import BadFieldError, DeadlinePassedError, ServiceError, StoppingError
from graft_embedder.errors import EngineClosedError, EngineError
from graft_embedder.service import _refusals
from graft_embedder.work_queue import CallEndedError


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (CallEndedError(), DeadlinePassedError),
        (EngineClosedError("the model was closed"), StoppingError),
        (EngineError("the model returned a vector with NaN"), BadFieldError),
    ],
)
def test_each_end_has_its_refusal(raised: Exception, told: type[ServiceError]) -> None:
    with pytest.raises(ServiceError) as caught, _refusals():
        raise raised

    assert type(caught.value) is told
    assert caught.value.__cause__ is raised
