"""`league watch` follows a league from anywhere, and ends with its final table."""

from pathlib import Path

from cli.league_command import league, line_with, running


def test_a_league_is_followed_to_its_end(tmp_path: Path) -> None:
    with running("manager", "--port", "0", "--players", "2", cwd=tmp_path) as manager:
        url = line_with(manager, "Waiting").split()[-1]
        with (
            running("watch", url.removesuffix("/mcp"), "--display", "plain") as watching,
            running("referee", url, "--port", "0"),
            running("player", url, "--port", "0", "--name", "Ada"),
            running("player", url, "--port", "0", "--name", "Bob"),
        ):
            shown, told = watching.communicate()
        assert watching.returncode == 0, told
    assert "Ada joined from" in told
    assert "R1M1" in told
    assert "Champion: " in shown


def test_an_address_without_a_league_is_said_so() -> None:
    done = league("watch", "http://127.0.0.1:9")
    assert done.returncode == 4
    assert "127.0.0.1:9" in done.stderr
