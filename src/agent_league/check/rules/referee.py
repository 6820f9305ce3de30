"""The rules of a match that goes well: invitations, calls, the result and the report."""

from collections.abc import Callable

from agent_league.check.exchange import Complaint
from agent_league.check.judging import is_text, is_utc, judged, refusal, wants
from agent_league.check.letters import FIRST_ROUND, GAME, LEAGUE_ID, PLAYERS
from agent_league.check.rule import KEPT, Gravity, Verdict, broken, rule, unjudged
from agent_league.check.seen import Bout, RefereeSeen
from agent_league.protocol import Role
from agent_league.protocol.fields import moment
from agent_league.vocabulary import Json

REFEREE = Role.REFEREE
INVITED, CALLED, OVER, REPORT = (
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "MATCH_RESULT_REPORT",
)
SEATS = ("PLAYER_A", "PLAYER_B")


def of_messages(seen: RefereeSeen, complain: Callable[[Json], Complaint], *kinds: str) -> Verdict:
    """Judge what the referee said, of these kinds or of any."""
    return judged(seen, seen.sent(*kinds), lambda said: complain(said.asked))


def of_bouts(
    seen: RefereeSeen, bouts: list[Bout], complain: Callable[[Bout], Complaint], *shows: str
) -> Verdict:
    """Judge whole matches, as far as there are any; *shows* is where a fault would be seen."""
    if not bouts:
        return unjudged(seen.stopped)
    for bout in bouts:
        wrong = complain(bout)
        if wrong:
            told = [heard for kind in shows for heard in bout.said(kind)]
            return broken(f"{bout.match_id}: {wrong}", told[-1].exchange if told else bout.order)
    return KEPT


def well(seen: RefereeSeen) -> list[Bout]:
    """Return the matches in which both players behave, and that came to their end."""
    bouts = [seen.bouts[name] for name in ("win", "draw") if name in seen.bouts]
    return [bout for bout in [*bouts, *seen.series] if bout.ended]


@rule(
    "referee.start-match.taken",
    REFEREE,
    title="takes a match: answers start_match within 10 seconds, without an error",
    section="001 Required Tools",
    fix='Answer start_match at once with "status": "ACCEPTED", and run the match beside.',
    recorded=("order-form",),
)
def takes_a_match(seen: RefereeSeen) -> Verdict:
    return judged(seen, [said for said in seen.calls if not said.problem()], refusal)


@rule(
    "referee.start-match.in-time",
    REFEREE,
    title="does not keep the league waiting while the match is played",
    section="002 2.7",
    fix="Run the match in the background; answer start_match first.",
)
def answers_at_once(seen: RefereeSeen) -> Verdict:
    return judged(
        seen,
        seen.calls,
        lambda said: f"nothing came within {said.allowed:g} s" if said.late else None,
    )


