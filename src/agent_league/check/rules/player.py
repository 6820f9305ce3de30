"""The rules of a player's answers: taking a seat, choosing, and hearing the news."""

from agent_league.check.exchange import Complaint, Exchange
from agent_league.check.judging import (
    copied,
    is_text,
    is_utc,
    judged,
    judged_messages,
    lateness,
    readable,
    taken,
    wants,
)
from agent_league.check.rule import KEPT, Gravity, Rule, Verdict, broken, rule, unjudged
from agent_league.check.seen import PlayerSeen
from agent_league.protocol import Role
from agent_league.vocabulary import Json

PLAYER = Role.PLAYER
ACK, MOVE = "GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"
KINDS = (ACK, MOVE)


@rule(
    "player.envelope.protocol",
    PLAYER,
    title='names the protocol in its replies: "league.v2"',
    section="002 2.4.1",
    fix='Set "protocol": "league.v2" in every message.',
    gravity=Gravity.CRITICAL,
    recorded=("protocol-version", "reply-envelope"),
)
def names_the_protocol(seen: PlayerSeen) -> Verdict:
    def problem(said: Json) -> Complaint:
        return wants(said, "protocol", lambda value: value == "league.v2", '"league.v2"')

    return judged_messages(seen, [*seen.acks, *seen.moves], problem, KINDS)


@rule(
    "player.envelope.sender",
    PLAYER,
    title='says who it is: "sender" is "player:ID"',
    section="002 2.4.4",
    fix='Set "sender": "player:" followed by the id that the league gave you.',
    recorded=("sender-form", "reply-envelope"),
)
def says_who_it_is(seen: PlayerSeen) -> Verdict:
    def right(value: Json) -> bool:
        return is_text(value) and value.startswith("player:") and value != "player:"

    return judged_messages(
        seen,
        [*seen.acks, *seen.moves],
        lambda said: wants(said, "sender", right, '"player:ID"'),
        KINDS,
    )


@rule(
    "player.envelope.timestamp",
    PLAYER,
    title="dates its replies in UTC",
    section="003 10.4",
    fix='Write "timestamp" as 2025-01-15T10:30:00Z, in UTC, with the Z.',
    recorded=("timestamp-form", "reply-envelope"),
)
def dates_in_utc(seen: PlayerSeen) -> Verdict:
    return judged_messages(
        seen,
        [*seen.acks, *seen.moves],
        lambda said: wants(said, "timestamp", is_utc, "ISO 8601 in UTC, as 2025-01-15T10:30:00Z"),
        KINDS,
    )


@rule(
    "player.envelope.conversation-id",
    PLAYER,
    title="stays in the conversation: its replies repeat conversation_id",
    section="002 2.4.1",
    fix="Copy `conversation_id` from the request into the reply.",
    recorded=("reply-envelope",),
)
def stays_in_the_conversation(seen: PlayerSeen) -> Verdict:
    replies = readable([*seen.acks, *seen.moves], KINDS)
    return judged(seen, replies, lambda said: copied(said, "conversation_id"))


@rule(
    "player.envelope.auth-token",
    PLAYER,
    title="shows an auth_token in its replies",
    section="002 2.4.5",
    fix="Send your `auth_token`, or the one that came with the request, with every reply.",
    gravity=Gravity.MINOR,
)
def shows_a_token(seen: PlayerSeen) -> Verdict:
    return judged_messages(
        seen,
        [*seen.acks, *seen.moves],
        lambda said: wants(said, "auth_token", is_text, "a token"),
        KINDS,
    )


@rule(
    "player.join-ack.in-time",
    PLAYER,
    title="answers an invitation within 5 seconds",
    section="003 5.2.3",
    fix="Answer GAME_INVITATION at once; do slow work later.",
    gravity=Gravity.CRITICAL,
)
def takes_its_seat_in_time(seen: PlayerSeen) -> Verdict:
    return judged(seen, [seen.first.ack] if seen.first else [], lateness)


