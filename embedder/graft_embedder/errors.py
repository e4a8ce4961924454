"""What can go wrong with a model and its file, told so that a person knows the next step."""


class ModelFileError(Exception):
    """A model's file is missing, damaged or cannot be had; the message says what to do."""


class EngineError(Exception):
    """llama.cpp refused, or returned what is not a vector."""


class EngineClosedError(EngineError):
    """The model was put away; another process will have it."""
