"""Migrations: shipped ones never change, and each is applied with its number."""

import re
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from graft.wire.ecosystems import Ecosystem
from graft_memstore.model import (
    Decision,
    EdgeKind,
    ItemKind,
    Lifecycle,
    ModelRole,
    NoteKind,
    PendingKind,
    SourceKind,
    Trust,
)
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrate, migrations, schema_version

# A migration that has been shipped is never edited; what is to change goes into the next one.
SHIPPED = {
    1: "5ffa900a7e51d00c03c076b881d232fdf1f421c9907115a19eaa1a1e4eca48e0",
    2: "4d8adcfc3d35bbabfe190f0a04d1f8d97c39ddaab12287a3bc36d7e4784c9e13",
    3: "265f5997c90a2c409dc32e25db3a56021c5a82cbf6285f3bc5700429facd4566",
    4: "bb77cebaf7a2e438e15b00cc5e3aaec212ac56b16072300260bb93add697b6d5",
    5: "69a40f490e8b155256814b4658e13b9611389292bafbe629cee6add3e4ab3bbe",
    6: "cd101913a6307b24452c04470ff3079346b6388fcf187833b418fe49544da75d",
    7: "befc63107322441b359c080b3e4c2276308fa2b0d9cd1fbc892904484eb1669b",
    8: "4e8bfd0519525a0d37b2fa89aa9cf637ace75bfc3b6adf0f44e7039e30dc9933",
    9: "107ae8a211702b9825118e3190df3ae2c8b094f70d23c8a43a47550e50e2043f",
    10: "3480864c2047c1dbfefec7f05fb41486f95666174a061ee492fc3f87fa1a0e7c",
    11: "561802cbe3b546e92fcd56a9d50942421dca9310583d5f517a982f071a01525b",
    12: "4a5e2b3d3a8425ecae2be25ae11609a1e16ab617d1ea71bed1ebafb37537349c",
    13: "03648a6174f450d82ea0f619c702e95fdf4378d874892145104d201bf53f88af",
}


def test_no_shipped_migration_has_changed() -> None:
    found = {number: sha256(script.encode()).hexdigest() for number, script in migrations().items()}

    assert found == SHIPPED


def test_migrations_are_numbered_without_a_gap() -> None:
    # A file that has passed a number never gets what is put into a gap below it.
    assert sorted(migrations()) == list(range(1, len(SHIPPED) + 1))


def test_a_new_file_gets_every_migration(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as connection:
        migrate(connection, path)

        assert schema_version(connection) == max(SHIPPED)


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as connection:
        migrate(connection, path)
        before = connection.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()

        migrate(connection, path)

        after = connection.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()
        assert after == before


def test_two_that_open_a_new_file_at_once_both_get_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as one, closing(open_connection(path)) as other:
        migrate(one, path)
        migrate(other, path)

        assert schema_version(one) == schema_version(other) == max(SHIPPED)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("lifecycle", set(Lifecycle)),
        ("trust", set(Trust)),
        ("what", set(PendingKind)),
        ("role", set(ModelRole)),
        ("ecosystem", set(Ecosystem)),
        ("decision", set(Decision)),
    ],
)
def test_the_schema_allows_exactly_the_words_of_the_model(column: str, values: set[str]) -> None:
    assert values in _allowed(column)


def test_the_schema_allows_exactly_the_kinds_of_notes_sources_edges_and_items() -> None:
    kinds = _allowed("kind")

    assert set(NoteKind) in kinds
    assert set(SourceKind) in kinds
    assert set(EdgeKind) in kinds
    assert set(ItemKind) in kinds


def _allowed(column: str) -> list[set[str]]:
    checks = re.findall(rf"CHECK \({column} IN\s*\(([^)]*)\)", "".join(migrations().values()))
    return [set(re.findall(r"'([^']*)'", check)) for check in checks]
