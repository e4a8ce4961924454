"""What a line of shell does is told by its commands' names, and not where it is not plain."""

import pytest

from graft_client.hooks.shell_lines import LINE_CHARACTERS_MAX, is_graft, only_reads


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "cd /src/x && grep -rn 'a; rm b' . | head -20",
        "git -C /x log --oneline",
        "FOO=1 sudo /bin/cat a.py\nwc -l a.py",
        "find . -name '*.py' | sort | uniq -c",
        "sed -n '1,40p' a.py 2>/dev/null",
    ],
)
def test_lines_that_only_read(line: str) -> None:
    assert only_reads(line)
    assert not is_graft(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "make",
        "cat a.py; make",
        "cat $(python a.py)",
        "git push",
        "git",
        "tail -f app.log",
        "grep 'open quote",
        "ls " + "x" * LINE_CHARACTERS_MAX,
    ],
)
def test_lines_that_do_more_or_are_not_plain(line: str) -> None:
    assert not only_reads(line)
    assert not is_graft(line)


def test_graft_is_known_wherever_it_stands() -> None:
    for line in ("graft query x", "cd /x; .venv/bin/graft get 1 | head", "A=1 graft log"):
        assert is_graft(line)
        assert not only_reads(line)
    assert not is_graft("graft start && make")
    assert not is_graft("echo graft")
