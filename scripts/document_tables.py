"""Write the generated tables of the documents; with --check, only say if they are up to date.

The prose around the tables is written by hand. A table stands between two comments:
`<!-- generated: messages -->` and `<!-- end -->`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from message_examples import make_examples
from msgspec import inspect
from trouble_tables import (
    list_error_rows,
    list_exit_rows,
    list_rpc_rows,
    list_status_rows,
    list_termination_rows,
)

from agent_league import check
from agent_league.dialects.v1.messages import MESSAGES_V1, MessageV1
from agent_league.protocol import MESSAGES, ErrorCode, Message, Patience, Request, Role, RpcCode
from agent_league.protocol import name as message_name
from agent_league.protocol.requirements.rules import RULES
from agent_league.season.settings import GROUNDS

DOCS = Path(__file__).parent.parent / "docs"
GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

PEOPLE = {Role.LEAGUE: "league", Role.REFEREE: "referee", Role.PLAYER: "player"}
WORDS = {
    inspect.AnyType: "any JSON",
    inspect.RawType: "any JSON",
    inspect.BoolType: "boolean",
    inspect.DictType: "object",
    inspect.FloatType: "number",
    inspect.IntType: "integer",
    inspect.StrType: "string",
    inspect.StructType: "object",
}
RPC_NAMES: dict[int, str] = {code: code.name.lower().replace("_", " ") for code in RpcCode}
V1_ROUTES = {
    "LEAGUE_REGISTER_REQUEST": ("player → league", "LEAGUE_REGISTER_REQUEST"),
    "LEAGUE_REGISTER_RESPONSE": ("league → player", "LEAGUE_REGISTER_RESPONSE"),
    "LEAGUE_START_ANNOUNCEMENT": ("league → player", "the first ROUND_ANNOUNCEMENT"),
    "GAME_INVITATION": ("referee → player", "GAME_INVITATION"),
    "GAME_INVITATION_RESPONSE": ("player → referee", "GAME_JOIN_ACK"),
    "GAME_START": ("referee → player", "none: sent before the first PLAY_REQUEST of a match"),
    "PLAY_REQUEST": ("referee → player", "CHOOSE_PARITY_CALL, GAME_MOVE_CALL"),
    "PLAY_RESPONSE": ("player → referee", "CHOOSE_PARITY_RESPONSE, GAME_MOVE_RESPONSE"),
    "PLAY_VALIDATION": (
        "referee → player",
        "GAME_ERROR about a move; for each move, before GAME_RESULT",
    ),
    "GAME_RESULT": ("referee → player", "GAME_OVER"),
    "ROUND_COMPLETE": ("league → player", "ROUND_COMPLETED, with LEAGUE_STANDINGS_UPDATE"),
    "LEAGUE_COMPLETE": ("league → player", "LEAGUE_COMPLETED"),
}
"""Who says each message to whom, and what league.v2 says instead."""


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def messages_table() -> str:
    return table(
        ["message", "who → whom", "tool", "reply", "patience"],
        [_message_row(wire_name, kind) for wire_name, kind in MESSAGES.items()],
    )


def _message_row(wire_name: str, kind: type[Message]) -> list[str]:
    route = kind.route
    people = " → ".join("/".join(PEOPLE[role] for role in side) for side in route[:2])
    reply = _link(message_name(kind.reply)) if issubclass(kind, Request) else "acknowledgement"
    if not route.tool:
        return [_link(wire_name), people, "", "", ""]
    return [
        _link(wire_name),
        people,
        f"`{route.tool}`",
        reply,
        f"{getattr(Patience(), route.wait):g} s",
    ]


def _link(wire_name: str) -> str:
    return f"[{wire_name}](#{wire_name.lower()})"


def errors_table() -> str:
    return table(
        ["code", "name", "JSON-RPC code"],
        [
            [code.value, f"`{code.name}`", f"{code.rpc} {RPC_NAMES.get(code.rpc, '')}".strip()]
            for code in ErrorCode
        ],
    )


def envelope_table() -> str:
    fields = [field for field in _structure(Message).fields if field.encode_name != "message_type"]
    first = ["`message_type`", "string", "yes", "a name from the table of messages, in capitals"]
    rows = [row for field in fields for row in _field_rows(field)]
    return table(["field", "type", "required", "rule"], [*rows[:1], first, *rows[1:]])


def fields_tables() -> str:
    return "\n".join(_message_section(wire_name, kind) for wire_name, kind in MESSAGES.items())


def _message_section(wire_name: str, kind: type[Message]) -> str:
    summary = (kind.__doc__ or "").partition("\n")[0]
    common = {field.encode_name: field for field in _structure(Message).fields}
    own = [f for f in _structure(kind).fields if f.required or f.encode_name not in common]
    new = [f for f in own if not (f.encode_name in common and common[f.encode_name].required)]
    rows = [row for field in new for row in _field_rows(field)]
    fields = table(["field", "type", "required", "rule"], rows)
    return f"### {wire_name}\n\n{summary}\n\n{fields}\n{make_examples(wire_name)}"


def _structure(kind: type[Message] | type[MessageV1]) -> inspect.StructType:
    found = inspect.type_info(kind)
    if not isinstance(found, inspect.StructType):
        raise TypeError(f"{kind} is not a message")
    return found


def _field_rows(field: inspect.Field, above: str = "") -> Iterator[list[str]]:
    """Yield the row of *field*, and below it the rows of the fields inside it."""
    path = f"{above}{field.encode_name}"
    kind, rule, null = _unwrap(field.type)
    shown = f"{_type_word(kind)} or null" if null and field.required else _type_word(kind)
    yield [f"`{path}`", shown, "yes" if field.required else "no", _rule_words(kind, rule)]
    if isinstance(kind, inspect.ListType):
        kind, path = _unwrap(kind.item_type)[0], f"{path}[]"
    if isinstance(kind, inspect.StructType):
        for inner in kind.fields:
            yield from _field_rows(inner, f"{path}.")


def _unwrap(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any], bool]:
    """Look through annotations and `X | None`: the type, its rule, whether it may be null."""
    rule: dict[str, Any] = {}
    null = False
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            rule |= {**(kind.extra_json_schema or {}), **(kind.extra or {})}
            kind = kind.type
        else:
            null = True
            kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind, rule, null


def _type_word(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.ListType):
        return f"array of {_type_word(_unwrap(kind.item_type)[0])}"
    if isinstance(kind, inspect.LiteralType):
        return "string"
    return WORDS[type(kind)]


def _rule_words(kind: inspect.Type, rule: dict[str, Any]) -> str:
    if isinstance(kind, inspect.LiteralType):
        words = " or ".join(f"`{value}`" for value in kind.values)
    else:
        length = "" if "pattern" in rule else _length_words(kind)  # a pattern says more
        words = length or rule.get("expected", "")
    code = rule.get("code", ErrorCode.INVALID_FIELD_VALUE)
    return words if code == ErrorCode.INVALID_FIELD_VALUE else f"{words}; else {code}"


def _length_words(kind: inspect.Type) -> str:
    if not isinstance(kind, inspect.StrType) or kind.pattern or not kind.max_length:
        return ""
    return f"{kind.min_length or 0} to {kind.max_length} characters"


def rules_table() -> str:
    return table(
        ["id", "what is required", "how to fix it", "where it is written"],
        [[f"`{r.id}`", r.demand, r.fix, _link_source(r.source)] for r in RULES.values()],
    )


def _link_source(source: str) -> str:
    """Return *source* with a link from the number of each source document."""
    return re.sub(r"\b(00[0-4])\b", r"[\1](sources.md)", source)


def check_rules_table() -> str:
    heads = ["rule", "for", "what is required", "where it is written", "if broken", "recorded as"]
    return table(heads, map(_check_rule_row, check.RULES))


def _check_rule_row(rule: check.Rule) -> list[str]:
    required = rule.requirement
    return [
        f"`{rule.id}`",
        ", ".join(PEOPLE[role] for role in rule.roles).replace("league", "manager"),
        required.demand,
        _link_source(required.source),
        required.gravity.value,
        ", ".join(f"`{noted.id}`" for noted in rule.recorded),
    ]


def grounds_table() -> str:
    return table(["name", "a player is out for"], [[f"`{k}`", why] for k, why in GROUNDS.items()])


def v1_table() -> str:
    return table(
        ["league.v1", "who → whom", "in league.v2"],
        [[f"`{wire_name}`", *V1_ROUTES[wire_name]] for wire_name in MESSAGES_V1],
    )


def v1_fields_table() -> str:
    common = {field.encode_name for field in _structure(MessageV1).fields}
    rows = [
        [f"`{wire_name}`", *row]
        for wire_name, kind in MESSAGES_V1.items()
        for field in _structure(kind).fields
        if field.encode_name not in common
        for row in _field_rows(field)
    ]
    return table(["message", "field", "type", "required", "rule"], rows)


ADVICE_TABLES: dict[str, Callable[[], str]] = {
    "errors": lambda: table(["code", "name", "JSON-RPC", "cause", "what to do"], list_error_rows()),
    "rpc": lambda: table(["code", "cause", "what to do"], list_rpc_rows()),
    "statuses": lambda: table(["status", "cause", "what to do"], list_status_rows()),
    "exits": lambda: table(["code", "meaning", "what to do"], list_exit_rows()),
    "terminations": lambda: table(["`termination`", "why"], list_termination_rows()),
}

PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "protocol.md": {
        "messages": messages_table,
        "errors": errors_table,
        "envelope": envelope_table,
        "fields": fields_tables,
        "v1": v1_table,
        "v1_fields": v1_fields_table,
    },
    "third-party-agents.md": {"rules": rules_table, "grounds": grounds_table},
    "check.md": {"rules": check_rules_table},
    "troubleshooting.md": ADVICE_TABLES,
}


def fill_tables(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """Return *page* with every table as the code has it now."""
    return GENERATED.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", page)


def update_page(name: str, *, only_check: bool) -> bool:
    """Write the page *name*, or only look at it; False if something is wrong with it."""
    page, tables = DOCS / name, PAGES[name]
    text = page.read_text(encoding="utf-8")
    wanted = fill_tables(text, tables)
    missing = tables.keys() - {found[1] for found in GENERATED.findall(text)}
    if missing:
        sys.stderr.write(f"docs/{name} has no place for: {', '.join(sorted(missing))}\n")
        return False
    if not only_check:
        page.write_text(wanted, encoding="utf-8")
    elif text != wanted:
        sys.stderr.write(f"docs/{name} is not up to date\nhint: make docs\n")
        return False
    return True


def main(arguments: list[str]) -> int:
    fine = [update_page(name, only_check="--check" in arguments) for name in PAGES]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
