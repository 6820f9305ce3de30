"""Waits until somebody serves at a port: `probe HOST PORT SECONDS` prints when that was.

The time is that of the monotonic clock, which all processes of a machine share.
"""

import http.client
import sys
import time


def probe(host: str, port: int, seconds: float) -> float | None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        connection = http.client.HTTPConnection(host, port, timeout=2)
        try:
            connection.request("GET", "/ready")
            if connection.getresponse().status < 500:
                return time.monotonic()
        except OSError:
            time.sleep(0.02)  # noqa: TID251 - a program beside the league, which only looks
        finally:
            connection.close()
    return None


if __name__ == "__main__":
    print(probe(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))  # noqa: T201 - it is a program
