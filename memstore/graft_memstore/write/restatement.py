"""Which words of a note say something: two notes of the same such words say nearly the same."""

import re

from blake3 import blake3

from graft_memstore.canonical import encode_fields
from graft_memstore.write.hashes import other_spellings, spelled_once

# Nothing that says yes or no, how much, under which condition or in which direction is among
# them: a correction must not be taken for what was rejected.
_EMPTY_WORDS = (
    # English
    "a an the this that these those there here it its he him his she her hers they them their "
    "theirs we us our ours you your yours i me my mine one is are was were be been being am has "
    "have had do does did will would can could should shall must may might please note just also "
    "so then now currently actually really very indeed simply which who and as of to in on at by "
    "for with into "
    "it's that's there's here's he's she's you're we're they're i'm "
    "basically essentially however therefore thus hence kindly fyi btw ok okay hey "
    # Italian
    "il lo la i gli le un uno una di del dello della dei degli delle al allo alla ai agli alle da "
    "dal dalla nel nello nella nei nelle sul sulla e ed che sono del in con su per "
    # German
    "der das dem den des ein eine einen einem einer eines und ist sind es im in an am zu zum zur "
    "von vom bei mit fur "
    # French and Spanish
    "le les un une des du de et est sont au aux en dans pour par sur ce cette ces el los las unos "
    "unas y es son con que"
)
EMPTY_WORDS = frozenset(_EMPTY_WORDS.split())
"""Words of the commonest languages that may be added without saying more, folded."""

_APOSTROPHE = "\u2019"
_AROUND = ".,;:!?\"'()[]{}*`\u00a1\u00ab\u00bb\u00bf\u2018\u201c\u201d\u2039\u203a"
_MARK = re.compile("[#*\u2013\u2014|-]+")
# Written without spaces: each letter counts as a word.
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def words_hash(title: str, body: str) -> bytes | None:
    """Return the hash of the words that say something, whatever their order; None without any.

    Numbers, identifiers, options and negations are among them; case, width, punctuation around
    them and words of `EMPTY_WORDS` make no difference.
    """
    return _hash_of(spelled_once(f"{title}\n{body}"))


def words_hashes(title: str, body: str) -> tuple[bytes, ...]:
    """Return the same hash, then those of what else a note may be taken for; none without words."""
    text = f"{title}\n{body}"
    hashes = (_hash_of(form) for form in (spelled_once(text), *other_spellings(text)))
    return tuple(each for each in hashes if each is not None)


def _hash_of(spelled: str) -> bytes | None:
    telling = frozenset(_sequence(spelled))
    return blake3(encode_fields(*sorted(telling))).digest() if telling else None


def telling_words(text: str) -> frozenset[str]:
    """Return the words of *text* that say something, as they are spelled once."""
    return frozenset(telling_sequence(text))


def telling_sequence(text: str) -> list[str]:
    """Return the same in their order, each as often as it is there."""
    return _sequence(spelled_once(text))


def _sequence(spelled: str) -> list[str]:
    spaced = _CJK.sub(r" \g<0> ", spelled.replace(_APOSTROPHE, "'"))
    stripped = (word.strip(_AROUND) for word in spaced.split())
    return [
        word for word in stripped if word and word not in EMPTY_WORDS and not _MARK.fullmatch(word)
    ]
