"""How help looks: names on the left, what they mean on the right, and nothing else."""

import textwrap
from collections.abc import Iterator, Sequence

from cyclopts.help import HelpEntry, HelpPanel
from rich.console import Console
from rich.text import Text

_SILENT_DEFAULTS = {None, "", "0", "()", "False", "True"}
_VALUES = {"INT": "N", "STR": "TEXT", "FLOAT": "NUMBER"}
"""What stands for a value, instead of its type."""
LONGEST_CHOICE = 16
"""The longest list of choices that stands beside its option."""


def format_panel(console: Console, panel: HelpPanel) -> None:
    """Print one group of commands, or the arguments and the options of a command."""
    if panel.format == "command":
        return _print_group(console, str(panel.title), panel.entries)
    arguments = [entry for entry in panel.entries if entry.positional_label]
    options = [entry for entry in panel.entries if not entry.positional_label]
    _print_group(console, "Arguments", arguments)
    return _print_group(console, "Options", options)


def format_description(console: Console, description: object) -> None:
    """Print what a command does, each paragraph as wide as the screen."""
    paragraphs = _get_text(description).strip().split("\n\n")
    lines = [textwrap.fill(" ".join(one.split()), console.width) for one in paragraphs]
    console.print(Text("\n\n".join(lines)), soft_wrap=True)


def _get_text(described: object) -> str:
    text = getattr(described, "primary_renderable", described)
    return str(getattr(text, "plain", text) or "").strip()


def _print_group(console: Console, title: str, entries: Sequence[HelpEntry]) -> None:
    if not entries:
        return
    names = [", ".join(_list_names(entry)) for entry in entries]
    width = max(map(len, names))
    console.print()
    console.print(Text(f"{title}:", style="bold"))
    for name, entry in zip(names, entries, strict=True):
        lines = textwrap.wrap(" ".join(_describe(entry)), max(20, console.width - width - 4))
        for left, right in zip([name, *[""] * len(lines)], lines or [""], strict=False):
            line = Text.assemble("  ", (f"{left:<{width}}", "cyan"), f"  {right}")
            line.rstrip()
            console.print(line, soft_wrap=True)


def _list_names(entry: HelpEntry) -> Iterator[str]:
    """Yield the names of an entry; an argument has one, however else it can be given."""
    if entry.positional_label:
        yield entry.positional_label.replace("-", "_")
        return
    names = [*entry.positive_shorts, *entry.positive_names]
    if entry.metavar:
        names[-1] += f" {_list_choices(entry) or _VALUES.get(entry.metavar, entry.metavar)}"
    yield from (*names, *entry.negative_names)


def _list_choices(entry: HelpEntry) -> str:
    choices = "|".join(entry.choices or ())
    return choices if len(choices) <= LONGEST_CHOICE else ""


def _describe(entry: HelpEntry) -> Iterator[str]:
    yield _get_text(entry.description)
    if entry.choices and (entry.positional_label or not _list_choices(entry)):
        yield f"[{', '.join(entry.choices)}]"
    if entry.default not in _SILENT_DEFAULTS:
        yield f"[default: {entry.default}]"
