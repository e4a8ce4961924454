"""Whether a note applies where a question is asked."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from graft.wire.ecosystems import Ecosystem
from graft_memstore.applicability import (
    VERSIONS_MAX,
    Fit,
    SpecError,
    applies,
    format_applies_to,
    judge,
    parse_applies_to,
    parse_context,
    problem_of,
)
from graft_memstore.model import AppliesTo

numbers = st.integers(0, 30)
release = st.tuples(numbers, numbers, numbers).map(lambda parts: ".".join(map(str, parts)))
pep440_part = st.builds("{}{}".format, st.sampled_from([">=", "<=", "<", ">", "!=", "=="]), release)
npm_part = st.builds("{}{}".format, st.sampled_from([">=", "<=", "<", ">", "^", "~", ""]), release)
pep440_range = st.lists(pep440_part, min_size=1, max_size=4).map(",".join)
npm_range = st.lists(
    st.lists(npm_part, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3
).map(" || ".join)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}[A-Za-z0-9]", fullmatch=True)
spec_like = st.text(st.sampled_from("pypi:npmoscargo@^~><=!|*x-+. ,0123456789\n\x00é\ud800"))


def fit(spec: str, *context: str) -> Fit:
    (finding,) = judge([parse_applies_to(spec)], parse_context(context))
    return finding.fit


@pytest.mark.parametrize(
    ("spec", "here", "expected"),
    [
        ("pypi:django>=4.2,<5", "pypi:django@4.2.11", Fit.INSIDE),
        ("pypi:django>=4.2,<5", "pypi:django==5.1", Fit.OUTSIDE),
        ("pypi:django>=4.2,<5", "pypi:flask@5.1", Fit.UNKNOWN),
        ("pypi:django>=4.2,<5", "npm:django@5.1.0", Fit.UNKNOWN),
        ("pypi: Django >= 4.2 , < 5", "pypi:DJANGO@4.2", Fit.INSIDE),
        ("pypi:ruamel.yaml<1", "pypi:Ruamel_Yaml@0.18", Fit.INSIDE),
        ("pypi:django@>=4.2", "pypi:django@5.1rc1", Fit.INSIDE),
        ("pypi:django>=5.1", "pypi:django@5.1rc1", Fit.OUTSIDE),
        ("pypi:django==4.2.*", "pypi:django@4.2.9", Fit.INSIDE),
        ("pypi:django", "pypi:django@0.1", Fit.INSIDE),
        ("pypi:django", "pypi:django@main", Fit.INSIDE),
        ("pypi:django>=4", "pypi:django@main", Fit.UNKNOWN),
        ("npm:react@^18", "npm:react@18.3.1", Fit.INSIDE),
        ("npm:react@^18", "npm:react@19.0.0", Fit.OUTSIDE),
        ("npm:react>=18 <19", "npm:react@18.0.0", Fit.INSIDE),
        ("npm:react>= 18 < 19", "npm:React@19", Fit.OUTSIDE),
        ("npm:react@17 || ^18.2", "npm:react@17.0.9", Fit.INSIDE),
        ("npm:react^18", "npm:react@v18.1", Fit.INSIDE),
        ("npm:react@1.2.3 - 2", "npm:react@2.9.9", Fit.INSIDE),
        ("npm:@types/node@^20", "npm:@types/node@20.4.2", Fit.INSIDE),
        ("npm:react>=18", "npm:react@18.3.0-beta.1", Fit.INSIDE),
        ("npm:react@^18", "npm:react@19.0.0-rc.1", Fit.OUTSIDE),
        ("npm:react>=18.0.0-rc.2", "npm:react@18.0.0-rc.1", Fit.INSIDE),
        ("npm:react@^18", "npm:react@workspace:*", Fit.UNKNOWN),
        ("cargo:serde_json@1.0", "cargo:serde-json@1.0.140", Fit.INSIDE),
        ("cargo:serde@>=1.0, <1.1", "cargo:serde@1.1.0", Fit.OUTSIDE),
        ("cargo:tokio@=1.2.3", "cargo:tokio@1.2.4", Fit.OUTSIDE),
        ("go:golang.org/x/net@>=0.17", "go:golang.org/x/net@v0.20.0", Fit.INSIDE),
        ("go:a.b/C/v2>=2", "go:a.b/C/v2@v2.0.0-20240101000000-abcdef123456", Fit.INSIDE),
        ("go:a.b/C>=2", "go:a.b/c@v1.0.0", Fit.UNKNOWN),
        ("gem:rails~> 7.1", "gem:rails@7.1.3.2", Fit.INSIDE),
        ("gem:rails~>7", "gem:rails@8.0.0", Fit.OUTSIDE),
        ("gem:rails= 7.1", "gem:rails@7.1", Fit.INSIDE),
        ("gem:nokogiri>=1.16", "gem:nokogiri@1.16.3-x86_64-linux", Fit.INSIDE),
        ("tool:openssl>=1.1.1", "tool:openssl@1.1.1w", Fit.INSIDE),
        ("tool:git>=2.39", "tool:git@2.25.1.windows.1", Fit.OUTSIDE),
        ("tool:g++>=12", "tool:g++@13.2", Fit.INSIDE),
        ("lang:python>=3.11", "lang:python@3.10.2", Fit.OUTSIDE),
        ("lang:go>=1.22", "lang:go@go1.22.3", Fit.INSIDE),
        ("os:linux", "os:linux", Fit.INSIDE),
        ("os:linux", "os:darwin", Fit.OUTSIDE),
        ("os:linux|macOS", "os:Darwin", Fit.INSIDE),
    ],
)
def test_a_range_is_compared_with_what_is_here(spec: str, here: str, expected: Fit) -> None:
    assert fit(spec, here) is expected


def test_a_note_without_context_is_neither_inside_nor_outside() -> None:
    assert {fit(spec) for spec in ("pypi:a<1", "npm:a@1", "os:linux", "tool:a")} == {Fit.UNKNOWN}


def test_one_version_must_lie_in_all_ranges_of_its_name() -> None:
    ranges = [parse_applies_to("pypi:django>=4.2"), parse_applies_to("pypi:Django<5")]

    (both,) = judge(ranges, parse_context(["pypi:django@3.2", "pypi:django@5.1"]))
    (one,) = judge(ranges, parse_context(["pypi:django@3.2", "pypi:django@4.2"]))

    assert (both.fit, both.range) == (Fit.OUTSIDE, ">=4.2 and <5")
    assert one.fit is Fit.INSIDE


def test_of_several_names_one_that_is_outside_is_enough() -> None:
    ranges = [parse_applies_to(each) for each in ("pypi:a<2", "pypi:b<2", "pypi:c<2")]

    findings = judge(ranges, parse_context(["pypi:a@1", "pypi:b@2"]))

    assert [each.fit for each in findings] == [Fit.INSIDE, Fit.OUTSIDE, Fit.UNKNOWN]
    assert not applies(findings)
    assert applies(findings[::2])


@pytest.mark.parametrize(
    ("spec", "context", "expected"),
    [
        ("pypi:django>=4.2,<5", [], "only for django >=4.2,<5"),
        ("pypi:django>=4.2,<5", ["pypi:django@5.1"], "applies to django >=4.2,<5; here is 5.1"),
        ("pypi:django>=4.2,<5", ["pypi:django@4.2.1"], "for django >=4.2,<5; here is 4.2.1"),
        ("pypi:a>=2", ["pypi:a@main"], "only for a >=2; here is main, which cannot be compared"),
        ("npm:react@ ^18", [], "only for react ^18"),
        ("tool:docker", [], "only for docker"),
        ("npm:a@" + "||".join("123456789"), [], "only for a " + "||".join("123456789")),
        ("os:macos|linux", ["os:win32"], "applies to linux or macos; here is windows"),
        (
            "cargo:syn@3",
            [f"cargo:syn@1.0.{patch}" for patch in range(5)],
            "applies to syn 3; here is 1.0.0, 1.0.1, 1.0.2 and 2 more",
        ),
    ],
)
def test_a_finding_is_said_in_words(spec: str, context: list[str], expected: str) -> None:
    (finding,) = judge([parse_applies_to(spec)], parse_context(context))

    assert finding.words == expected


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("", "names no ecosystem"),
        ("django>=4", "names no ecosystem"),
        ("pip:django", "'pip' is no ecosystem"),
        ("pypi:", "'' does not begin with a name of pypi"),
        ("pypi:>=4", "'>=4' does not begin with a name"),
        ("pypi:django@4.2", "'4.2' is no range of versions by PEP 440"),
        ("pypi:django^4", "'^4' is no range"),
        ("pypi:django[argon2]>=4", "'[argon2]>=4' is no range"),
        ("pypi:django>=4 <5", "'>=4 <5' is no range"),
        ("npm:react@latest", "'latest' is no range of versions by npm's rules"),
        ("npm:react>=18,<19", "'>=18,<19' is no range"),
        ("os:beos", "'beos' is no operating system"),
        ("os:linux>=6", "'>=6' is too much"),
        ("tool:git>=two", "'>=two' is no range"),
        ("pypi:django>=4\x00", "is no range"),
        ("pypi:a" + ",".join([">1"] * 17), "more than 16 parts"),
        ("npm:a@" + "||" * 16, "more than 16 parts"),
        ("npm:a@" + "1 " * 17, "more than 16 parts"),
        ("npm:react@" + "9" * 5000, "is no range"),
        ("pypi:" + "a" * 500 + "/", "'/' is no range"),
    ],
)
def test_what_cannot_be_read_is_named(spec: str, part: str) -> None:
    with pytest.raises(SpecError, match=re.escape(part)):
        parse_applies_to(spec)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("pypi:django", "names no version"),
        ("pypi:django@", "names no version"),
        ("pypi:django>=4", "names no version"),
        ("os:linux@6.1", "name the one system"),
        ("os:linux|macos", "name the one system"),
        ("os:plan9", "'plan9' is no operating system"),
        ("5.1", "names no ecosystem"),
    ],
)
def test_a_context_that_cannot_be_read_is_named(spec: str, part: str) -> None:
    with pytest.raises(SpecError, match=re.escape(part)):
        parse_context([spec])


def test_a_context_holds_some_versions_of_a_name_and_not_any_number() -> None:
    entries = [f"npm:a@1.0.{patch}" for patch in range(VERSIONS_MAX + 1)]

    assert len(parse_context(entries[:-1])[Ecosystem.NPM, "a"]) == VERSIONS_MAX
    with pytest.raises(SpecError, match="more than 16 versions"):
        parse_context(entries)


def test_two_systems_cannot_hold_at_once() -> None:
    both = [parse_applies_to("os:linux"), parse_applies_to("os:macos")]

    assert "os:linux|macos" in problem_of(both)
    assert problem_of(both[:1] * 2) == ""
    assert problem_of([parse_applies_to("pypi:a"), parse_applies_to("os:linux|windows")]) == ""


@given(range_=pep440_range, version=release)
def test_pep440_ranges_are_those_of_packaging(range_: str, version: str) -> None:
    expected = Fit.INSIDE if version in SpecifierSet(range_) else Fit.OUTSIDE

    assert fit(f"pypi:a{range_}", f"pypi:a@{version}") is expected
    assert fit(f"tool:a{range_}", f"tool:a@{version}") is expected


@given(bounds=st.tuples(release, release), version=release)
def test_two_bounds_hold_between_them_in_every_ecosystem(
    bounds: tuple[str, str], version: str
) -> None:
    low, high, here = (tuple(map(int, each.split("."))) for each in (*bounds, version))
    expected = Fit.INSIDE if low <= here < high else Fit.OUTSIDE

    for ecosystem in ("pypi", "gem", "lang", "tool", "cargo"):
        spec = f"{ecosystem}:a>={bounds[0]},<{bounds[1]}"
        assert fit(spec, f"{ecosystem}:a@{version}") is expected
    for ecosystem in ("npm", "go"):
        spec = f"{ecosystem}:a>={bounds[0]} <{bounds[1]}"
        assert fit(spec, f"{ecosystem}:a@{version}") is expected


@given(base=release, version=release)
def test_a_caret_keeps_the_first_number_that_is_not_nought(base: str, version: str) -> None:
    low, here = (tuple(map(int, each.split("."))) for each in (base, version))
    kept = next((place for place in range(3) if low[place]), 2) + 1
    expected = Fit.INSIDE if here >= low and here[:kept] == low[:kept] else Fit.OUTSIDE

    assert fit(f"npm:a@^{base}", f"npm:a@{version}") is expected
    assert fit(f"cargo:a@{base}", f"cargo:a@{version}") is expected


@given(
    spec=st.one_of(
        st.builds("pypi:{}{}".format, names, pep440_range),
        st.builds("npm:{}@{}".format, names, npm_range),
        st.builds("go:{} {}".format, names, npm_range),
        st.sampled_from(["os:windows|linux", "tool:git", "gem:rails~> 7.1", "cargo:a@1"]),
        spec_like,
    )
)
def test_what_was_read_is_read_again_from_its_own_text(spec: str) -> None:
    try:
        read = parse_applies_to(spec)
    except SpecError:
        return

    assert parse_applies_to(format_applies_to(read)) == read


@given(ecosystem=st.sampled_from(Ecosystem), rest=st.text(max_size=40) | spec_like, here=st.text())
def test_no_text_is_an_error_of_another_kind(ecosystem: Ecosystem, rest: str, here: str) -> None:
    try:
        read = parse_applies_to(f"{ecosystem}:a{rest}")
        context = parse_context([f"{ecosystem}:a@{here}"])
    except SpecError:
        return

    assert judge([read], context)[0].words


@given(version=st.text() | spec_like)
def test_no_version_is_an_error(version: str) -> None:
    for ecosystem in Ecosystem:
        for range_ in (">=1", ""):
            spec = AppliesTo(ecosystem=ecosystem, name="a", range=range_)
            assert judge([spec], {(ecosystem, "a"): (version,)})
