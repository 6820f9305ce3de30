"""Write the generated tables of the documents; with --check, only say whether they are current.

The prose around the tables is written by hand. A table stands between two comments:
`<!-- generated: messages -->` and `<!-- end -->`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import inspect

from agent_league.dialects import RULES
from agent_league.dialects.v1_messages import MESSAGES_V1, ROUTES, MessageV1
from agent_league.league.settings import GROUNDS
from agent_league.protocol import MESSAGES, ErrorCode, Message, Patience, Request, Role
from agent_league.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)

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
RPC_NAMES = {
    PARSE_ERROR: "parse error",
    INVALID_REQUEST: "invalid request",
    METHOD_NOT_FOUND: "method not found",
    INVALID_PARAMS: "invalid params",
    INTERNAL_ERROR: "internal error",
}


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def messages_table() -> str:
    return table(
        ["message", "who → whom", "tool", "reply", "patience"],
        [_message_row(said, kind) for said, kind in MESSAGES.items()],
    )


def _message_row(said: str, kind: type[Message]) -> list[str]:
    route = kind.route
    people = " → ".join("/".join(PEOPLE[role] for role in side) for side in route[:2])
    reply = _link(_wire_name(kind.reply)) if issubclass(kind, Request) else "acknowledgement"
    if not route.tool:
        return [_link(said), people, "", "", ""]
    return [_link(said), people, f"`{route.tool}`", reply, f"{getattr(Patience(), route.wait):g} s"]


def _wire_name(kind: type[Message]) -> str:
    return next(said for said, declared in MESSAGES.items() if declared is kind)


def _link(said: str) -> str:
    return f"[{said}](#{said.lower()})"


def errors_table() -> str:
    return table(
        ["code", "name", "JSON-RPC code"],
        [
            [code.value, f"`{code.name}`", f"{code.rpc} {RPC_NAMES.get(code.rpc, '')}".strip()]
            for code in ErrorCode
        ],
    )


def envelope_table() -> str:
    said = [field for field in _structure(Message).fields if field.encode_name != "message_type"]
    first = ["`message_type`", "string", "yes", "a name from the table of messages, in capitals"]
    rows = [row for field in said for row in _field_rows(field)]
    return table(["field", "type", "required", "rule"], [*rows[:1], first, *rows[1:]])


def fields_tables() -> str:
    return "\n".join(_message_section(said, kind) for said, kind in MESSAGES.items())


def _message_section(said: str, kind: type[Message]) -> str:
    summary = (kind.__doc__ or "").partition("\n")[0]
    common = {field.encode_name: field for field in _structure(Message).fields}
    own = [f for f in _structure(kind).fields if f.required or f.encode_name not in common]
    new = [f for f in own if not (f.encode_name in common and common[f.encode_name].required)]
    rows = [row for field in new for row in _field_rows(field)]
    return f"### {said}\n\n{summary}\n\n" + table(["field", "type", "required", "rule"], rows)


def _structure(kind: type[Message] | type[MessageV1]) -> inspect.StructType:
    found = inspect.type_info(kind)
    if not isinstance(found, inspect.StructType):
        raise TypeError(f"{kind} is no message")
    return found


def _field_rows(field: inspect.Field, above: str = "") -> Iterator[list[str]]:
    """Yield the row of *field*, and below it the rows of the fields inside it."""
    path = f"{above}{field.encode_name}"
    kind, rule, null = _opened(field.type)
    shown = f"{_type_word(kind)} or null" if null and field.required else _type_word(kind)
    yield [f"`{path}`", shown, "yes" if field.required else "no", _rule_words(kind, rule)]
    if isinstance(kind, inspect.ListType):
        kind, path = _opened(kind.item_type)[0], f"{path}[]"
    if isinstance(kind, inspect.StructType):
        for inner in kind.fields:
            yield from _field_rows(inner, f"{path}.")


def _opened(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any], bool]:
    """Look through annotations and `X | None`: the type, its rule, whether it may be null."""
    rule: dict[str, Any] = {}
    null = False
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            rule, kind = {**rule, **(kind.extra or {})}, kind.type
        else:
            null = True
            kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind, rule, null


def _type_word(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.ListType):
        return f"array of {_type_word(_opened(kind.item_type)[0])}"
    if isinstance(kind, inspect.LiteralType):
        return "string"
    return WORDS[type(kind)]


def _rule_words(kind: inspect.Type, rule: dict[str, Any]) -> str:
    if isinstance(kind, inspect.LiteralType):
        said = " or ".join(f"`{value}`" for value in kind.values)
    else:
        said = _length_words(kind) or rule.get("expected", "")
    code = rule.get("code", ErrorCode.INVALID_FIELD_VALUE)
    return said if code == ErrorCode.INVALID_FIELD_VALUE else f"{said}; else {code}"


def _length_words(kind: inspect.Type) -> str:
    if not isinstance(kind, inspect.StrType) or kind.pattern or not kind.max_length:
        return ""
    return f"{kind.min_length or 0} to {kind.max_length} characters"


def rules_table() -> str:
    return table(
        ["rule", "expected", "how to mend it", "where it is written"],
        [[f"`{rule.id}`", rule.expected, rule.mend, rule.seed] for rule in RULES.values()],
    )


def grounds_table() -> str:
    return table(["name", "a player is out for"], [[f"`{k}`", why] for k, why in GROUNDS.items()])


def v1_table() -> str:
    return table(
        ["league.v1", "who → whom", "in league.v2"],
        [[f"`{said}`", *ROUTES[said]] for said in MESSAGES_V1],
    )


def v1_fields_table() -> str:
    common = {field.encode_name for field in _structure(MessageV1).fields}
    rows = [
        [f"`{said}`", *row]
        for said, kind in MESSAGES_V1.items()
        for field in _structure(kind).fields
        if field.encode_name not in common
        for row in _field_rows(field)
    ]
    return table(["message", "field", "type", "required", "rule"], rows)


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "protocol.md": {
        "messages": messages_table,
        "errors": errors_table,
        "envelope": envelope_table,
        "fields": fields_tables,
        "v1": v1_table,
        "v1_fields": v1_fields_table,
    },
    "strangers.md": {"rules": rules_table, "grounds": grounds_table},
}


def current(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """Return *page* with every table as the code says it now."""
    return GENERATED.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", page)


def brought_up_to_date(name: str, *, check: bool) -> bool:
    """Write the page *name*, or only look at it; False if it is not as it must be."""
    page, tables = DOCS / name, PAGES[name]
    said = page.read_text(encoding="utf-8")
    wanted = current(said, tables)
    missing = tables.keys() - {found[1] for found in GENERATED.findall(said)}
    if missing:
        sys.stderr.write(f"docs/{name} has no place for: {', '.join(sorted(missing))}\n")
        return False
    if not check:
        page.write_text(wanted, encoding="utf-8")
    elif said != wanted:
        sys.stderr.write(f"docs/{name} is not current\nhint: make docs\n")
        return False
    return True


def main(arguments: list[str]) -> int:
    right = [brought_up_to_date(name, check="--check" in arguments) for name in PAGES]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
