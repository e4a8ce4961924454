"""What the file of a note is called: by its title, and by what it says, on any file system."""

import re
import unicodedata

from blake3 import blake3

from graft_client.results import Note

NAME_BYTES_MAX = 80
"""Of the title's part: with the rest it stays below what encrypted file systems take (143)."""

DIGEST_CHARS = 8
ENDING = ".md"
_OTHER = re.compile(r"[\W_]+")


class Names:
    """Gives each note of one folder a name that no other has there."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, note: Note) -> str:
        """Name the file of *note*: the same for the same note, whatever stands beside it."""
        stem = f"{title_part(note.title)}-{digest(note)}"
        name, number = f"{stem}{ENDING}", 1
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}{ENDING}"
        self._taken.add(name)
        return name


def title_part(title: str) -> str:
    """Write a title's letters and digits in lower case with hyphens between.

    In the composed form, which every file system keeps or finds again, and without what any of
    them takes for a separator, a device or another spelling of the same name.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).casefold())
    short = _OTHER.sub("-", folded).encode("utf-8", "replace")[:NAME_BYTES_MAX]
    return short.decode("utf-8", "ignore").strip("-") or "note"


def digest(note: Note) -> str:
    """Tell notes of one title apart by what they say and where they are seen."""
    hasher = blake3()
    for each in (note.title, note.body or "", note.kind, note.scope):
        content = each.encode("utf-8", "surrogatepass")
        hasher.update(len(content).to_bytes(8, "big"))
        hasher.update(content)
    return hasher.hexdigest()[:DIGEST_CHARS]
