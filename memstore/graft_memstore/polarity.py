"""Words that turn what is said into its opposite, in the languages of most notes.

English, Italian, German, French, Spanish, Chinese and Japanese; all folded, as `lexical.fold` does.
"""

import re

from graft_memstore.contrast import OPPOSITES

STEM_CHARS_MIN = 3
ENDINGS_MAX = 2
"""Endings that are taken off one word, one after another."""

_NEGATIONS = (
    # English
    "not no never none nothing neither nor cannot without "
    # Italian
    "non mai senza nessun nessuno nessuna niente nulla "
    # German
    "nicht kein keine keinen keinem keiner keines nie niemals ohne nichts weder "
    # French
    "ne pas jamais sans aucun aucune rien "
    # Spanish
    "nunca jamas sin ningun ninguna ninguno nada tampoco "
    # Chinese
    "\u4e0d\u8981 \u4e0d\u80fd \u4e0d\u4f1a \u4e0d\u53ef \u6ca1\u6709 \u4e0d \u6ca1 \u672a \u522b "
    "\u52ff \u975e \u65e0 "
    # Japanese
    "\u307e\u305b\u3093 \u306a\u3044 \u306a\u304f \u306a\u3057 \u305a\u306b"
)
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words that negate what they stand with."""

_CJK_NEGATION = re.compile(
    # Words of their own: 不同, 不仅, 不断, 无法 and the like, and what ends like 少ない, 危ない.
    "(?:"
    "\u4e0d[\u8981\u80fd\u4f1a\u53ef]|\u6ca1\u6709|"
    "\u4e0d(?![\u540c\u4ec5\u65ad\u8fc7\u5982\u7528\u8db3])|\u6ca1|\u672a(?!\u6765)|"
    "\u522b(?!\u7684|\u540d)|\u52ff|\u975e(?!\u5e38)|\u65e0(?!\u6cd5)|"
    "\u307e\u305b\u3093|(?<![\u5c11\u5371])\u306a\u3044|"
    "\u306a\u304f(?!\u3066\u306f)|\u306a\u3057|\u305a\u306b"
    ")"
)

_PAIRS = """
abilita disabilita; attiva disattiva; attivo disattivo; attivato disattivato; aumenta diminuisci;
aumenta riduci; consenti vieta; permetti vieta; consentito vietato; permesso vietato; sempre mai;
prima dopo; aggiungi rimuovi; aggiungere rimuovere; apri chiudi; aperto chiuso; accendi spegni;
acceso spento; obbligatorio facoltativo; pubblico privato; lento veloce; minimo massimo;
aktivieren deaktivieren; aktiviert deaktiviert; einschalten ausschalten;
eingeschaltet ausgeschaltet;
erlauben verbieten; erlaubt verboten; immer nie; vorher nachher; vor nach; erhohen senken;
erhohen verringern; hinzufugen entfernen; offnen schliessen; offen geschlossen;
starten stoppen; verschlusselt unverschlusselt; langsam schnell; offentlich privat;
activer desactiver; active desactive; autoriser interdire; autorise interdit; toujours jamais;
avant apres; augmenter reduire; augmenter diminuer; ajouter supprimer; ajouter retirer;
ouvrir fermer; ouvert ferme; demarrer arreter; lent rapide; obligatoire facultatif;
activar desactivar; activado desactivado; habilitar deshabilitar; habilitado deshabilitado;
permitir prohibir; permitido prohibido; siempre nunca; antes despues; aumentar reducir;
aumentar disminuir; anadir quitar; agregar quitar; abrir cerrar; abierto cerrado;
encender apagar; encendido apagado; lento rapido; obligatorio opcional; publico privado;
\u542f\u7528 \u7981\u7528; \u6253\u5f00 \u5173\u95ed; \u5f00\u542f \u5173\u95ed;
\u5141\u8bb8 \u7981\u6b62; \u589e\u52a0 \u51cf\u5c11; \u4e4b\u524d \u4e4b\u540e;
\u603b\u662f \u4ece\u4e0d; \u5fc5\u987b \u7981\u6b62; \u52a0\u5bc6 \u89e3\u5bc6;
\u516c\u5f00 \u79c1\u6709;
\u6709\u52b9 \u7121\u52b9; \u8a31\u53ef \u7981\u6b62; \u5897\u3084 \u6e1b\u3089;
\u30aa\u30f3 \u30aa\u30d5; \u5fc5\u8981 \u4e0d\u8981; \u524d\u306b \u5f8c\u306b;
\u958b\u304f \u9589\u3058;
\u53ef\u80fd \u4e0d\u53ef; \u516c\u958b \u975e\u516c\u958b
"""

_ENDINGS = re.compile(
    "(?:ing|ed|es|s|ieren|iert|iere|en|et|t|er|e|are|ere|ire|ato|ata|ati|ate|ando|ano|ono|"
    "ar|ir|ado|ada|ando|ez|ee|a|o|i|n)$"
)


def stem(word: str) -> str:
    """Return *word* without its endings, so that forms of one word are mostly spelled alike.

    It is for comparing sentences that share most words anyway, no grammar of any language.
    """
    if not word.isascii() or not word.isalpha():
        return word
    for _ in range(ENDINGS_MAX):
        shorter = _ENDINGS.sub("", word, count=1)
        if len(shorter) < STEM_CHARS_MIN or shorter == word:
            break
        word = shorter
    return word


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    pairs = [pair.split() for pair in _PAIRS.split(";")]
    pairs += [[word, other] for word, others in OPPOSITES.items() for other in others]
    for left, right in pairs:
        table.setdefault(stem(left), set()).add(stem(right))
        table.setdefault(stem(right), set()).add(stem(left))
    return {word: frozenset(others) for word, others in table.items()}


_OPPOSITE_STEMS = _table()


def opposite_of(word: str) -> frozenset[str]:
    """Return the stems that turn what the stem *word* says around."""
    return _OPPOSITE_STEMS.get(word, frozenset())


def spread_negations(run: str) -> str:
    """Return a run of Chinese or Japanese with spaces around what negates."""
    return _CJK_NEGATION.sub(lambda found: f" {found[0]} ", run)
