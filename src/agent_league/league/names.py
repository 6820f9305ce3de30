"""Names that a reader would take for one another."""

import unicodedata

_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏвкмнтьοαερικνυτχ0135|",  # noqa: RUF001 - what looks alike is the point
    "aeopcyxijsdhlbkmhtboaepiknutxolesl",
)
"""Letters of other alphabets, and digits, that look like letters of the Latin one."""
RESERVED = ("league manager", "league_manager", "referee", "organiser", "organizer", "admin")
"""Names that would deceive people about who speaks."""


def make_skeleton(name: str) -> str:
    """Return the same text for all names that look the same: case, accents and spaces aside."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    shown = (letter for letter in letters if unicodedata.category(letter)[0] in "LNPS")
    return "".join(shown).translate(_LOOK_ALIKES)


_RESERVED = frozenset(map(make_skeleton, RESERVED))


def is_reserved(name: str) -> bool:
    """Whether a player must not be called *name*."""
    return make_skeleton(name) in _RESERVED
