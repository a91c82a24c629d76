"""A server that speaks Cypher over Bolt, for the tests of the kind `neo4j`.

`python bolt_server.py FOLDER` needs the package `arcadedb-embedded`. It fills a small graph, prints
`ready PORT` and serves on loopback until its standard input ends.
"""

import socket
import sys

import arcadedb_embedded as arcadedb

PASSWORD = "only-for-tests"

GRAPH = """
CREATE (atlas:Project {id: 'ATLAS', name: 'Claims portal'}),
       (beacon:Project {id: 'BEACON', name: 'Partner data exchange'}),
       (portal:System {name: 'portal'}),
       (claims:System {name: 'claims service'}),
       (proxy:System {name: 'proxy'}),
       (exchange:System {name: 'exchange server'}),
       (kim:Person {name: '김하늘', hours: 18.5, lead: false}),
       (atlas)-[:BUILDS {since: 2026}]->(portal),
       (beacon)-[:BUILDS {since: 2026}]->(exchange),
       (portal)-[:CALLS]->(claims),
       (proxy)-[:STANDS_BEFORE]->(portal),
       (exchange)-[:CALLS]->(claims),
       (kim)-[:WORKS_ON]->(atlas)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    port = free_port()
    server = arcadedb.create_server(
        root_path=sys.argv[1],
        root_password=PASSWORD,
        config={
            "host": "127.0.0.1",
            "http_port": free_port(),
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": port,
        },
    )
    server.start()
    graph = server.create_database("graph")
    for name in ("Project", "System", "Person"):
        graph.schema.create_vertex_type(name)
    for name in ("BUILDS", "CALLS", "STANDS_BEFORE", "WORKS_ON"):
        graph.schema.create_edge_type(name)
    with graph.transaction():
        graph.command("opencypher", GRAPH)
    print(f"ready {port}", flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
