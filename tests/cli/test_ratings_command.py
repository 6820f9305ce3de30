"""`league ratings`, of stored leagues."""

from pathlib import Path

import pytest

from cli.league_command import document, league


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    flags = ("--players", "3", "--strategy", "minimax,random,markov", "--legs", "4")
    for seed in ("1", "2"):
        where = ("--shared", str(folder), "--port-base", "0", "--seed", seed)
        done = league("play", "--game", "tic_tac_toe", *flags, *where)
        assert done.returncode == 0, done.stderr
    return folder


def test_ratings_stand_beside_the_points(shared: Path) -> None:
    found = document("ratings", "--shared", str(shared), "--json")
    best = found["ratings"][0]
    assert best["display_name"] == "Alpha (minimax)"
    assert best["points"] >= 20
    assert best["played"] == 8
    shown = league("ratings", "--shared", str(shared)).stdout
    assert "Pts" in shown
    assert "is not significant" in shown


def test_players_are_followed_across_leagues(shared: Path) -> None:
    found = document("ratings", "--across", "--shared", str(shared), "--json")
    assert len(found["leagues"]) == 2
    assert found["ratings"][0]["display_name"] == "Alpha (minimax)"
    assert "2 leagues" in league("ratings", "--across", "--shared", str(shared)).stdout


def test_a_folder_without_leagues_is_said(tmp_path: Path) -> None:
    done = league("ratings", "--across", "--shared", str(tmp_path))
    assert done.returncode == 2
    assert "there is no league" in done.stderr
