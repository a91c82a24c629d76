"""LangGraph with its PostgreSQL saver: runs of one small node, one checkpoint per step, each durable
before the next begins (`durability="sync"`). Prints `steps seconds` for the orchestrator."""

import operator
import sys
import threading
import time
from typing import Annotated, TypedDict

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool


class Page(TypedDict):
    count: int
    cells: Annotated[list[str], operator.add]


def edit(state: Page) -> dict:
    return {"count": state["count"] + 1, "cells": ["x" * 100] if state["count"] % 100 == 0 else []}


def main() -> None:
    url, runs, seconds, name = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    pool = ConnectionPool(
        url,
        min_size=1,
        max_size=min(runs, 16),
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    )
    saver = PostgresSaver(pool)
    graph = StateGraph(Page)
    graph.add_node("edit", edit)
    graph.add_edge(START, "edit")
    graph.add_conditional_edges("edit", lambda state: END if time.monotonic() > over else "edit")
    app = graph.compile(checkpointer=saver)
    counts = [0] * runs
    over = time.monotonic() + seconds
    begun = time.monotonic()

    def work(at: int) -> None:
        config = {"configurable": {"thread_id": f"{name}-{at}"}, "recursion_limit": 10_000_000}
        ended = app.invoke({"count": 0, "cells": []}, config, durability="sync")
        counts[at] = ended["count"]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(counts), time.monotonic() - begun)


if __name__ == "__main__":
    main()
