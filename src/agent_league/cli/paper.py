"""Where a command prints what was asked for: a stdout that may be a terminal, a pipe, or gone."""

from rich.console import Console, RenderableType


class _Paper(Console):
    """Leaves it to `main` what to do when nobody reads on; rich itself would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(*parts: RenderableType, soft_wrap: bool = False) -> None:
    """Print *parts* on stdout, one below the other."""
    _Paper(highlight=False).print(*parts, sep="\n", soft_wrap=soft_wrap)
