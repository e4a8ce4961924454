"""Decides whether a note applies where a question is asked: its ranges against what is there.

Each ecosystem's ranges are read by its own rules: PEP 440 for pypi, lang, tool and gem (with gem's
``~>``), npm's for npm, cargo (a comma for and, a bare version for ``^``) and go. Of a version of a
lang, tool or gem, what PEP 440 does not know is cut off: 1.1.1w counts as 1.1.1. A pre-release
counts by its parser's rules; where npm's leave it out, as its release.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import nodesemver
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from graft.wire.ecosystems import SYSTEMS, Ecosystem, canonical_name
from graft_memstore.model import AppliesTo

Context = Mapping[tuple[Ecosystem, str], tuple[str, ...]]
"""Versions that are there, by ecosystem and name; of one name there may be several."""

RANGE_PARTS_MAX = 16
"""Bounds that one range may have: a question may have to look at hundreds of ranges."""
SHOWN_CHARS_MAX = 60
HERE_SHOWN_MAX = 3
"""Versions of one name that an answer lists; the rest are counted."""

VERSIONS_MAX = 16
"""Versions of one name that a context may hold."""

OS_NAME = "os"
"""What systems are called together: a note names those that it applies to as its range."""
ALTERNATIVE = "|"

_SEMVER = frozenset({Ecosystem.NPM, Ecosystem.CARGO, Ecosystem.GO})
_NAMES = {
    Ecosystem.PYPI: re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
    Ecosystem.NPM: re.compile(r"(?:@[A-Za-z0-9_-][A-Za-z0-9._-]*/)?[A-Za-z0-9_-][A-Za-z0-9._-]*"),
    Ecosystem.CARGO: re.compile(r"[A-Za-z][A-Za-z0-9_-]*"),
    Ecosystem.GO: re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*"),
    Ecosystem.GEM: re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*"),
    Ecosystem.LANG: re.compile(r"[A-Za-z0-9][A-Za-z0-9._+#-]*"),
    Ecosystem.TOOL: re.compile(r"[A-Za-z0-9][A-Za-z0-9._+#-]*"),
    Ecosystem.OS: re.compile(r"[A-Za-z0-9]+(?:\|[A-Za-z0-9]+)*"),
}
_PESSIMISTIC = re.compile(r"~>([0-9]+)(\.\S+)?")
_EQUAL_ALONE = re.compile(r"^=(?!=)")
_BETWEEN_PARTS = re.compile(r"\|\||[\s,]+")
_AROUND_COMMA = re.compile(r"\s*,\s*")
_AFTER_SIGN = re.compile(r"(?<=[<>=!~^])\s+")
_LOOSE = re.compile(r"[A-Za-z]{0,8}([0-9]+(?:\.[0-9]+)*)")
_SEMVER_PARTS = re.compile(r"[vV=]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?([-+].*)?")


class SpecError(ValueError):
    """A spec cannot be read; the text says which part of it, and what would do."""


class Fit(StrEnum):
    """How a range lies to what is there."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicability:
    """What a note's ranges of one name say where a question is asked.

    Attributes:
        name: of the package, language or tool; "os" for systems.
        range: what the note applies to; empty for any version.
        here: versions that are there.
    """

    ecosystem: Ecosystem
    name: str
    range: str
    fit: Fit
    here: tuple[str, ...]

    @property
    def asks_for(self) -> str:
        """What a context would have to name to decide it."""
        return OS_NAME if self.ecosystem is Ecosystem.OS else f"{self.ecosystem}:{self.name}"

    @property
    def words(self) -> str:
        """The finding for people."""
        what = f"{self.name} {self.range}".rstrip()
        if self.ecosystem is Ecosystem.OS:
            what = self.range.replace(ALTERNATIVE, " or ")
        if not self.here:
            return f"only for {what}"
        begin = {Fit.INSIDE: "for", Fit.OUTSIDE: "applies to", Fit.UNKNOWN: "only for"}[self.fit]
        end = ", which cannot be compared" if self.fit is Fit.UNKNOWN else ""
        return f"{begin} {what}; here is {_listed(self.here)}{end}"


def parse_applies_to(text: str) -> AppliesTo:
    """Read what a note applies to, such as ``pypi:django>=4.2,<5`` or ``os:linux|macos``.

    Raises:
        SpecError: a part of it cannot be read.
    """
    ecosystem, name, rest = _split(text)
    rest = rest.strip().removeprefix("@").strip()
    if ecosystem is Ecosystem.OS:
        if rest:
            raise SpecError(
                f"{_shown(text)}: an operating system takes no range, so {_shown(rest)} is too"
                f" much; write such as os:{ALTERNATIVE.join(SYSTEMS[:2])}"
            )
        return AppliesTo(ecosystem=ecosystem, name=OS_NAME, range=_systems(name, text))
    tidy = _tidied(rest)
    problem = _range_problem(ecosystem, tidy)
    if problem:
        raise SpecError(f"{_shown(text)}: {problem}")
    return AppliesTo(ecosystem=ecosystem, name=canonical_name(ecosystem, name), range=tidy)


