"""The rules for a player: its replies, its answers to notices, and playing many games."""

from functools import partial

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.judging import (
    check_accepted,
    check_echo,
    check_in_time,
    equals,
    field,
    is_text,
    is_utc,
    list_replies,
    select_series,
)
from agent_league.check.observations import Game, PlayerObservations
from agent_league.check.rule import Case, NotJudgedError, Rule, rule
from agent_league.protocol import Role
from agent_league.protocol.requirements import Requirement, rules
from agent_league.protocol.requirements import player as required
from agent_league.vocabulary import Json

ACK, MOVE = "GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"
player_rule = partial(rule, (Role.PLAYER,))


def _select_acks(observations: PlayerObservations) -> list[Case[Json]]:
    return list_replies(x for x in observations.acks if x.is_reply_of(ACK))


def _select_moves(observations: PlayerObservations) -> list[Case[Json]]:
    return list_replies(x for x in observations.moves if x.is_reply_of(MOVE))


@player_rule(
    required.CONVERSATION,
    lambda observations: [case.proof for case in observations.list_own_messages()],
    recorded=(rules.REPLY_ENVELOPE,),
)
def stays_in_the_conversation(reply: Exchange) -> Problem:
    return check_echo(reply, "conversation_id")


shows_a_token = player_rule(required.AUTH_TOKEN, lambda o: o.list_own_messages())(
    field("auth_token", is_text, "a token")
)
joins_in_time = player_rule(required.JOIN_IN_TIME, lambda o: [o.first.ack] if o.first else [])(
    check_in_time
)


def _make_reply_rules(
    of: str, kind: str, of_type: Requirement, of_match: Requirement
) -> tuple[Rule, Rule]:
    """Return the rules that a reply is a message of *kind*, and about the same match."""

    @player_rule(
        of_type,
        lambda observations: [x for x in getattr(observations, of) if not x.problem()],
        recorded=(rules.REPLY_WRAPPED, rules.MESSAGE_TYPE_CASE, rules.LATER_ANSWER),
    )
    def answers_with_the_type(reply: Exchange) -> Problem:
        if reply.error:
            return f"expected a {kind}, got the error {str(reply.error)[:120]}"
        if reply.message is None:
            return f"expected a {kind}, got {reply.frame.get('result')!r:.80}"
        return equals("message_type", kind)(reply.message)

    def select_of_type(observations: PlayerObservations) -> list[Exchange]:
        found = getattr(observations, of)
        return [x for x in found if x.get("message_type") == kind]

    @player_rule(of_match, select_of_type)
    def names_the_match(reply: Exchange) -> Problem:
        return check_echo(reply, "match_id")

    return answers_with_the_type, names_the_match


join_rules = _make_reply_rules("acks", ACK, required.JOIN_TYPE, required.JOIN_MATCH)
gives_its_player_id = player_rule(required.JOIN_PLAYER, _select_acks)(
    field("player_id", is_text, "a string such as P01")
)
says_when_it_arrived = player_rule(required.JOIN_ARRIVAL, _select_acks)(
    field("arrival_timestamp", is_utc, "ISO 8601 in UTC")
)
accepts = player_rule(rules.ACCEPT_FIELD, _select_acks, id="player.join-ack.accept")(
    equals("accept", True)
)

moves_in_time = player_rule(required.MOVE_IN_TIME, lambda o: [o.first.move] if o.first else [])(
    check_in_time
)
move_rules = _make_reply_rules("moves", MOVE, required.MOVE_TYPE, required.MOVE_MATCH)


def _select_player_ids(observations: PlayerObservations) -> list[Case[tuple[Json, Json]]]:
    """Return the moves, each with the player_id that the player joined with."""
    ack = observations.first.ack.message if observations.first else None
    player_id = (ack or {}).get("player_id")
    if not is_text(player_id):
        raise NotJudgedError("it did not say who it is when it joined the match")
    return [Case((player_id, move), proof) for move, proof, _ in _select_moves(observations)]


@player_rule(required.MOVE_PLAYER, _select_player_ids, recorded=(rules.PLAYER_ID_OTHER,))
def keeps_its_player_id(move: tuple[Json, Json]) -> Problem:
    return equals("player_id", move[0])(move[1])


chooses_a_parity = player_rule(
    rules.CHOICE_FIELD,
    _select_moves,
    id="player.move.parity-choice",
    recorded=(rules.CHOICE_FIELD, rules.FIELD_INVALID),
)(field("parity_choice", lambda value: value in ("even", "odd"), '"even" or "odd"'))

accepts_the_result = player_rule(required.GAME_OVER, lambda o: [game.over for game in o.games])(
    check_accepted
)


def _make_notice_rule(kind: str, requirement: Requirement) -> Rule:
    return player_rule(requirement, lambda o: [o.notices.get(kind)])(check_accepted)


notice_rules = tuple(_make_notice_rule(*item) for item in required.NOTICES.items())


@player_rule(required.UNKNOWN_GAME, lambda o: [o.unknown_game])
def declines_an_unknown_game(reply: Exchange) -> Problem:
    if reply.is_refusal:
        return None
    accepted = reply.get("accept") is True
    return reply.problem() or ("it accepted a game of quidditch" if accepted else None)


def _select_unicode(observations: PlayerObservations) -> list[Exchange | None]:
    ack = observations.first.ack if observations.first else None
    if ack and (ack.message is None or check_echo(ack, "conversation_id")):
        raise NotJudgedError("it does not repeat what it is sent")
    return [observations.unicode]


@player_rule(required.UNICODE, _select_unicode)
def understands_unicode(reply: Exchange) -> Problem:
    if reply.problem() or reply.is_refusal:
        return reply.problem() or "it answered with an error"
    return check_echo(reply, "conversation_id")


@player_rule(
    required.SAME_CHOICE,
    lambda observations: [
        Case((once.message, again.message), again)
        for once, again in observations.repeated_moves
        if once.message and again.message
    ],
)
def chooses_once(replies: tuple[Json, Json]) -> Problem:
    first, second = (reply.get("parity_choice") for reply in replies)
    return None if first == second else f"first it chose {first!r}, then {second!r}"


def _select_repeated_result(observations: PlayerObservations) -> list[Exchange | None]:
    game_over = observations.first.over if observations.first else None
    if game_over and check_accepted(game_over):
        raise NotJudgedError("it does not accept GAME_OVER at all")
    return [observations.repeated_over]


accepts_a_repeated_result = player_rule(required.REPEATED_RESULT, _select_repeated_result)(
    check_accepted
)


def _select_concurrent(observations: PlayerObservations) -> list[Exchange]:
    if observations.first is None or any(map(_check_match, observations.first.exchanges[:2])):
        raise NotJudgedError("it names another match even when it plays only one")
    return [x for game in observations.concurrent for x in game.exchanges[:2]]


def _check_match(reply: Exchange) -> Problem:
    if reply.message is None:
        return reply.problem() or "there is no reply in the answer"
    return check_echo(reply, "match_id")


keeps_games_apart = player_rule(required.CONCURRENT_GAMES, _select_concurrent)(_check_match)


@player_rule(required.CONSECUTIVE_GAMES, select_series("game"))
def plays_consecutive_games(game: Game) -> Problem:
    return None if game.has_ended else str(game.find_proof().problem())
