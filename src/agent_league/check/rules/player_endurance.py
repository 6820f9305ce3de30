"""The rules of a player over many games: again, at once, and in a row."""

from agent_league.check.exchange import Complaint, Exchange
from agent_league.check.judging import judged, taken, wants
from agent_league.check.rule import KEPT, Gravity, Verdict, broken, rule, unjudged
from agent_league.check.seen import PlayerSeen
from agent_league.protocol import Role

PLAYER = Role.PLAYER


@rule(
    "player.repeat.move",
    PLAYER,
    title="gives the same choice when the same call comes twice",
    section="000 Required Capabilities",
    fix="Remember your choice by match_id, and answer a call that comes again with it.",
)
def chooses_once(seen: PlayerSeen) -> Verdict:
    pairs = [pair for pair in seen.repeated_moves if all(said.message for said in pair)]
    if not pairs:
        return unjudged(seen.stopped)
    for once, again in pairs:
        first, second = (said.message.get("parity_choice") for said in (once, again))
        if first != second:
            return broken(f"first it chose {first!r}, then {second!r}", again)
    return KEPT


@rule(
    "player.repeat.game-over",
    PLAYER,
    title="takes a GAME_OVER that comes twice",
    section="000 Required Capabilities",
    fix="Acknowledge a result that you know already; count it once.",
    gravity=Gravity.MINOR,
)
def hears_twice(seen: PlayerSeen) -> Verdict:
    told = seen.first.over if seen.first else None
    if told is None or taken(told):
        return unjudged("it does not take GAME_OVER at all" if told else seen.stopped)
    return judged(seen, [seen.repeated_over] if seen.repeated_over else [], taken)


@rule(
    "player.concurrent-games",
    PLAYER,
    title="plays ten games at once without mixing them up",
    section="000 Required Capabilities",
    fix="Keep nothing of a game outside it: answer from the request, and key state by match_id.",
)
def keeps_games_apart(seen: PlayerSeen) -> Verdict:
    if seen.first is None or any(map(_mixed, seen.first.exchanges[:2])):
        return unjudged("it names another match even when it plays only one")
    return judged(seen, [said for game in seen.together for said in game.exchanges[:2]], _mixed)


def _mixed(said: Exchange) -> Complaint:
    if said.message is None:
        return said.problem() or "there is no reply in the answer"
    match_id = said.asked.get("match_id")
    return wants(said.message, "match_id", lambda value: value == match_id, repr(match_id))


@rule(
    "player.consecutive-games",
    PLAYER,
    title="plays 50 games in a row without a timeout or a crash",
    section="000 Phase 1",
    fix="Find what grows or breaks over many games; catch every error at the edge.",
    gravity=Gravity.CRITICAL,
)
def endures(seen: PlayerSeen) -> Verdict:
    failed = next((game for game in seen.series if not game.whole), None)
    if failed is not None:
        last = failed.exchanges[-1]
        number = seen.series.index(failed) + 1
        return broken(f"game {number} of {seen.wanted}: {last.problem()}", last)
    if len(seen.series) < seen.wanted:
        return unjudged(f"{len(seen.series)} of {seen.wanted} games were played: {seen.stopped}")
    return KEPT if seen.series else unjudged(seen.stopped)
