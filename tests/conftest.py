"""What every test may ask for: model files of two kinds, made once, and a small disk."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

pytest_plugins = ["tests.fixtures_models", "tests.fixtures_disk"]

# A machine that does something else meanwhile fails no example: nothing here asserts a time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape half characters, which tests log on purpose and no process can send to another."""
    return _escaped((yield))


def _escaped(content: Any) -> Any:
    match content:
        case str():
            return content.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_escaped(key): _escaped(value) for key, value in content.items()}
        case list() | tuple():
            return type(content)(_escaped(each) for each in content)
        case _:
            return content
