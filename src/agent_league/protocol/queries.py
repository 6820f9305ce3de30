"""What an agent may ask of the league."""

from typing import ClassVar, Literal

from msgspec import Struct

from agent_league.protocol.fields import Sentence, Text
from agent_league.protocol.message import (
    EVERYBODY,
    LEAGUE,
    PLAYER,
    REFEREE,
    Message,
    Request,
    Route,
)
from agent_league.vocabulary import Json

QueryType = Literal["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS"]


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
    """An agent asks for the table, the schedule, its next match or a player's record."""

    route: ClassVar[Route] = Route((PLAYER, REFEREE), (LEAGUE,), "league_query")
    reply: ClassVar[type[Message]] = QueryAnswer

    league_id: Text
    query_type: QueryType
    query_params: dict[str, Json]
