"""Names that tell nobody who wrote an agent, for leagues of a class."""

from collections.abc import Iterable, Mapping

_COLOURS = (
    *("Amber", "Azure", "Coral", "Copper", "Crimson", "Ebony", "Emerald", "Golden", "Indigo"),
    *("Ivory", "Jade", "Lilac", "Maroon", "Olive", "Pearl", "Rose", "Ruby", "Saffron", "Scarlet"),
    *("Silver", "Teal", "Violet", "White"),
)
_ANIMALS = (
    *("Badger", "Bear", "Crane", "Deer", "Eagle", "Falcon", "Fox", "Hare", "Heron", "Ibex"),
    *("Lynx", "Marten", "Otter", "Owl", "Raven", "Robin", "Seal", "Stork", "Swift", "Wolf"),
)


def make_aliases(agent_ids: Iterable[str]) -> Mapping[str, str]:
    """Return a name for each agent: the same order gives the same names, and each occurs once."""
    names: dict[str, str] = {}
    for number, agent_id in enumerate(agent_ids):
        turn, place = divmod(number, len(_COLOURS) * len(_ANIMALS))
        # The two lengths have no common divisor, so each pair comes up once in a turn.
        name = f"{_COLOURS[place % len(_COLOURS)]} {_ANIMALS[place % len(_ANIMALS)]}"
        names[agent_id] = f"{name} {turn + 1}" if turn else name
    return names
