"""Whether one word in the place of another says nearly the same, as far as one can see.

Whoever retells does not quote, but a note that says another thing must not be lost. So whatever may
be a name, a value or the opposite counts as another thing, and what is listed here is no more than
the commonest of these.
"""

from graft_memstore.lexical import FUNCTION_WORDS
from graft_memstore.polarity import opposite_of, stem

PLAIN_CHARS_MIN = 3

_LIMITS = (
    # English: what negates, what turns around, how often, how sure, or else.
    "not no never none neither nor cannot without unless except only if when until while before "
    "after always hardly barely instead or rather but although though however nobody nothing "
    "nowhere few little less rarely seldom sometimes once may might could can should would must "
    "shall "
    "avoid avoids avoided avoiding stop stops stopped stopping refuse refuses refused forbid "
    "forbids forbidden prevent prevents prevented fail fails failed failing lack lacks deny denies "
    "denied false wrong wrongly incorrect untrue mistake mistaken myth impossible unable "
    "deprecated obsolete dont doesnt didnt isnt arent wasnt cant couldnt shouldnt wont wouldnt "
    # Italian, German, French, Spanish
    "non mai senza solo soltanto se quando finch\u00e9 tranne nessun nessuno nessuna niente nulla "
    "oppure nicht kein keine keinen keinem keiner keines nie niemals ohne nichts weder noch nur "
    "wenn falls bis ausser statt oder selten falsch ne pas jamais sans si sauf seulement quand "
    "aucun aucune rien ou nunca jam\u00e1s sin salvo cuando ning\u00fan ninguna ninguno nada "
    "tampoco"
)
LIMITS = frozenset(_LIMITS.split())
"""Words that turn a sentence around, or say when it holds."""
_SHORT_NEGATIONS = ("n't", "n\u2019t")
_ELIDED = ("n'", "n\u2019")
_COMPARES = frozenset("<>=\u2260\u2264\u2265")

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion dozen once twice thrice single double triple half quarter "
    "first second third fourth fifth sixth seventh eighth ninth tenth last null "
    "eins zwei drei vier f\u00fcnf sechs sieben acht neun zehn elf zw\u00f6lf zwanzig "
    "drei\u00dfig dreissig vierzig f\u00fcnfzig sechzig siebzig achtzig neunzig hundert tausend "
    "due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta "
    "cinquanta sessanta cento mille "
    "deux trois quatre cinq huit neuf dix onze douze vingt trente quarante cinquante soixante cent "
    "dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta "
    "sesenta ciento mil"
)
_TIMES = (
    "millisecond milliseconds second seconds minute minutes hour hours day days week weeks month "
    "months quarter quarters year years hourly daily weekly monthly yearly nightly morning noon "
    "evening night midnight today tomorrow yesterday monday tuesday wednesday thursday friday "
    "saturday sunday weekday weekdays weekend weekends january february march april june july "
    "august september october november december"
)
_AMOUNTS = (
    "all some every each any most many several both half enough more fewer bit bits byte bytes "
    "kilobyte kilobytes megabyte megabytes gigabyte gigabytes terabyte terabytes percent true "
    "false yes"
)
_PLACES = (
    "staging production prod dev development test testing preview canary local localhost remote "
    "master main primary secondary replica standby leader follower frontend backend server client "
    "north south east west"
)
_COLOURS = "red green blue yellow orange purple black white grey gray"
VALUES = frozenset(f"{_NUMBERS} {_TIMES} {_AMOUNTS} {_PLACES} {_COLOURS}".split())
"""Words that stand for one of several values."""

_NAMES_FOLLOW = (
    "in on at to of from by with via per for into onto over under above below between than as "
    "through like is are be was were been equals use uses used using set sets run runs call calls "
    "called named install installs installed choose chooses pick picks select selects require "
    "requires called mit von auf bei nach aus con da di per su avec de dans par sur desde hasta"
)
NAMES_FOLLOW = frozenset(_NAMES_FOLLOW.split())
"""Words after which a name or a value stands, mostly."""

_OPPOSITES = """
work fail; works fails; worked failed; working failing; working broken; works breaks; pass fail;
succeed fail; success failure; successful failed; required optional; required forbidden; must may;
old new; older newer; oldest newest; high low; higher lower; highest lowest; large small; larger
smaller; largest smallest; big small; long short; longer shorter; longest shortest; fast slow;
faster slower; early late; earlier later; loud silent; loudly silently; loudly quietly; forward
backward; forwards backwards; positive negative; odd even; same different; equal different; empty
full; clean dirty; static dynamic; strict lenient; lazy eager; strong weak; cheap expensive; good
bad; better worse; best worst; right wrong; correct wrong; rise fall; rises falls; gain lose;
gains loses; begin end; begins ends; begins finishes; starts finishes; parent child; source
target; input output; upstream downstream; sender receiver; producer consumer; caller callee;
manual automatic; manually automatically; seldom often; rarely often; keeps drops; keeps loses;
keeps discards; safely dangerously; partly fully; wholly partly; still already
"""
_ENDINGS = ("ly", "ing", "ed", "s")
"""Words with different ones stand for different things, or for what is done at another time."""
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "anti", "re")


def _table() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair.split()) for pair in _OPPOSITES.split(";"))


OPPOSITES_ALOUD = _table()
"""Pairs of words, as they are written, of which one says the opposite of the other."""


def is_limit(word: str) -> bool:
    """Tell whether a word turns its sentence around, or says when it holds."""
    return (
        word in LIMITS
        or word.endswith(_SHORT_NEGATIONS)
        or word.startswith(_ELIDED)
        or not _COMPARES.isdisjoint(word)
    )


def is_plain(word: str) -> bool:
    """Tell whether a word is neither a name, nor a value, nor what limits its sentence."""
    letters = word.isalpha() and word.islower() and len(word) >= PLAIN_CHARS_MIN
    # What joins words says how: "for" is not "from".
    return letters and word not in VALUES | FUNCTION_WORDS and not is_limit(word)


def are_opposites(one: str, other: str) -> bool:
    """Tell whether a word says the opposite of another, or the same with a syllable before it."""
    if frozenset((one, other)) in OPPOSITES_ALOUD or stem(one) in opposite_of(stem(other)):
        return True
    short, long = sorted((one, other), key=len)
    return any(long == before + short for before in _NEGATING)


def _ending_of(word: str) -> str:
    return next((each for each in _ENDINGS if word.endswith(each)), "")


def may_be_another(new: str, old: str, before: str) -> bool:
    """Tell whether *new* may stand where *old* stood, after the word *before*, and say the same."""
    return (
        is_plain(new)
        and is_plain(old)
        and _ending_of(new) == _ending_of(old)
        and before not in NAMES_FOLLOW
        and not are_opposites(new, old)
    )
