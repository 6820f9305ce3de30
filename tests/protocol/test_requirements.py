"""The text form of a requirement, and what is not one."""

import pytest

from agent_league.protocol import ErrorCode
from agent_league.protocol.requirements import Gravity, Requirement
from agent_league.protocol.requirements.requirement import define


def test_a_requirement_is_read_from_its_text() -> None:
    read = define("""sender-missing | 003 10.2 | CRITICAL | E003
        every message
        has a sender
        fix: Add "sender".""")
    assert read == Requirement(
        "sender-missing",
        "003 10.2",
        "every message has a sender",
        'Add "sender".',
        Gravity.CRITICAL,
        ErrorCode.MISSING_REQUIRED_FIELD,
    )


def test_without_marks_a_requirement_is_a_major_one_about_a_field() -> None:
    read = define("a | 003 10.2\n demand\n fix: Do it.")
    assert (read.gravity, read.code) == (Gravity.MAJOR, ErrorCode.INVALID_FIELD_VALUE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n demand\n fix: Do it.",
        "a | 003 99.9\n demand\n fix: Do it.",
        "a | 003 10.2 | HARMLESS\n demand\n fix: Do it.",
        "a | 003 10.2 | E999\n demand\n fix: Do it.",
        "a | 003 10.2\n demand",
    ],
)
def test_a_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        define(text)
