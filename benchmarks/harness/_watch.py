"""Run one command and write what it used to a file: ``_watch.py FILE TIMEOUT COMMAND...``.

This is a process of its own because a process is charged with the memory of the one that started it; this one is small.
"""

import json
import os
import signal
import subprocess
import sys
import time


def main() -> None:
    place, timeout, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    signal.signal(signal.SIGALRM, _stop)
    began = time.perf_counter()
    child = subprocess.Popen(command, start_new_session=True)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    timed_out = False
    try:
        _, status, used = os.wait4(child.pid, 0)
    except (TimeoutError, KeyboardInterrupt):
        timed_out = True
        os.killpg(child.pid, signal.SIGKILL)
        _, status, used = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    wall = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024
    usage = {
        "cpu": used.ru_utime + used.ru_stime,
        "wall": wall,
        "megabytes": used.ru_maxrss * unit / 2**20,
        "code": os.waitstatus_to_exitcode(status),
        "timed_out": timed_out,
    }
    with open(place, "w", encoding="utf-8") as file:  # noqa: PTH123 (starts without site, and light)
        json.dump(usage, file)


def _stop(signum: int, frame: object) -> None:
    raise TimeoutError


main()
