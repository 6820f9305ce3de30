"""Which endpoints a league calls: it must not be made to call other services of its network."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_network
from urllib.parse import urlsplit, urlunsplit

from agent_league.http.resolving import Address, resolve
from agent_league.protocol.fields import normalise_endpoint

LOOPBACK_NETWORKS = ("127.0.0.0/8", "::1/128")
PRIVATE_NETWORKS = (*LOOPBACK_NETWORKS, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")


class EndpointError(ValueError):
    """The league does not call this endpoint; the text says why."""


def choose_networks(host: str, networks: Sequence[str] = ()) -> Sequence[str]:
    """Return the networks in which agents may listen: by default those that can see *host*."""
    if networks:
        return networks
    is_local = host == "localhost" or host.startswith("127.") or host == "::1"
    return LOOPBACK_NETWORKS if is_local else PRIVATE_NETWORKS


@dataclass(frozen=True)
class EndpointGate:
    """Lets endpoints in *networks* through, but not those of the league itself."""

    networks: Sequence[str] = ()
    """Empty: any."""
    own_endpoint: str = ""
    resolve: Callable[[str], Awaitable[list[Address]]] = resolve

    async def pin(self, endpoint: str) -> str:
        """Return *endpoint* with the address that its host has now, or raise `EndpointError`.

        So nobody can make the name lead elsewhere later. The names of HTTPS stay, because a
        certificate proves them.
        """
        if not self.networks:
            return endpoint
        parts = urlsplit(endpoint)
        if self.own_endpoint and _has_same_place(endpoint, self.own_endpoint):
            raise EndpointError("it is the address of the league")
        host = parts.hostname or ""
        found = await self.resolve(host)
        if not found:
            raise EndpointError("its host has no address")
        allowed = [ip_network(network) for network in self.networks]
        for address in found:
            if not any(address in network for network in allowed):
                raise EndpointError(f"{address} is not in a network of this league")
        if parts.scheme == "https" or host in {"localhost", str(found[0])}:
            return endpoint
        place = f"[{found[0]}]" if isinstance(found[0], IPv6Address) else str(found[0])
        netloc = f"{place}:{parts.port}" if parts.port else place
        return urlunsplit(parts._replace(netloc=netloc))


def _has_same_place(one: str, other: str) -> bool:
    """Whether two endpoints are at the same host and port."""
    places = [urlsplit(normalise_endpoint(endpoint)).netloc for endpoint in (one, other)]
    return places[0] == places[1]
