"""Asks the chain by the official client of the Model Context Protocol, over HTTP and standard input and output."""

import asyncio
import os

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from report import BASE, TOKEN, report

SERVER = BASE.removesuffix("/ethereum/demo/local/es")
FAILED = {"network": "ethereum/demo/local", "entity": "tx", "query": "status:false", "size": 1}


async def ask(streams):
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = await session.list_tools()
        found = await session.call_tool("search", FAILED)
        return [len(tools.tools), found.structured_content["total"]]


async def over_http():
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})
    async with streamable_http_client(f"{SERVER}/mcp", http_client=client) as streams:
        return await ask(streams)


async def over_stdio():
    args = [os.environ["PROGRAM"], "mcp", "--server", SERVER]
    started = StdioServerParameters(command=os.environ["NODE"], args=args, env={"CHAINSIEVE_TOKEN": TOKEN})
    async with stdio_client(started) as streams:
        return await ask(streams)


report({"http": lambda: asyncio.run(over_http()), "stdio": lambda: asyncio.run(over_stdio())})
