"""The rules for a player: its replies, its answers to notices, and playing many games."""

from collections.abc import Sequence
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
from agent_league.check.reading import ACCEPT_FIELDS, ACK, MOVE, find_choice
from agent_league.check.rule import Case, NotJudgedError, Rule, Select, rule
from agent_league.protocol import Role
from agent_league.protocol.requirements import Requirement, rules
from agent_league.protocol.requirements import player as required
from agent_league.vocabulary import Json

player_rule = partial(rule, (Role.PLAYER,))


def _select_acks(observations: PlayerObservations) -> list[Case[Json]]:
    return list_replies(_require(observations.acks, ACK))


def _select_moves(observations: PlayerObservations) -> list[Case[Json]]:
    return list_replies(_require(observations.moves, MOVE))


def _require(found: Sequence[Exchange], *kinds: str) -> list[Exchange]:
    """Return the replies of *kinds*; raise `NotJudgedError` if the player was asked for nothing."""
    replies = [exchange for exchange in found if exchange.is_reply_of(*kinds)]
    if found and not replies:
        raise NotJudgedError(f"it answered with no {' or '.join(kinds)}")
    return replies


def _select_own(observations: PlayerObservations) -> list[Case[Json]]:
    """Return all replies of the player."""
    return list_replies(_require([*observations.acks, *observations.moves], ACK, MOVE))


@player_rule(
    required.CONVERSATION,
    lambda observations: [case.proof for case in _select_own(observations)],
    recorded=(rules.REPLY_ENVELOPE,),
)
def stays_in_the_conversation(reply: Exchange) -> Problem:
    return check_echo(reply, "conversation_id")


def _select_after_registration(observations: PlayerObservations) -> list[Case[Json]]:
    """Return all replies, if the player has a token that it can show."""
    observations.get_registration()
    return _select_own(observations)


shows_a_token = player_rule(required.AUTH_TOKEN, _select_after_registration)(
    field("auth_token", is_text, "a token")
)


def _select_timed(of: str, kind: str) -> Select[Exchange]:
    """Return the selection of replies that came, and of requests that nobody answered in time."""

    def select(observations: PlayerObservations) -> list[Exchange]:
        found = getattr(observations, of)
        late = [exchange for exchange in found if exchange.is_late]
        return late or _require(found, kind)

    return select


joins_in_time = player_rule(required.JOIN_IN_TIME, _select_timed("acks", ACK))(check_in_time)


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
        if reply.posted is not None:
            return f"the {kind} came in a request of its own, not as the result of the call"
        if reply.is_refusal:
            return f"expected a {kind}, got the error {reply.refusal_text()[:160]}"
        if reply.message is None:
            return f"expected a {kind}, got {reply.frame.get('result')!r:.80}"
        if reply.found and reply.found.rule is rules.REPLY_WRAPPED and not reply.is_tool_call:
            return f"the {kind} is inside result, not result itself"
        return equals("message_type", kind)(reply.message)

    def select_of_type(observations: PlayerObservations) -> list[Exchange]:
        return _require(getattr(observations, of), kind)

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

moves_in_time = player_rule(required.MOVE_IN_TIME, _select_timed("moves", MOVE))(check_in_time)
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


def _select_unknown_game(observations: PlayerObservations) -> list[Exchange | None]:
    unknown = observations.unknown_game
    if not (observations.first and observations.first.ack.is_reply_of(ACK)):
        raise NotJudgedError("it answers no invitation with a GAME_JOIN_ACK")
    if unknown and not unknown.is_refusal and not unknown.is_reply_of(ACK):
        raise NotJudgedError("it answered neither yes nor no")
    return [unknown]


@player_rule(required.UNKNOWN_GAME, _select_unknown_game)
def declines_an_unknown_game(reply: Exchange) -> Problem:
    if reply.is_refusal:
        return None
    accepted = any(reply.get(key) is True for key in ACCEPT_FIELDS)
    return reply.problem() or ("it accepted a game of quidditch" if accepted else None)


def _select_unicode(observations: PlayerObservations) -> list[Exchange | None]:
    ack = observations.first.ack if observations.first else None
    if ack and (not ack.is_reply_of(ACK) or check_echo(ack, "conversation_id")):
        raise NotJudgedError("it does not repeat the conversation_id, whatever is in it")
    return [observations.unicode]


@player_rule(required.UNICODE, _select_unicode)
def understands_unicode(reply: Exchange) -> Problem:
    if reply.problem() or reply.is_refusal:
        return reply.problem() or "it answered with an error"
    return check_echo(reply, "conversation_id")


@player_rule(
    required.SAME_CHOICE,
    lambda observations: [
        Case(choices, again)
        for once, again in observations.repeated_moves
        if None not in (choices := (find_choice(once.message), find_choice(again.message)))
    ],
)
def chooses_once(choices: tuple[Json, Json]) -> Problem:
    first, second = choices
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
    """Return the replies of the games at once, as far as they name the match in a single game."""
    single = observations.first.exchanges[:2] if observations.first else []
    places = [place for place, reply in enumerate(single) if _check_match(reply) is None]
    if single and not places:
        raise NotJudgedError("its replies do not name the match even when it plays only one")
    games = observations.concurrent
    return [game.exchanges[at] for game in games for at in places if at < len(game.exchanges)]


def _check_match(reply: Exchange) -> Problem:
    if reply.message is None or not reply.is_reply_of(ACK, MOVE):
        return reply.problem() or "there is no reply in the answer"
    return check_echo(reply, "match_id")


keeps_games_apart = player_rule(required.CONCURRENT_GAMES, _select_concurrent)(_check_match)


@player_rule(required.CONSECUTIVE_GAMES, select_series("game"))
def plays_consecutive_games(game: Game) -> Problem:
    if game.has_ended:
        return None
    proof = game.find_proof()
    return proof.problem() or f"it did not choose: {proof.refusal_text() or 'no choice came'}"
