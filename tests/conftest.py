"""What every test may ask for: model files of two kinds, made once, and a small disk."""

from hypothesis import settings

pytest_plugins = ["tests.fixtures_models", "tests.fixtures_disk"]

# A machine that does something else meanwhile fails no example: nothing here asserts a time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
