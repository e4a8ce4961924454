"""What every test may ask for: model files of two kinds, made once, and a small disk."""

pytest_plugins = ["tests.fixtures_models", "tests.fixtures_disk"]