@rule(
    "player.join-ack.message-type",
    PLAYER,
    title="answers GAME_INVITATION with GAME_JOIN_ACK",
    section="003 5.2.2",
    fix='Make the result itself the message, with "message_type": "GAME_JOIN_ACK".',
    recorded=("reply-wrapped", "message-type-case", "later-answer"),
)
def answers_an_invitation(seen: PlayerSeen) -> Verdict:
    return judged(seen, _in_json(seen.acks), lambda said: _kind_problem(said, ACK))


def _in_json(exchanges: list[Exchange]) -> list[Exchange]:
    return [said for said in exchanges if said.problem() is None]


def _kind_problem(said: Exchange, kind: str) -> Complaint:
    if said.error:
        return f"expected a {kind}, got the error {str(said.error)[:120]}"
    if said.message is None:
        return f"expected a {kind}, got {said.frame.get('result')!r:.80}"
    return wants(said.message, "message_type", lambda value: value == kind, f'"{kind}"')


@rule(
    "player.join-ack.match-id",
    PLAYER,
    title="takes its seat in the match it was invited to",
    section="003 5.2.2",
    fix="Copy `match_id` from the invitation.",
)
def names_the_match(seen: PlayerSeen) -> Verdict:
    return judged(seen, _of_kind(seen.acks, ACK), lambda said: copied(said, "match_id"))


def _of_kind(exchanges: list[Exchange], kind: str) -> list[Exchange]:
    return [
        said for said in readable(exchanges, (kind,)) if said.message.get("message_type") == kind
    ]


@rule(
    "player.join-ack.player-id",
    PLAYER,
    title="takes its seat under its player_id",
    section="003 5.2.2",
    fix="Send the `player_id` from your registration, a string such as P01.",
)
def names_itself(seen: PlayerSeen) -> Verdict:
    return judged_messages(
        seen, seen.acks, lambda said: wants(said, "player_id", is_text, "a string as P01"), (ACK,)
    )


@rule(
    "player.join-ack.arrival-timestamp",
    PLAYER,
    title="says when it arrived, in UTC",
    section="003 5.2.2",
    fix='Write "arrival_timestamp" as 2025-01-15T10:30:00Z.',
)
def says_when_it_arrived(seen: PlayerSeen) -> Verdict:
    return judged_messages(
        seen,
        seen.acks,
        lambda said: wants(said, "arrival_timestamp", is_utc, "ISO 8601 in UTC"),
        (ACK,),
    )


@rule(
    "player.join-ack.accept",
    PLAYER,
    title="accepts: `accept` is the boolean true",
    section="003 5.2.2",
    fix='Send "accept": true, a JSON boolean; false loses the match.',
    recorded=("accept-field",),
)
def accepts(seen: PlayerSeen) -> Verdict:
    return judged_messages(
        seen, seen.acks, lambda said: wants(said, "accept", lambda v: v is True, "true"), (ACK,)
    )


@rule(
    "player.move.in-time",
    PLAYER,
    title="chooses within 30 seconds",
    section="003 6.2.5",
    fix="Answer CHOOSE_PARITY_CALL before its `deadline`; keep a quick choice for the last second.",
    gravity=Gravity.CRITICAL,
)
def chooses_in_time(seen: PlayerSeen) -> Verdict:
    first = seen.first.move if seen.first else None
    return judged(seen, [first] if first else [], lateness)


@rule(
    "player.move.message-type",
    PLAYER,
    title="answers CHOOSE_PARITY_CALL with CHOOSE_PARITY_RESPONSE",
    section="003 6.2.2",
    fix='Make the result itself the message, with "message_type": "CHOOSE_PARITY_RESPONSE".',
    recorded=("reply-wrapped", "message-type-case", "later-answer"),
)
def answers_a_call(seen: PlayerSeen) -> Verdict:
    return judged(seen, _in_json(seen.moves), lambda said: _kind_problem(said, MOVE))


@rule(
    "player.move.match-id",
    PLAYER,
    title="chooses in the match it was asked in",
    section="003 6.2.2",
    fix="Copy `match_id` from the call.",
)
def chooses_in_the_match(seen: PlayerSeen) -> Verdict:
    return judged(seen, _of_kind(seen.moves, MOVE), lambda said: copied(said, "match_id"))


