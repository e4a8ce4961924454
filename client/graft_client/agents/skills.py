"""The skills that agents are given, as they lie in the package."""

from importlib.resources import files

SKILL_FILE = "SKILL.md"


def skill_texts() -> dict[str, str]:
    """Give each skill's text by its name, which is its folder's."""
    folder = files("graft_client.agents") / "skills"
    return {
        each.name: (each / SKILL_FILE).read_text("utf-8")
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.is_dir() and (each / SKILL_FILE).is_file()
    }
