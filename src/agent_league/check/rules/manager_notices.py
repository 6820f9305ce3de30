"""The rules of what a league tells everybody: rounds, standings, the end."""

from collections.abc import Callable

from agent_league.check.exchange import Complaint
from agent_league.check.judging import judged, wants
from agent_league.check.rule import KEPT, Verdict, broken, rule, unjudged
from agent_league.check.seen import ManagerSeen
from agent_league.protocol import Role
from agent_league.vocabulary import Json

MANAGER = Role.LEAGUE
ANNOUNCED, STANDINGS = "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE"
COMPLETED, ENDED = "ROUND_COMPLETED", "LEAGUE_COMPLETED"
_OF_A_MATCH = ("match_id", "game_type", "player_A_id", "player_B_id", "referee_endpoint")


def _told(seen: ManagerSeen, kind: str, complain: Callable[[Json], Complaint]) -> Verdict:
    if not seen.asked.get("player 1"):
        return unjudged(seen.unentered)
    return judged(seen, seen.told(kind), lambda said: complain(said.asked))


def _rows(said: Json, key: str) -> list[Json]:
    found = said.get(key)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


@rule(
    "manager.round-announcement.matches",
    MANAGER,
    title="announces each match with its players and its referee",
    section="003 4.1.2",
    fix="Fill match_id, game_type, player_A_id, player_B_id and referee_endpoint of every match.",
)
def announces_matches(seen: ManagerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        matches = _rows(said, "matches")
        found = (
            wants(match, key, lambda value: isinstance(value, str) and bool(value), "text")
            for match in matches
            for key in _OF_A_MATCH
        )
        return next(filter(None, found), None) if matches else "matches: expected at least one"

    return _told(seen, ANNOUNCED, problem)


@rule(
    "manager.round-announcement.fair",
    MANAGER,
    title="lets each player play at most once in a round, and never against itself",
    section="003 4.1.4",
    fix="Draw rounds in which no player_id comes twice.",
)
def draws_fairly(seen: ManagerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        keys = ("player_A_id", "player_B_id")
        playing = [match.get(key) for match in _rows(said, "matches") for key in keys]
        known = [player for player in playing if player]
        return None if len(set(known)) == len(known) else f"the round has {known}"

    return _told(seen, ANNOUNCED, problem)


@rule(
    "manager.standings.sent",
    MANAGER,
    title="tells the standings after a result",
    section="003 7.2.4",
    fix="Send LEAGUE_STANDINGS_UPDATE to every player within 5 seconds of a result.",
)
def tells_the_standings(seen: ManagerSeen) -> Verdict:
    if not seen.reports:
        return unjudged(seen.stopped if seen.asked.get("player 1") else seen.unentered)
    if not seen.told(STANDINGS):
        return broken("no LEAGUE_STANDINGS_UPDATE came after the result", seen.reports[0])
    return KEPT


@rule(
    "manager.standings.arithmetic",
    MANAGER,
    title="adds up: played = wins + draws + losses, points = 3 wins + draws, sorted by rank",
    section="003 7.2.2",
    fix="Compute played and points from wins, draws and losses, and sort by rank.",
)
def adds_up(seen: ManagerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        rows = _rows(said, "standings")
        wrong = next(filter(None, map(_row_problem, rows)), None)
        ranks = [row.get("rank") for row in rows]
        unsorted = all(isinstance(rank, int) for rank in ranks) and ranks != sorted(ranks)
        return wrong or (f"the ranks come as {ranks}" if unsorted else None)

    return _told(seen, STANDINGS, problem)


def _row_problem(row: Json) -> Complaint:
    keys = ("rank", "played", "wins", "draws", "losses", "points")
    for key in keys:
        wrong = wants(row, key, lambda value: type(value) is int, "an integer")
        if wrong:
            return wrong
    wins, draws, losses = (row[key] for key in ("wins", "draws", "losses"))
    if row["played"] != wins + draws + losses or row["points"] != 3 * wins + draws:
        return f"the row does not add up: {row!r:.150}"
    return None


@rule(
    "manager.round-completed.summary",
    MANAGER,
    title="sums a round up: wins + draws + technical losses = matches",
    section="003 4.2.3",
    fix="Count each match of the round once in ROUND_COMPLETED.summary.",
)
def sums_up(seen: ManagerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        summary = said.get("summary")
        if not isinstance(summary, dict):
            return "summary is missing; expected an object"
        counts: list[Json] = [summary.get(key) for key in ("wins", "draws", "technical_losses")]
        if not all(type(count) is int for count in [*counts, summary.get("total_matches")]):
            return f"summary: expected integers, got {summary!r:.120}"
        total = sum(counts)
        return None if total == summary["total_matches"] else f"summary: {counts} is not the total"

    return _told(seen, COMPLETED, problem)


@rule(
    "manager.league-completed.champion",
    MANAGER,
    title="ends the league with its champion first in the final standings",
    section="003 4.3.4",
    fix="Send LEAGUE_COMPLETED with champion = the first row of final_standings, sorted by rank.",
)
def names_the_champion(seen: ManagerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        rows, champion = _rows(said, "final_standings"), said.get("champion")
        first = rows[0].get("player_id") if rows else None
        named = champion.get("player_id") if isinstance(champion, dict) else None
        if first is None or named != first:
            return f"champion: {named!r}, but the final standings begin with {first!r}"
        return None

    return _told(seen, ENDED, problem)
