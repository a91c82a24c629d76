"""A coding agent, as far as the protocol sees one: the client from PyPI, in its newest dialect.

`python agent.py '{"folder", "program", "url"?, "keys"?}'`; without a url the program is started over stdio.
"""

import asyncio
import json
import os
import subprocess
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

TOLD = json.loads(sys.argv[1])


def server(folder):
    if "url" in TOLD:
        key = TOLD["keys"]["agent"]
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=30)
        return streamable_http_client(TOLD["url"], http_client=http)
    arguments = ["mcp", "--in", folder, "--as", "agent", "--no-decisions"]
    return stdio_client(
        StdioServerParameters(command=TOLD["program"], args=arguments, env=dict(os.environ))
    )


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, (name, result.content)
    return result.structured_content


async def refused(client, name, code, **arguments):
    result = await client.call_tool(name, arguments)
    assert result.is_error, (name, result.structured_content)
    problem = json.loads(result.content[0].text)
    assert problem["code"] == code, problem


async def drive(client):
    assert client.protocol_version == "2026-07-28", client.protocol_version
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"start_run", "next_step", "submit_reply"} <= names
    started = await call(client, "start_run", protocol="demo")
    run = started["run"]
    step = await call(client, "next_step", run=run)
    wrong = await call(client, "submit_reply", run=run, action=step["action"], text="I would rather not.")
    assert wrong["accepted"] is False and wrong["violations"], wrong
    points = ["A model proposes, a contract decides", "Everything is recorded", "Whoever asks can prove it"]
    reply = {"points": points}
    taken = await call(client, "submit_reply", run=run, action=wrong["action"], reply=reply)
    assert taken["accepted"] and taken["phase"] == "draft", taken
    body = "\n\n".join(f"{point}, which is written here at some length." for point in points)
    # Prose around the object is what this contract lets pass.
    text = "Here it is:\n```json\n" + json.dumps({"title": "The second signature", "body": body}) + "\n```"
    draft = await call(client, "submit_reply", run=run, version=taken["version"], text=text)
    assert draft["accepted"] and draft["waits"][0]["who"] == ["ann"], draft
    wait = draft["waits"][0]["id"]
    assert draft["waits"][0]["subject"]["parts"][0]["value"]["body"] == body, draft
    # While a person decides, nobody changes what is decided on.
    patch = json.dumps({"merge": {"draft": {"title": "Mine", "body": "Mine"}}})
    await refused(client, "submit_reply", "patch_not_expected", run=run, version=draft["version"], text=patch)
    if "url" in TOLD:
        await refused(client, "approve", "not_assignee", run=run, wait=wait)
    else:
        assert "approve" not in names and "deny" not in names
        await refused(client, "approve", "decisions_off", run=run, wait=wait)
    subprocess.run(
        [TOLD["program"], "approve", f"{run}/{wait}", "--as", "ann"],
        cwd=TOLD["folder"], check=True, capture_output=True,
    )
    for _ in range(50):
        seen = await call(client, "show_run", run=run)
        if seen["status"] == "completed":
            break
    assert seen["status"] == "completed", seen
    read = await client.read_resource(f"countersign://runs/{run}")
    assert json.loads(read.contents[0].text)["status"] == "completed"


async def main():
    async with Client(server(TOLD["folder"])) as client:
        await drive(client)


asyncio.run(main())