@rule(
    "referee.envelope.protocol",
    REFEREE,
    title='names the protocol in all it says: "league.v2"',
    section="002 2.4.1",
    fix='Set "protocol": "league.v2" in every message.',
    gravity=Gravity.CRITICAL,
    recorded=("protocol-version",),
)
def names_the_protocol(seen: RefereeSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        return wants(said, "protocol", lambda value: value == "league.v2", '"league.v2"')

    return of_messages(seen, problem)


@rule(
    "referee.envelope.sender",
    REFEREE,
    title='says who it is: "sender" is "referee:ID"',
    section="002 2.4.4",
    fix='Set "sender": "referee:" followed by the id that the league gave you.',
    recorded=("sender-form", "sender-missing"),
)
def says_who_it_is(seen: RefereeSeen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and value.startswith("referee:") and value != "referee:"

    return of_messages(seen, lambda said: wants(said, "sender", right, '"referee:ID"'))


@rule(
    "referee.envelope.timestamp",
    REFEREE,
    title="dates all it says in UTC",
    section="003 10.4",
    fix='Write "timestamp" as 2025-01-15T10:30:00Z, in UTC, with the Z.',
    recorded=("timestamp-form", "timestamp-missing"),
)
def dates_in_utc(seen: RefereeSeen) -> Verdict:
    return of_messages(seen, lambda said: wants(said, "timestamp", is_utc, "ISO 8601 in UTC"))


@rule(
    "referee.envelope.conversation-id",
    REFEREE,
    title="keeps one conversation_id through a match, and another for the next",
    section="003 5.1.4",
    fix="Make one conversation_id per match, and send it with every message of that match.",
)
def keeps_the_conversation(seen: RefereeSeen) -> Verdict:
    told = [bout for bout in seen.matches if bout.said(INVITED)]
    for bout in told:
        said = [heard for kind in (INVITED, CALLED, OVER) for heard in bout.said(kind)]
        ids = {str(heard.message.get("conversation_id") or "") for heard in said}
        if len(ids) > 1 or "" in ids:
            why = f"{bout.match_id}: one conversation_id was expected, not {sorted(ids)}"
            return broken(why, bout.said(INVITED)[0].exchange)
    firsts = [bout.said(INVITED)[0] for bout in told]
    if len({heard.message.get("conversation_id") for heard in firsts}) < len(firsts):
        return broken("two matches have the same conversation_id", firsts[-1].exchange)
    return KEPT if told else unjudged(seen.stopped)


@rule(
    "referee.invitation.both",
    REFEREE,
    title="invites both players",
    section="003 5.1.4",
    fix="Send GAME_INVITATION to the endpoints of both players.",
    gravity=Gravity.CRITICAL,
)
def invites_both(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        missed = [PLAYERS[seat] for seat in (0, 1) if not bout.said(INVITED, seat)]
        return f"{' and '.join(missed)} got no GAME_INVITATION" if missed else None

    ordered = [seen.bouts["win"]] if "win" in seen.bouts and not _refused(seen) else []
    return of_bouts(seen, ordered, problem, INVITED)


def _refused(seen: RefereeSeen) -> bool:
    order = seen.bouts["win"].order
    return bool(order.problem() or refusal(order))


@rule(
    "referee.invitation.match",
    REFEREE,
    title="invites to the match that it was given: league, round, game",
    section="003 5.1.2",
    fix="Copy league_id, round_id, match_id and game_type from the order into the invitation.",
)
def invites_to_the_match(seen: RefereeSeen) -> Verdict:
    given = {"league_id": LEAGUE_ID, "round_id": FIRST_ROUND, "game_type": GAME}

    def problem(said: Json) -> Complaint:
        found = (equal(said, key, value) for key, value in given.items())
        return next(filter(None, found), None)

    return of_messages(seen, problem, INVITED)


def equal(said: Json, key: str, expected: Json) -> Complaint:
    def right(value: Json) -> bool:
        return type(value) is type(expected) and bool(value == expected)

    return wants(said, key, right, repr(expected))


@rule(
    "referee.invitation.roles",
    REFEREE,
    title="makes one of them PLAYER_A and the other PLAYER_B",
    section="003 5.1.2",
    fix='Set "role_in_match" to "PLAYER_A" for one player and "PLAYER_B" for the other.',
)
def gives_roles(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        roles = [bout.said(INVITED, seat)[0].message.get("role_in_match") for seat in (0, 1)]
        return None if sorted(map(str, roles)) == list(SEATS) else f"role_in_match: got {roles}"

    return of_bouts(seen, _invited(seen), problem, INVITED)


def _invited(seen: RefereeSeen) -> list[Bout]:
    return [bout for bout in seen.matches if all(bout.said(INVITED, seat) for seat in (0, 1))]


@rule(
    "referee.invitation.opponent",
    REFEREE,
    title="tells each player who the other is",
    section="003 5.1.2",
    fix='Set "opponent_id" to the player_id of the other player.',
)
def names_the_opponent(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        for seat in (0, 1):
            said = bout.said(INVITED, seat)[0].message
            wrong = equal(said, "opponent_id", PLAYERS[1 - seat])
            if wrong:
                return wrong
        return None

    return of_bouts(seen, _invited(seen), problem, INVITED)


@rule(
    "referee.call.after-joining",
    REFEREE,
    title="asks for choices only when both players are there",
    section="003 6.1.4",
    fix="Wait for both GAME_JOIN_ACK before the first CHOOSE_PARITY_CALL.",
)
def waits_for_both(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        asked = min(heard.at for heard in bout.said(CALLED))
        late = len(bout.joined) < len(PLAYERS) or asked < max(bout.joined)
        return "a player was asked before both had joined" if late else None

    return of_bouts(seen, [bout for bout in _invited(seen) if bout.said(CALLED)], problem, CALLED)


@rule(
    "referee.call.at-once",
    REFEREE,
    title="asks both at the same time, not one after the other",
    section="003 6.1.4",
    fix="Send both CHOOSE_PARITY_CALL before you wait for either answer (threads, async, futures).",
)
def asks_both_at_once(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        return None if bout.asked_together else "one was asked only when the other had answered"

    return of_bouts(seen, [bout for bout in well(seen) if _asked_both(bout)], problem, CALLED)


def _asked_both(bout: Bout) -> bool:
    return all(bout.said(CALLED, seat) for seat in (0, 1))


@rule(
    "referee.call.player-id",
    REFEREE,
    title="asks each player by its own player_id",
    section="003 6.1.2",
    fix='Set "player_id" of the call to the id of the player that it goes to.',
)
def asks_by_name(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        asked = [(seat, heard) for seat in (0, 1) for heard in bout.said(CALLED, seat)]
        found = (equal(heard.message, "player_id", PLAYERS[seat]) for seat, heard in asked)
        return next(filter(None, found), None)

    return of_bouts(seen, [bout for bout in seen.matches if bout.said(CALLED)], problem, CALLED)


@rule(
    "referee.call.deadline",
    REFEREE,
    title="gives a deadline in UTC that is still to come",
    section="003 6.1.2",
    fix='Set "deadline" to now plus 30 seconds, as 2025-01-15T10:30:30Z.',
)
def gives_a_deadline(seen: RefereeSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        wrong = wants(said, "deadline", is_utc, "ISO 8601 in UTC")
        sent = said.get("timestamp")
        if wrong or not is_utc(sent):
            return wrong
        past = moment(said["deadline"]) <= moment(sent)
        return f"deadline: {said['deadline']} is not after {sent}" if past else None

    return of_messages(seen, problem, CALLED)
