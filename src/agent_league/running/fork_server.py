"""The server from which the processes of agents are started, with all imports done.

It takes longer to import everything than to play a small league. A command that will need the
server starts it first, so that both import at the same time; so this module imports nothing of ours.
"""

import multiprocessing
import os
import signal
import tempfile
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext, SpawnContext

SAFE_PATH = "PYTHONSAFEPATH"
LONGEST_TEMP = 60
"""The longest name of a temporary folder in which the server can have its socket."""
_PRELOADED = ["__main__", "agent_league.running.processes"]


def choose_context() -> ForkServerContext | SpawnContext:
    """Return how processes are started: from a server that has all imports done, if possible."""
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    if not has_server or len(tempfile.gettempdir()) > LONGEST_TEMP:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def start_fork_server() -> None:
    """Let the server begin its imports, unless it runs, or there can be none.

    It does not import modules from the current folder, and Ctrl-C reaches none of its processes.
    """
    if not isinstance(choose_context(), ForkServerContext):
        return
    own = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        resource_tracker.ensure_running()  # this changes the signal mask, so it comes first
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        forkserver.ensure_running()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    finally:
        if own is None:
            del os.environ[SAFE_PATH]
