"""What every test may ask for: model files of two kinds, made once."""

pytest_plugins = ["tests.fixtures_models"]
