"""The questions that an agent may ask the league."""

from typing import ClassVar, Literal

from msgspec import Struct

from agent_league.protocol.fields import Sentence, Text
from agent_league.protocol.message import EVERYBODY, LEAGUE, Message, Request, Route
from agent_league.vocabulary import Json

PublicQuery = Literal["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS"]
"""The questions of the documents; every league answers them."""
QueryType = Literal[PublicQuery, "CHECK_REFEREE"]
"""Our addition is for a player that is called without the ticket of its match."""


class RefereeClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody shows who calls a player as the referee of a match, but without the ticket."""

    match_id: Text
    sender: str
    conversation_id: str
    token: str | None = None
    """Its own token, or a ticket that the player cannot check because it lost its token."""


class QueryProblem(Struct, frozen=True, kw_only=True):
    """Why a query has no answer; here the description is a sentence."""

    error_code: str
    error_name: str
    error_description: Sentence


class QueryAnswer(Message, frozen=True, kw_only=True, tag="LEAGUE_QUERY_RESPONSE"):
    """The league's answer: *data* when it succeeds, *error* when it does not."""

    route: ClassVar[Route] = Route((LEAGUE,), EVERYBODY)

    query_type: QueryType
    success: bool
    data: dict[str, Json] | None = None
    error: QueryProblem | None = None


class Query(Request[QueryAnswer], frozen=True, kw_only=True, tag="LEAGUE_QUERY"):
    """An agent asks for the table, the schedule, its next match or a player's record.

    With CHECK_REFEREE a player asks whether whoever calls it is the referee of its match.
    """

    route: ClassVar[Route] = Route(EVERYBODY, (LEAGUE,), "league_query")
    reply: ClassVar[type[Message]] = QueryAnswer

    league_id: Text
    query_type: QueryType
    query_params: dict[str, Json]