def format_applies_to(applies_to: AppliesTo) -> str:
    """Return the text that `parse_applies_to` reads as *applies_to*."""
    if applies_to.ecosystem is Ecosystem.OS:
        return f"{applies_to.ecosystem}:{applies_to.range}"
    at = "@" if applies_to.range and applies_to.range[0] not in "<>=!~" else ""
    return f"{applies_to.ecosystem}:{applies_to.name}{at}{applies_to.range}"


def problem_of(applies_to: Sequence[AppliesTo]) -> str:
    """Return why these cannot hold together; empty when they can."""
    systems = {each.range for each in applies_to if each.ecosystem is Ecosystem.OS}
    if len(systems) < 2:  # noqa: PLR2004 - one is none too many
        return ""
    names = sorted({name for each in systems for name in each.split(ALTERNATIVE)})
    any_of = f"os:{ALTERNATIVE.join(names)}"
    return f"two operating systems cannot hold at once; write {any_of} for any of them"


def parse_context(texts: Iterable[str]) -> Context:
    """Read what is there, each such as ``pypi:django@5.1``, ``lang:python==3.12`` or ``os:linux``.

    Raises:
        SpecError: a part of one cannot be read.
    """
    found: dict[tuple[Ecosystem, str], dict[str, None]] = {}
    for text in texts:
        ecosystem, name, rest = _split(text)
        is_system = ecosystem is Ecosystem.OS
        version = _one_system(name, rest, text) if is_system else _version(rest, text)
        key = OS_NAME if is_system else canonical_name(ecosystem, name)
        versions = found.setdefault((ecosystem, key), {})
        versions[version] = None
        if len(versions) > VERSIONS_MAX:
            raise SpecError(
                f"{_shown(text)}: {_shown(name)} has more than {VERSIONS_MAX} versions; name those"
                " that are used"
            )
    return {key: tuple(versions) for key, versions in found.items()}


def judge(applies_to: Sequence[AppliesTo], context: Context) -> tuple[Applicability, ...]:
    """Return how what a note applies to lies to what is there, a finding for each name.

    All ranges of a name must hold for one of its versions that are there; of a name that the
    context does not know nothing is held against the note.
    """
    ranges: dict[tuple[Ecosystem, str], list[str]] = {}
    for each in applies_to:
        ranges.setdefault((each.ecosystem, each.name), []).append(each.range)
    return tuple(
        _finding(ecosystem, name, tuple(filter(None, of_name)), context)
        for (ecosystem, name), of_name in ranges.items()
    )


def applies(findings: Iterable[Applicability]) -> bool:
    """Tell whether nothing that is there speaks against a note."""
    return all(each.fit is not Fit.OUTSIDE for each in findings)


def _finding(
    ecosystem: Ecosystem, name: str, ranges: tuple[str, ...], context: Context
) -> Applicability:
    here = context.get((ecosystem, name), ())
    return Applicability(
        ecosystem=ecosystem,
        name=name,
        range=" and ".join(ranges),
        fit=_fit(_in_all(ecosystem, ranges, here)),
        here=here,
    )


def _fit(inside: Sequence[bool]) -> Fit:
    if not inside:
        return Fit.UNKNOWN
    return Fit.INSIDE if any(inside) else Fit.OUTSIDE


def _in_all(ecosystem: Ecosystem, ranges: Sequence[str], here: Sequence[str]) -> list[bool]:
    """Return for each version that can be compared whether it lies in all of *ranges*."""
    if ecosystem is Ecosystem.OS:
        return [all(each in range_.split(ALTERNATIVE) for range_ in ranges) for each in here]
    if not ranges or not here:
        return [True for _ in here]
    test_of = _semver_test if ecosystem in _SEMVER else _pep440_test
    inside = test_of(ecosystem, ranges)
    return [found for found in map(inside, here) if found is not None]


_Inside = Callable[[str], bool | None]
"""Tells whether a version lies in some ranges; None for what is no version."""


def _pep440_test(ecosystem: Ecosystem, ranges: Sequence[str]) -> _Inside:
    specifiers = [_specifiers(ecosystem, each) for each in ranges]

    def inside(text: str) -> bool | None:
        version = _pep440_version(ecosystem, text)
        if version is None:
            return None
        return all(each.contains(version, prereleases=True) for each in specifiers)

    return inside


def _semver_test(ecosystem: Ecosystem, ranges: Sequence[str]) -> _Inside:
    read = [_semver_range(ecosystem, each) for each in ranges]

    def inside(text: str) -> bool | None:
        versions = _semver_versions(text)
        if not versions:
            return None
        return all(any(each.test(version) for version in versions) for each in read)

    return inside


