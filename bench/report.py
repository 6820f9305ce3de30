"""A comparison as a document, and the document as tables for people."""

import platform
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bench.comparison import Comparison
from bench.measurement import Cost, find_quantile

Document = dict[str, Any]
"""What `--json` prints, and what the tables are made from."""

TITLES: Mapping[str, str] = {
    "plain": "**ours**, in memory",
    "durable": "**ours**, durable",
    "logged": "**ours**, durable and logged",
    "own_process": "**ours**, each agent in its own process",
    "without_http": "**ours**, in one process without HTTP",
    "raw_asyncio": "raw asyncio",
    "raw_uvloop": "raw asyncio on uvloop",
    "starlette_aiohttp": "Starlette + aiohttp",
    "seed_stack": "FastAPI + requests",
    "nginx_wrk": "nginx + wrk, 7 round trips a match",
}
RATIO_TITLES: Mapping[str, str] = {
    "raw_asyncio": "ours to raw asyncio",
    "raw_uvloop": "ours to raw asyncio on uvloop",
    "starlette_aiohttp": "ours to Starlette + aiohttp",
    "seed_stack": "ours to FastAPI + requests",
    "nginx_wrk": "ours to nginx + wrk",
    "durable_to_plain": "durable to in memory",
    "logged_to_plain": "durable and logged to in memory",
    "own_process_to_shared": "each agent in its own process to shared processes",
    "without_http_to_plain": "without HTTP to with it",
}

WANTED: Mapping[str, float] = {
    "raw_asyncio": 0.75,
    "starlette_aiohttp": 4,
    "seed_stack": 25,
    "nginx_wrk": 0.20,
    "logged_to_plain": 0.80,
    "own_process_to_shared": 0.5,
}
"""What we want a ratio to be at least; that to nginx is a wish for later."""


def make_document(comparison: Comparison) -> Document:
    """Return everything that was measured, as plain values."""
    script = comparison.script
    return {
        "players": script.players,
        "matches": script.matches,
        "rounds": max(map(len, comparison.costs.values()), default=0),
        "python": platform.python_version(),
        "ratios": comparison.ratios,
        "runs": {name: _describe(costs) for name, costs in comparison.costs.items()},
        "latency_ms": {
            name: {"p50": find_quantile(found, 0.5), "p99": find_quantile(found, 0.99)}
            for name, found in comparison.latencies_ms.items()
        },
        "messages_per_match": {
            kind: count / script.matches for kind, count in script.messages.items()
        },
        "skipped": dict(comparison.skipped),
    }


def _describe(costs: Sequence[Cost]) -> Document:
    rates = [cost.rate for cost in costs]
    return {
        "matches_per_cpu_s": {"best": max(rates), "median": statistics.median(rates)},
        "cpu_us_per_match": {
            role: statistics.median(1e6 * cost.cpu_s[role] / cost.matches for cost in costs)
            for role in costs[0].cpu_s
        },
        "matches_per_wall_s": statistics.median(cost.matches / cost.wall_s for cost in costs),
        "peak_mb": statistics.median(sum(cost.peak_mb.values()) for cost in costs),
        "messages_per_match": sum(costs[0].messages.values()) / costs[0].matches or None,
        "every_round": rates,
    }


def make_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown writes it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def make_speed_table(document: Document) -> str:
    rows = [
        [
            TITLES[name],
            f"{run['matches_per_cpu_s']['median']:,.0f}",
            f"{run['matches_per_cpu_s']['best']:,.0f}",
            _format_roles(run["cpu_us_per_match"]),
            f"{run['peak_mb']:,.0f}",
        ]
        for name, run in document["runs"].items()
    ]
    skipped: dict[str, str] = document["skipped"]
    rows += [[TITLES[name], "not measured", why, "", ""] for name, why in skipped.items()]
    spent = "CPU µs per match: manager / referee / players"
    return make_table(["", "matches per CPU-s, median", "best", spent, "memory, MB"], rows)


def _format_roles(spent: Mapping[str, float]) -> str:
    """Return what each role spent; roles other than the three of a league are named."""
    is_league = "manager" in spent
    return " / ".join(
        f"{us:,.0f}" if is_league else f"{role} {us:,.0f}" for role, us in spent.items()
    )


def make_ratio_table(document: Document) -> str:
    ratios = document["ratios"]
    rows = [
        [title, *_describe_ratio(ratios[name], WANTED.get(name))]
        for name, title in RATIO_TITLES.items()
    ]
    return make_table(["ratio", "median of the rounds", "wanted", ""], rows)


def _describe_ratio(ratio: float | None, wanted: float | None) -> tuple[str, str, str]:
    """Return what was measured, what is wanted, and whether that is reached."""
    measured = "not measured" if ratio is None else f"{ratio:.3g}"
    if wanted is None:
        return measured, "", ""
    verdict = "" if ratio is None else "reached" if ratio >= wanted else "missed"
    return measured, f"at least {wanted:g}", verdict


def make_message_table(document: Document) -> str:
    counts: dict[str, float] = document["messages_per_match"]
    rows = [[kind, f"{count:.2f}"] for kind, count in counts.items()]
    rows.append(["all", f"{sum(counts.values()):.2f}"])
    return make_table(["message", "per match"], rows)


def make_latency_table(document: Document) -> str:
    rows = [
        [TITLES[name], f"{found['p50']:.2f}", f"{found['p99']:.2f}"]
        for name, found in document["latency_ms"].items()
    ]
    return make_table(["a call of the referee", "p50, ms", "p99, ms"], rows)


TABLES: Mapping[str, Callable[[Document], str]] = {
    "speed": make_speed_table,
    "ratios": make_ratio_table,
    "messages": make_message_table,
    "latency": make_latency_table,
}
"""The tables of a comparison, by the name of their place in docs/performance.md."""


def format_report(document: Document) -> str:
    """Return everything for people who look at a terminal."""
    about = (
        f"{document['players']} players, {document['matches']} matches, "
        f"{document['rounds']} rounds in turn, Python {document['python']}\n"
    )
    return "\n".join([about, *(make(document) for make in TABLES.values())]).replace("**", "")
