"""The sections of the specification that rules are taken from, by document and number or heading."""

from collections.abc import Mapping
from types import MappingProxyType

SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "000 Required Capabilities": "league.v1, 2. Required Capabilities",
        "000 Phase 1": "league.v1, Phase 1: Private League (Development)",
        "000 Critical Requirements": "league.v1, MUST HAVE (Disqualification if missing)",
        "000 Grading Criteria": "league.v1, Protocol Compliance (40 points)",
        "001 Required Tools": "league.v2, Required Tools per Agent",
        "002 1.3": "HTTP Transport on Localhost",
        "002 1.4": "JSON-RPC 2.0 Message Structure",
        "002 2.4.1": "Required Envelope Fields",
        "002 2.4.2": "UTC/GMT Timezone Requirement",
        "002 2.4.4": "Sender Field Format",
        "002 2.4.5": "Authentication Token (auth_token)",
        "003 4.1": "ROUND_ANNOUNCEMENT",
        "003 4.2": "ROUND_COMPLETED",
        "003 4.3": "LEAGUE_COMPLETED",
        "003 5.2.2": "GAME_JOIN_ACK, Field Specifications",
        "003 5.2.3": "GAME_JOIN_ACK, Acceptance Criteria",
        "003 5.3": "GAME_OVER",
        "003 6.2.2": "CHOOSE_PARITY_RESPONSE, Field Specifications",
        "003 6.2.5": "CHOOSE_PARITY_RESPONSE, Acceptance Criteria",
        "003 7.2": "LEAGUE_STANDINGS_UPDATE",
        "003 9.1": "LEAGUE_ERROR",
        "003 9.2": "GAME_ERROR",
        "003 10.4": "Time Format Requirements",
        "003 10.5": "Critical Validation Rules",
        "003 14.1": "Message Size Limits",
        "003 14.4": "Field Validation",
        "004 Transport Layer": "JSON-RPC 2.0 Envelope",
    }
)
