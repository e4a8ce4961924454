"""Which model a profile without vectors gets: the rule that both services must share."""

import json
import re

from graft.wire.paths import Home

STARTER = "starter"
BGE_M3 = "bge-m3"
BGE_M3_FILE = "bge-m3-Q8_0.gguf"

MODEL_NAME = re.compile(r"(?!.*\.start$)[a-z0-9][a-z0-9._-]{0,39}")
"""A model's name: it also names the embedder's socket, lock and log. The life lock of a model named
"x.start" would be the start lock of "x"."""

MODEL_NAME_RULE = (
    "1 to 40 lower-case letters, digits, '.', '_' or '-', a letter or digit first, not .start last"
)
"""`MODEL_NAME` in words, for whoever chose another."""


class RegistryError(ValueError):
    """The registry of models cannot be read; the message says what to do."""


def read_registry(home: Home) -> dict[str, object]:
    """Return the content of ``models.json``; an absent file is an empty registry.

    Raises:
        RegistryError: the file is not a JSON object.
    """
    try:
        content = json.loads(home.models_file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RegistryError(
            f"{home.models_file} cannot be read ({error}); move it away and run `graft model use`"
        ) from error
    if not isinstance(content, dict):
        raise RegistryError(f"{home.models_file} is not a JSON object; move it away")
    return content


def default_model_name(home: Home, configured: str) -> str:
    """Return the model for profiles without vectors.

    *configured* (the setting ``model``) wins, then the registry's default, then bge-m3 if its
    file is there, else starter.

    Raises:
        RegistryError: see `read_registry`.
    """
    chosen = configured or read_registry(home).get("default")
    if isinstance(chosen, str) and chosen:
        return chosen
    return BGE_M3 if (home.models / BGE_M3_FILE).is_file() else STARTER
