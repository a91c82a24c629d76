"""DBOS: workflows whose steps are recorded in PostgreSQL before the next begins. Prints `steps seconds`
for the orchestrator."""

import sys
import threading
import time

from dbos import DBOS, DBOSConfig, SetWorkflowID


@DBOS.step()
def edit(count: int) -> dict:
    return {"count": count + 1, "cell": "x" * 100}


@DBOS.workflow()
def page(seconds: float) -> int:
    over = time.monotonic() + seconds
    count = 0
    while time.monotonic() < over:
        count = edit(count)["count"]
    return count


def main() -> None:
    url, runs, seconds, name = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    config: DBOSConfig = {
        "name": "steps",
        "system_database_url": url,
        "log_level": "ERROR",
        "run_admin_server": False,
    }
    DBOS(config=config)
    DBOS.launch()
    counts = [0] * runs
    begun = time.monotonic()

    def work(at: int) -> None:
        with SetWorkflowID(f"{name}-{at}"):
            counts[at] = page(seconds)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(counts), time.monotonic() - begun)
    sys.stdout.flush()
    DBOS.destroy()


if __name__ == "__main__":
    main()
