"""The rules for the envelope of every message: the same for all roles, except for the sender."""

from agent_league.check.judging import equals, field, is_utc, matches
from agent_league.check.rule import Rule
from agent_league.protocol import Role
from agent_league.protocol.fields import VERSION
from agent_league.protocol.requirements import Requirement, rules

_TIME = "ISO 8601 in UTC, as 2025-01-15T10:30:00Z"


def _make_rules(
    role: Role, name: str, sender: str, form: str, *recorded: tuple[Requirement, ...]
) -> tuple[Rule, ...]:
    """Return the rules for protocol, sender and timestamp; *recorded* is in the same order."""
    checks = {
        "protocol": (rules.PROTOCOL_VERSION, equals("protocol", VERSION)),
        "sender": (rules.SENDER_FORM, field("sender", matches(sender), f'"{form}"')),
        "timestamp": (rules.TIMESTAMP_FORM, field("timestamp", is_utc, _TIME)),
    }
    return tuple(
        Rule(
            f"{name}.envelope.{key}",
            (role,),
            required,
            noted,
            lambda observations: observations.list_own_messages(),
            find_problem,
        )
        for (key, (required, find_problem)), noted in zip(checks.items(), recorded, strict=True)
    )


player_rules = _make_rules(
    Role.PLAYER,
    "player",
    "player:.+",
    "player:ID",
    (rules.PROTOCOL_VERSION, rules.REPLY_ENVELOPE),
    (rules.SENDER_FORM, rules.REPLY_ENVELOPE),
    (rules.TIMESTAMP_FORM, rules.REPLY_ENVELOPE),
)
referee_rules = _make_rules(
    Role.REFEREE,
    "referee",
    "referee:.+",
    "referee:ID",
    (rules.PROTOCOL_VERSION,),
    (rules.SENDER_FORM, rules.SENDER_MISSING),
    (rules.TIMESTAMP_FORM, rules.TIMESTAMP_MISSING),
)
# A league notes nothing about itself.
manager_rules = _make_rules(
    Role.LEAGUE, "manager", "league_manager(:.+)?", "league_manager", (), (), ()
)
