"""Each agent with files that a person has written: added, again, taken out, changed meanwhile."""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from graft.wire.paths import Home
from graft_client.agents.apply import apply_adding
from graft_client.agents.commands import Invocation
from graft_client.agents.disk import FileProblemError
from graft_client.agents.jsonc import parse
from graft_client.agents.known import NAMES
from graft_client.agents.ledger import Ledger
from graft_client.agents.plan import Plan
from graft_client.agents.setup import Choice, Setup, installed

GRAFT = "/opt/graft/bin/graft"

CLAUDE_SETTINGS = """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write"}]}
        ],
        "Stop": []
    }
}"""
EXISTING = {
    "claude-code": {
        ".claude.json": '{"numStartups":7,"mcpServers":{"docs":{"command":"npx","args":["docs"]}}}',
        ".claude/settings.json": CLAUDE_SETTINGS,
    },
    "codex": {
        ".codex/config.toml": '# mine\r\nmodel = "gpt-5" # fast\r\n\r\n[mcp_servers.docs]\r\n'
        'command = "npx"\r\n\r\n[tui]\r\ntheme = "dark"\r\n',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '
        '"say done"}]}]}}\n',
    },
    "opencode": {
        ".config/opencode/opencode.jsonc": "{\n  // my theme\n  \"theme\": 'x',\n}".replace(
            "'x'", '"x"'
        )
        + "\n",
    },
    "cursor": {
        ".cursor/mcp.json": '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {"url": "https://a"},\r\n'
        "\t}\r\n}\r\n",
        ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./notify.sh"}]}}',
    },
    "gemini": {
        ".gemini/settings.json": '{\n   "theme": "GitHub", // light\n   "mcpServers": {},\n'
        '   "hooks": {"AfterTool": [{"matcher": "x", "hooks": []}]}\n}\n',
    },
    "vscode": {
        ".config/Code/User/mcp.json": '{\n\t"inputs": [],\n\t"servers": {\n\t\t// none\n\t}\n}',
    },
}
LATER = {
    ".json": lambda text: text.replace("{", '{"later": [1], ', 1),
    ".jsonc": lambda text: text.replace("{", '{"later": [1], ', 1),
    ".toml": lambda text: "later = [1]\n" + text,
}


@dataclass
class Person:
    """Somebody's home directory."""

    path: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Home:
        return Home(root=self.path / ".graft")

    def setup(self, *agents: str, remove: bool = False, project: Path | None = None) -> Setup:
        choice = Choice(agents=agents, project=project, remove=remove)
        return Setup(
            choice,
            person=self.path,
            environ=self.environ,
            home=self.home,
            invocation=Invocation(program=GRAFT),
        )

    def run(self, *agents: str, remove: bool = False, project: Path | None = None) -> list[Plan]:
        setup = self.setup(*agents, remove=remove, project=project)
        plans = setup.plans()
        assert not [plan.problem for plan in plans if plan.problem]
        for plan in plans:
            setup.apply(plan)
        return plans

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in self.path.rglob("*")
            if path.is_file() and ".graft" not in path.parts
        }

    def write(self, agent: str) -> dict[str, bytes]:
        for name, text in EXISTING[agent].items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return self.files()


@pytest.fixture
def person(tmp_path: Path) -> Person:
    path = tmp_path / "person"
    path.mkdir()
    return Person(path)


def plain(path: str, content: bytes) -> object:
    text = content.decode("utf-8-sig")
    if path.endswith(".toml"):
        import tomllib  # noqa: PLC0415

        return tomllib.loads(text)
    return parse(text).value


@pytest.mark.parametrize("agent", NAMES)
def test_what_others_wrote_stays_and_comes_back_byte_by_byte(person: Person, agent: str) -> None:
    before = person.write(agent)

    person.run(agent)
    added = person.files()
    again = person.run(agent)

    assert [plan.work for plan in again] == [()]
    assert person.files() == added
    assert all(GRAFT in added[name].decode() for name in before)
    assert any(name.endswith("skills/graft-memory/SKILL.md") for name in added)
    person.run(agent, remove=True)
    assert person.files() == before
    assert not (person.path / ".agents").exists()
    assert Ledger.load(person.home).files == {}


@pytest.mark.parametrize("agent", NAMES)
def test_what_others_write_later_stays_when_ours_goes(person: Person, agent: str) -> None:
    before = person.write(agent)
    person.run(agent)
    for name in before:
        path = person.path / name
        text = path.read_bytes().decode("utf-8-sig")
        path.write_bytes(LATER[path.suffix](text).encode())

    person.run(agent, remove=True)

    after = person.files()
    assert after.keys() == before.keys()
    for name, content in before.items():
        expected = plain(name, content)
        assert isinstance(expected, dict)
        assert plain(name, after[name]) == {"later": [1], **expected}


