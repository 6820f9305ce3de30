"""Says at the end what came of all runs together."""

import pytest

from distributed.series import SERIES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SERIES.begun:
        terminalreporter.section("leagues on three hosts")
        for line in SERIES.describe():
            terminalreporter.write_line(line)
