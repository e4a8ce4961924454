"""Save notes one after another, and print each title once it is acknowledged."""

import sys
from itertools import count

from graft_client import Graft
from graft_client.errors import GraftError


def main() -> None:
    """Go on until told to end; what fails is tried again under the next number."""
    title = sys.argv[1]
    with Graft() as graft:
        for number in count():
            try:
                graft.insert(f"{title}, number {number}", "A body.", scope="user")
            except GraftError:
                continue
            sys.stdout.write(f"{title}, number {number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
