"""`python -m agent_league` is the command `league`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:  # a file queue.py in the current folder must not be our queue
        sys.path.append(sys.path.pop(0))
    from agent_league.cli import main

    main()
