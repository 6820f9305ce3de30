import subprocess
import sys

import pytest

READ_POLICY = """
import os
from agent_league.running.event_loop import run

async def main():
    return os.sched_getscheduler(0)

print(run(main()) == os.SCHED_BATCH)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process say that")
def test_a_process_of_ours_interrupts_no_other() -> None:
    command = [sys.executable, "-c", READ_POLICY]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "True"
