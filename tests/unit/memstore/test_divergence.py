import pytest

from graft_memstore.divergence import Difference, divergence, statement_of


def differs(one: str, other: str) -> Difference | None:
    found = divergence(statement_of(one, ""), statement_of(other, ""))
    back = divergence(statement_of(other, ""), statement_of(one, ""))
    assert (found and found.difference) == (back and back.difference), "it must hold both ways"
    return None if found is None else found.difference


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do not restart the pool during backups", "Restart the pool during backups"),
        ("The proxy doesn't support HTTP over TLS", "The proxy supports HTTP over TLS"),
        ("Non riavviare il pool durante il backup", "Riavviare il pool durante il backup"),
        ("Der Dienst startet nicht automatisch", "Der Dienst startet automatisch"),
        ("Le service ne démarre pas automatiquement", "Le service démarre automatiquement"),
        ("El servicio no arranca automáticamente", "El servicio arranca automáticamente"),
        ("不要在周五部署到生产环境", "在周五部署到生产环境"),
        ("金曜日に本番へデプロイしない", "金曜日に本番へデプロイする"),
    ],
)
def test_a_note_that_denies_another_is_told_in_each_language(one: str, other: str) -> None:
    assert differs(one, other) is Difference.NEGATION


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("WAL is enabled on the primary", "WAL is disabled on the primary"),
        ("Switch on the slow query log", "Switch off the slow query log"),
        ("Drain the node before a restart", "Drain the node after a restart"),
        ("La cache è abilitata in produzione", "La cache è disabilitata in produzione"),
        ("Der Cache ist in Produktion aktiviert", "Der Cache ist in Produktion deaktiviert"),
        ("Il faut activer le cache en production", "Il faut désactiver le cache en production"),
        ("Hay que habilitar la caché en producción", "Hay que deshabilitar la caché en producción"),
        ("生产环境启用缓存", "生产环境禁用缓存"),
        ("本番ではキャッシュを有効にする", "本番ではキャッシュを無効にする"),
    ],
)
def test_a_note_that_says_the_opposite_is_told_in_each_language(one: str, other: str) -> None:
    assert differs(one, other) is Difference.OPPOSITE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pool listens on port 6432", "The pool listens on port 7000"),
        ("Build with Python 3.11 on CI", "Build with Python 3.12 on CI"),
        ("Il timeout è 30 secondi", "Il timeout è 60 secondi"),
        ("Der Dienst wartet 30 Sekunden", "Der Dienst wartet 60 Sekunden"),
        ("Retry the upload twice on a timeout", "Retry the upload five times on a timeout"),
        ("Keep backups for thirty days", "Keep backups for 14 days"),
        ("Der Dienst wartet zwei Minuten", "Der Dienst wartet fünf Minuten"),
        ("Il y a trois serveurs de secours", "Il y a quatre serveurs de secours"),
        ("数据库端口是 6432", "数据库端口是 7000"),
        ("データベースのポートは6432です", "データベースのポートは7000です"),
    ],
)
def test_another_value_of_the_same_thing_is_told(one: str, other: str) -> None:
    assert differs(one, other) is Difference.VALUE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use Redis for sessions, not for jobs", "Use Redis for sessions"),
        ("Do not use tabs in YAML", "Do not use tabs in YAML files"),
        ("WAL is enabled on the primary", "WAL is not disabled on the primary"),
        ("Host web1 serves the shop", "Host web2 serves the shop"),
        ("Keep backups for thirty days", "Keep backups for 30 days"),
        ("The job runs once a day", "The job runs one day after the other"),
        ("The billing service listens on 8080", "The search service listens on 8081"),
        ("The pool listens on port 6432", "Grafana is not reachable on port 3000"),
        ("不同的环境使用缓存", "环境使用缓存"),
    ],
)
def test_what_looks_like_a_difference_and_is_none_is_not_told(one: str, other: str) -> None:
    assert differs(one, other) is None


def test_a_denial_in_the_body_is_found_and_comes_before_another_value() -> None:
    one = statement_of("Pool", "The pool listens on 6432. Restart the pool during backups.")
    other = statement_of("Pool", "The pool listens on 7000. Do not restart the pool in backups.")

    found = divergence(one, other)

    assert found is not None
    assert found.difference is Difference.NEGATION