@pytest.mark.parametrize("agent", NAMES)
def test_agents_without_any_file_get_them_and_lose_them(person: Person, agent: str) -> None:
    person.run(agent)

    made = person.files()
    modes = {stat.S_IMODE((person.path / name).stat().st_mode) for name in made}
    assert modes == {0o600}
    person.run(agent, remove=True)

    assert person.files() == {}
    assert [path.name for path in person.path.iterdir()] == [".graft"]


@pytest.mark.parametrize("agent", NAMES)
def test_without_its_records_setup_takes_out_what_it_knows_by_its_form(
    person: Person, agent: str
) -> None:
    before = person.write(agent)
    person.run(agent)
    (person.home.root / "agents/written.json").unlink()

    person.run(agent, remove=True)

    after = person.files()
    assert after.keys() == before.keys()
    assert not [name for name in after if GRAFT in after[name].decode()]


def test_an_update_replaces_what_an_older_setup_wrote(person: Person) -> None:
    person.write("claude-code")
    old = person.setup("claude-code")
    old._invocation = Invocation(program="/old/graft", options=("--profile", "work"))
    for plan in old.plans():
        old.apply(plan)

    person.run("claude-code")

    texts = [each.decode() for each in person.files().values()]
    assert not [text for text in texts if "/old/graft" in text or "--profile" in text]
    settings = json.loads(person.files()[".claude/settings.json"])
    assert [len(groups) for groups in settings["hooks"].values()] == [2, 1, 1, 1, 1]


def test_what_others_wrote_between_two_setups_is_not_undone(person: Person) -> None:
    person.write("gemini")
    old = person.setup("gemini")
    old._invocation = Invocation(program="/old/graft")
    for plan in old.plans():
        old.apply(plan)
    settings = person.path / ".gemini/settings.json"
    settings.write_text(settings.read_text().replace("GitHub", "Dracula"))

    person.run("gemini")
    person.run("gemini", remove=True)

    assert '"Dracula", // light' in settings.read_text()
    assert "graft" not in settings.read_text()


def test_a_skill_that_someone_changed_is_left_to_them(person: Person) -> None:
    person.run("codex")
    skill = person.path / ".agents/skills/graft-memory/SKILL.md"
    skill.write_text("mine")

    again = person.run("codex")
    removed = person.run("codex", remove=True)

    for plans in (again, removed):
        assert plans[0].remarks == (f"{skill} was changed by someone; it was left as it is",)
    assert skill.read_text() == "mine"


def test_another_server_of_that_name_is_left_alone(person: Person) -> None:
    path = person.path / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(
        '{"mcpServers": {"graft": {"command": "graft", "args": ["mcp", "--max-tokens", "9"]}}}'
    )
    before = path.read_text()

    plans = person.run("cursor")

    assert "has a server named graft that is set up otherwise" in plans[0].remarks[0]
    assert path.read_text() == before


def test_files_that_several_agents_read_go_with_the_last_of_them(person: Person) -> None:
    skill = person.path / ".agents/skills/graft-memory/SKILL.md"
    person.run("codex", "cursor")

    person.run("codex", remove=True)
    assert skill.exists()
    person.run("cursor", remove=True)

    assert person.files() == {}


def test_opencode_keeps_the_form_of_its_second_version(person: Person) -> None:
    path = person.path / ".config/opencode/opencode.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}}')

    person.run("opencode")

    servers = json.loads(path.read_text())["mcp"]["servers"]
    assert servers["graft"] == {"type": "local", "command": [GRAFT, "mcp"]}


def test_hooks_in_a_group_with_others_are_taken_out_alone(person: Person) -> None:
    path = person.path / ".claude/settings.json"
    path.parent.mkdir()
    ours = {"type": "command", "command": "graft hook stop --agent claude-code"}
    other = {"type": "command", "command": "say graft hook stop"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [ours, other]}]}}))

    person.run("claude-code", remove=True)

    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [other]}]}}


def test_links_are_written_through_and_modes_are_kept(person: Person) -> None:
    real = person.path / "dotfiles/claude.json"
    real.parent.mkdir()
    real.write_text('{"a": 1}\n')
    real.chmod(0o640)
    link = person.path / ".claude.json"
    link.symlink_to(real)

    person.run("claude-code")

    assert link.is_symlink()
    assert "graft" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    person.run("claude-code", remove=True)
    assert real.read_text() == '{"a": 1}\n'


def _unreadable(path: Path) -> None:
    path.write_text('{"a": 1,\n  b: 2}')


def _latin(path: Path) -> None:
    path.write_bytes(b'{"a": "\xe9"}')


def _read_only(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o444)


def _folder(path: Path) -> None:
    path.mkdir()


def _open_to_all(path: Path) -> None:
    path.parent.chmod(0o777)


def _servers_are_a_list(path: Path) -> None:
    path.write_text('{"mcpServers": []}')