@rule(
    "player.move.player-id",
    PLAYER,
    title="chooses under the player_id it took its seat with",
    section="003 6.2.2",
    fix="Send the same `player_id` in GAME_JOIN_ACK and in CHOOSE_PARITY_RESPONSE.",
    recorded=("player-id-other",),
)
def stays_itself(seen: PlayerSeen) -> Verdict:
    own = seen.first.ack.message.get("player_id") if seen.first and seen.first.ack.message else None
    if not is_text(own):
        return unjudged("it did not say who it is when it took its seat")
    return judged_messages(
        seen,
        seen.moves,
        lambda said: wants(said, "player_id", lambda value: value == own, repr(own)),
        (MOVE,),
    )


@rule(
    "player.move.parity-choice",
    PLAYER,
    title='chooses exactly "even" or "odd"',
    section="003 6.2.2",
    fix='Send "parity_choice": "even" or "odd": a string, in lower case.',
    recorded=("choice-field", "field-invalid"),
)
def chooses_a_parity(seen: PlayerSeen) -> Verdict:
    def right(value: Json) -> bool:
        return value in ("even", "odd")

    return judged_messages(
        seen,
        seen.moves,
        lambda said: wants(said, "parity_choice", right, '"even" or "odd"'),
        (MOVE,),
    )


@rule(
    "player.game-over.taken",
    PLAYER,
    title="takes GAME_OVER within 5 seconds, without an error",
    section="003 5.3",
    fix='Answer GAME_OVER with any result, such as {"status": "ok"}.',
)
def takes_the_result(seen: PlayerSeen) -> Verdict:
    overs = [game.over for game in seen.games if game.over]
    return judged(seen, overs, taken)


def _notice(kind: str, section: str) -> Rule:
    @rule(
        f"player.notice.{kind.lower().replace('_', '-')}",
        PLAYER,
        title=f"takes {kind} without an error",
        section=section,
        fix=f'Answer {kind} with any result, such as {{"status": "ok"}}, if only to ignore it.',
        gravity=Gravity.MINOR,
    )
    def takes_the_notice(seen: PlayerSeen) -> Verdict:
        told = seen.notices.get(kind)
        return judged(seen, [told] if told else [], taken)

    return takes_the_notice


round_announcement = _notice("ROUND_ANNOUNCEMENT", "003 4.1")
round_completed = _notice("ROUND_COMPLETED", "003 4.2")
standings_update = _notice("LEAGUE_STANDINGS_UPDATE", "003 7.2")
league_error = _notice("LEAGUE_ERROR", "003 9.1")
game_error = _notice("GAME_ERROR", "003 9.2")
league_completed = _notice("LEAGUE_COMPLETED", "003 4.3")


@rule(
    "player.unknown-game",
    PLAYER,
    title="declines a game that it cannot play",
    section="000 Critical Requirements",
    fix='Look at `game_type`: answer "accept": false, or an error, if it is none of yours.',
)
def declines_what_it_cannot_play(seen: PlayerSeen) -> Verdict:
    def problem(said: Exchange) -> Complaint:
        if said.refused:
            return None
        took = (said.message or {}).get("accept")
        return said.problem() or ("it accepted a game of quidditch" if took is True else None)

    return judged(seen, [seen.strange_game] if seen.strange_game else [], problem)


@rule(
    "player.unicode",
    PLAYER,
    title="understands and repeats any character",
    section="003 14.4",
    fix="Read and write UTF-8 everywhere; an id is any text.",
)
def understands_unicode(seen: PlayerSeen) -> Verdict:
    if seen.first is None or seen.unicode is None:
        return unjudged(seen.stopped)
    if seen.first.ack.message is None or copied(seen.first.ack, "conversation_id"):
        return unjudged("it does not repeat what it is sent")
    said = seen.unicode
    wrong = said.problem() or ("it answered with an error" if said.refused else None)
    wrong = wrong or copied(said, "conversation_id")
    return broken(wrong, said) if wrong else KEPT
