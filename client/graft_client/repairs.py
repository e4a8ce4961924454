"""What was repaired, as plain data; field names are those of the JSON output."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One kind of thing that was looked at to be repaired.

    Attributes:
        found: how many were not as they should be.
        repaired: whether they are now.
        detail: what was seen, and where it could not be repaired what to do.
        profile: empty where it is of no profile in particular.
    """

    name: str
    found: int
    repaired: bool
    detail: str
    profile: str = ""