def _file_of_another(path: Path) -> None:
    path.write_text("{}")
    os.chown(path, 12_345, -1)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_unreadable, "line 2, column 3: expected a name in double quotes"),
        (_latin, "is no UTF-8 (byte 7)"),
        (_read_only, "is read-only"),
        (_folder, "is no file"),
        (_open_to_all, "can be written by everyone"),
        (_servers_are_a_list, "line 1, column 16: mcpServers is no object"),
        pytest.param(
            _file_of_another,
            "belongs to another user",
            marks=pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away"),
        ),
    ],
)
def test_a_file_that_cannot_be_changed_stops_that_agent_and_no_other(
    person: Person, spoil: Callable[[Path], None], problem: str
) -> None:
    path = person.path / ".cursor/mcp.json"
    path.parent.mkdir()
    spoil(path)
    before = person.files()

    setup = person.setup("cursor", "opencode")
    cursor, opencode = setup.plans()
    setup.apply(opencode)

    assert str(path) in cursor.problem or str(path.parent) in cursor.problem
    assert problem in cursor.problem
    assert cursor.changes == ()
    assert {name for name in person.files() if "cursor" in name} == before.keys()
    assert "graft" in person.files()[".config/opencode/opencode.json"].decode()


def test_a_file_that_changes_after_it_was_shown_is_not_written_over(person: Person) -> None:
    person.write("codex")
    setup = person.setup("codex")
    (shown,) = setup.plans()
    path = person.path / ".codex/config.toml"
    path.write_text("later = 1\n")

    with pytest.raises(FileProblemError, match=r"config\.toml was changed meanwhile"):
        setup.apply(shown)

    assert path.read_text() == "later = 1\n"
    assert not (person.path / ".agents").exists()


def test_where_one_file_fails_those_before_it_are_put_back(person: Person) -> None:
    before = person.write("codex")
    (plan,) = person.setup("codex").plans()
    ledger = Ledger.load(person.home)
    lock = ledger.lock()
    hooks = person.path / ".codex/hooks.json"
    hooks.write_text("{}")

    with pytest.raises(FileProblemError, match="changed meanwhile"):
        apply_adding(plan, ledger, private=True)

    lock.release()
    assert person.files() == {**before, ".codex/hooks.json": b"{}"}
    assert Ledger.load(person.home).files == {}


def test_what_is_in_the_way_is_named_before_anything_is_written(person: Person) -> None:
    before = person.write("codex")
    setup = person.setup("codex")
    (shown,) = setup.plans()
    (person.path / ".agents").write_text("in the way")

    with pytest.raises(FileProblemError, match=r"SKILL\.md cannot be read: Not a directory"):
        setup.apply(shown)

    (person.path / ".agents").unlink()
    assert person.files() == before


def test_backups_are_kept_for_the_person_alone(person: Person) -> None:
    before = person.write("gemini")
    person.run("gemini")

    (backup,) = (person.home.root / "agents/backups").iterdir()

    assert backup.read_bytes() == before[".gemini/settings.json"]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700


def test_a_ledger_that_cannot_be_read_is_named(person: Person) -> None:
    folder = person.home.root / "agents"
    folder.mkdir(parents=True)
    (folder / "written.json").write_text("{")

    with pytest.raises(FileProblemError, match="move it away"):
        person.setup("codex").plans()


def test_agents_are_found_by_their_folders_and_their_commands(person: Person) -> None:
    (person.path / ".codex").mkdir()
    found = installed(
        person.path,
        {"PATH": "/bin"},
        lambda name, path: f"{path}/{name}" if name == "cursor-agent" else None,
    )

    assert found == ["codex", "cursor"]


def test_agents_that_moved_their_folders_are_followed(person: Person, tmp_path: Path) -> None:
    person.environ = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "CODEX_HOME": str(tmp_path / "codex"),
        "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
    }

    person.run("claude-code", "codex", "opencode")

    for name in (
        "claude/.claude.json",
        "claude/settings.json",
        "claude/skills/graft-memory/SKILL.md",
        "codex/config.toml",
        "codex/hooks.json",
        "xdg/opencode/opencode.json",
    ):
        assert (tmp_path / name).is_file()


def test_the_files_of_a_repository_are_written_at_its_top(person: Person, tmp_path: Path) -> None:
    root = tmp_path / "app"
    root.mkdir()

    person.run(*NAMES, project=root)

    made = {str(each.relative_to(root)) for each in root.rglob("*") if each.is_file()}
    assert {
        ".mcp.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        "opencode.json",
        ".cursor/mcp.json",
        ".cursor/hooks.json",
        ".gemini/settings.json",
        ".vscode/mcp.json",
        ".github/hooks/graft.json",
    } == {name for name in made if "skills" not in name}
    assert person.files() == {}
    person.run(*NAMES, project=root, remove=True)
    assert list(root.iterdir()) == []
