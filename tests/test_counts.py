import pytest

from agent_league.printable import format_count


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "match", "0 matches"),
        (1, "match", "1 match"),
        (2, "match", "2 matches"),
        (1, "technical loss", "1 technical loss"),
        (3, "technical loss", "3 technical losses"),
        (1, "point", "1 point"),
        (10, "player", "10 players"),
    ],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, text: str) -> None:
    assert format_count(number, noun) == text