def _range_problem(ecosystem: Ecosystem, text: str) -> str:
    """Return what is wrong with a range; empty when it can be read."""
    if len(_BETWEEN_PARTS.findall(text)) >= RANGE_PARTS_MAX:
        return f"{_shown(text)} has more than {RANGE_PARTS_MAX} parts"
    try:
        if ecosystem in _SEMVER:
            _semver_range(ecosystem, text)
        else:
            _specifiers(ecosystem, text)
    except (ValueError, InvalidSpecifier):
        rules, such_as = (
            ("npm's rules", "^18, ~1.2 or >=18 <19")
            if ecosystem in _SEMVER
            else ("PEP 440", ">=4.2,<5, ~=4.2 or ==4.2.*")
        )
        return f"{_shown(text)} is no range of versions by {rules}; write such as {such_as}"
    return ""


def _specifiers(ecosystem: Ecosystem, text: str) -> SpecifierSet:
    if ecosystem is Ecosystem.GEM:
        text = ",".join(_as_pep440(part) for part in text.split(","))
    return SpecifierSet(text)


def _as_pep440(part: str) -> str:
    """Write a part of a gem's range as PEP 440 does; ``~>7`` has no like there but two bounds."""
    found = _PESSIMISTIC.fullmatch(part)
    if found is None:
        return _EQUAL_ALONE.sub("==", part)
    if found[2]:
        return f"~={found[1]}{found[2]}"
    return f">={found[1]},<{int(found[1]) + 1}"


def _pep440_version(ecosystem: Ecosystem, text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        found = None if ecosystem is Ecosystem.PYPI else _LOOSE.match(text)
        return Version(found[1]) if found else None


def _semver_range(ecosystem: Ecosystem, text: str) -> nodesemver.Range:
    if ecosystem is Ecosystem.CARGO:
        parts = text.split(",")
        text = " ".join(f"^{part}" if part[:1].isdigit() else part for part in parts)
    return nodesemver.make_range(text, loose=False)


def _semver_versions(text: str) -> list[nodesemver.SemVer]:
    """Read a version, and, where it is a pre-release, its release beside it."""
    parts = _SEMVER_PARTS.fullmatch(text)
    if parts is None:
        return []
    release = ".".join(str(int(part or 0)) for part in parts.groups()[:3])
    spellings = dict.fromkeys((release + (parts[4] or ""), release))
    try:
        return [
            nodesemver.make_semver(each, loose=False, include_prerelease=False)
            for each in spellings
        ]
    except ValueError:
        return []


def _split(text: str) -> tuple[Ecosystem, str, str]:
    """Return ecosystem, name as it was written, and what follows it."""
    prefix, colon, rest = text.strip().partition(":")
    ecosystem = next((each for each in Ecosystem if each == prefix.strip().lower()), None)
    if not colon or ecosystem is None:
        wrong = f"{_shown(prefix)} is no ecosystem" if colon else "names no ecosystem"
        raise SpecError(
            f"{_shown(text)}: {wrong}; write ECOSYSTEM:NAME with one of {', '.join(Ecosystem)},"
            " such as pypi:django>=4.2,<5"
        )
    rest = rest.strip()
    name = _NAMES[ecosystem].match(rest)
    if name is None:
        raise SpecError(
            f"{_shown(text)}: {_shown(rest)} does not begin with a name of {ecosystem}; write"
            f" {ecosystem}:NAME"
        )
    return ecosystem, name[0], rest[name.end() :]


def _systems(name: str, text: str) -> str:
    found = {_known_system(each, text) for each in name.split(ALTERNATIVE)}
    return ALTERNATIVE.join(sorted(found))


def _one_system(name: str, rest: str, text: str) -> str:
    if rest.strip() or ALTERNATIVE in name:
        raise SpecError(f"{_shown(text)}: name the one system that is there, such as os:linux")
    return _known_system(name, text)


def _known_system(name: str, text: str) -> str:
    system = canonical_name(Ecosystem.OS, name)
    if system not in SYSTEMS:
        raise SpecError(
            f"{_shown(text)}: {_shown(name)} is no operating system that notes can apply to;"
            f" write one of {', '.join(SYSTEMS)}"
        )
    return system


def _version(rest: str, text: str) -> str:
    version = rest.strip()
    for sign in ("===", "==", "@"):
        if version.startswith(sign):
            version = version.removeprefix(sign).strip()
            break
    else:
        version = ""
    if not version:
        raise SpecError(
            f"{_shown(text)}: names no version; write NAME@VERSION, such as pypi:django@5.1"
        )
    return version


def _tidied(text: str) -> str:
    """Return a range with white space only where it means something."""
    return _AFTER_SIGN.sub("", _AROUND_COMMA.sub(",", " ".join(text.split())))


def _listed(versions: Sequence[str]) -> str:
    shown = ", ".join(versions[:HERE_SHOWN_MAX])
    more = len(versions) - HERE_SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARS_MAX else text[:SHOWN_CHARS_MAX] + "…")
