"""The matches that are to be played, grouped by who waits for them."""

from agent_league.league.open_rounds import OpenMatches
from timewarp import run


def test_whoever_waits_for_matches_waits_only_for_its_own() -> None:
    async def main() -> None:
        matches = OpenMatches()
        first, second = matches.add(["R1M1", "R1M2"]), matches.add(["R2M1"])
        matches.end("R2M1")
        assert second.done()
        assert not first.done()
        assert "R1M1" in matches
        assert "R2M1" not in matches
        matches.end("R1M1")
        matches.end("R1M1")
        assert not first.done()
        matches.end("R1M2")
        assert first.done()
        assert not matches

    run(main())


def test_a_match_that_joins_belongs_to_the_latest_group() -> None:
    async def main() -> None:
        matches = OpenMatches()
        first, second = matches.add(["R1M1"]), matches.add(["R2M1"])
        matches.join("R1M2")
        matches.end("R2M1")
        assert not second.done()
        matches.drop(second)
        assert "R1M2" not in matches
        assert "R1M1" in matches
        matches.end("R1M1")
        assert first.done()

    run(main())


def test_there_is_nothing_to_wait_for_without_matches() -> None:
    async def main() -> bool:
        return OpenMatches().add([]).done()

    assert run(main())


def test_all_are_reported_when_the_last_result_is_being_kept() -> None:
    async def main() -> None:
        matches = OpenMatches()
        over = matches.add(["R1M1", "R1M2"])
        matches.report("R1M1")
        matches.report("R7M7")  # somebody else's
        assert not matches.are_all_reported
        matches.report("R1M2")
        assert matches.are_all_reported
        matches.end("R1M1")
        assert matches.are_all_reported
        matches.join("R1M3")
        assert not matches.are_all_reported
        matches.drop(over)
        assert matches.are_all_reported

    run(main())
