"""Calls of the Python clients: a line of JSON for each. The package is CLIENT_NAME, its folder is on the path."""

import json
import os
import sys

BASE, TOKEN, TX, NAME = (os.environ[name] for name in ("BASE", "TOKEN", "TX", "CLIENT_NAME"))
TRANSFERS = {"query": {"bool": {"filter": [{"term": {"event.raw": "Transfer"}}]}}}

if NAME == "opensearch-py":
    from opensearchpy import OpenSearch as Client, helpers

    major = 7
    client = Client([BASE], http_auth=("any", TOKEN))
else:
    import elasticsearch
    from elasticsearch import Elasticsearch as Client, helpers

    major = elasticsearch.__version__[0]
    client = Client([BASE], http_auth=("any", TOKEN)) if major < 8 else Client(BASE, basic_auth=("any", TOKEN))


# Version 6 asks for the type of a document, too.
OF_TX = {"index": "tx", "id": TX, **({"doc_type": "tx"} if NAME == "elasticsearch" and major < 7 else {})}
NOWHERE = {**OF_TX, "id": "0x00"}


def total(answer):
    found = answer["hits"]["total"]
    return found if isinstance(found, int) else found["value"]


def refused(work):
    try:
        work()
        return "answered"
    except Exception as error:
        status = getattr(error, "status_code", None)
        return getattr(getattr(error, "meta", None), "status", status)


def scroll():
    page = client.search(index="tx", body={"size": 1000}, scroll="1m")
    found = 0
    while page["hits"]["hits"]:
        found += len(page["hits"]["hits"])
        page = client.scroll(body={"scroll_id": page["_scroll_id"], "scroll": "1m"})
    client.clear_scroll(body={"scroll_id": page["_scroll_id"]})
    return found


def point_in_time():
    if NAME == "opensearch-py":
        opened = client.create_pit(index="tx", params={"keep_alive": "1m"})["pit_id"]
    else:
        opened = client.open_point_in_time(index="tx", keep_alive="1m")["id"]
    found, after = 0, None
    while True:
        body = {
            "size": 1000,
            "pit": {"id": opened, "keep_alive": "1m"},
            "sort": [{"blockNumber.num": "asc"}, {"hash": "asc"}],
            **({"search_after": after} if after else {}),
        }
        hits = client.search(body=body)["hits"]["hits"]
        if not hits:
            break
        found += len(hits)
        after = hits[-1]["sort"]
    if NAME == "opensearch-py":
        client.delete_pit(body={"pit_id": [opened]})
    else:
        client.close_point_in_time(body={"id": opened})
    return found


def buckets(index, aggs, *path):
    found = client.search(index=index, body={"size": 0, "aggs": aggs})["aggregations"]
    for name in path:
        found = found[name]
    return found["buckets"]


def msearch():
    lines = [{"index": "event"}, {**TRANSFERS, "size": 0}, {"index": "tx"}, {"size": 1}]
    answer = client.msearch(searches=lines) if major >= 8 else client.msearch(body=lines)
    return [total(one) for one in answer["responses"]]


CALLS = {
    "info": lambda: client.info()["tagline"],
    "ping": lambda: client.ping(),
    "search": lambda: total(client.search(index="event", body={**TRANSFERS, "size": 2})),
    "search of several": lambda: total(client.search(index=["tx", "block"], body={"size": 0})),
    "search of the whole name": lambda: total(client.search(index="ethereum-demo-local-tx", body={"size": 0})),
    "search by a pattern": lambda: total(client.search(index="ethereum-demo-local-t*", body={"size": 0})),
    "search by q": lambda: total(client.search(index="event", q="event:transfer")),
    "search in order": lambda: [
        hit["_id"]
        for hit in client.search(
            index="tx", body={"size": 2, "sort": [{"blockNumber.num": "asc"}, {"transactionIndex.num": "asc"}]}
        )["hits"]["hits"]
    ],
    "count": lambda: client.count(index="event", body=TRANSFERS)["count"],
    "get": lambda: client.get(**OF_TX)["_source"]["hash"],
    "get what is not there": lambda: refused(lambda: client.get(**NOWHERE)),
    "exists": lambda: bool(client.exists(**OF_TX)),
    "existsSource": lambda: bool(client.exists_source(**OF_TX)),
    "getSource": lambda: client.get_source(**OF_TX)["hash"],
    "mget": lambda: [one["found"] for one in client.mget(index="tx", body={"ids": [TX, "0x00"]})["docs"]],
    "msearch": msearch,
    "scroll": scroll,
    "helpers.scan": lambda: len(list(helpers.scan(client, index="tx", query={"query": {"match_all": {}}}))),
    "point in time": point_in_time,
    "terms with avg inside": lambda: [
        [one["key"], one["doc_count"], one["mean"]["value"]]
        for one in buckets(
            "event",
            {
                "names": {
                    "terms": {"field": "event.raw", "size": 2},
                    "aggs": {"mean": {"avg": {"field": "blockNumber.num"}}},
                }
            },
            "names",
        )
    ],
    "date_histogram": lambda: [
        [one["key"], one["doc_count"]]
        for one in buckets("tx", {"hours": {"date_histogram": {"field": "timestamp", "fixed_interval": "1h"}}}, "hours")
    ],
    "nested terms": lambda: [
        [one["key"], one["doc_count"]]
        for one in buckets(
            "event",
            {"args": {"nested": {"path": "args"}, "aggs": {"names": {"terms": {"field": "args.name", "size": 2}}}}},
            "args",
            "names",
        )
    ],
    "a query that is not known": lambda: refused(lambda: client.search(index="tx", body={"query": {"foo": {}}})),
    "an index that is not there": lambda: refused(lambda: client.search(index="nope", body={})),
    "indices.exists": lambda: bool(client.indices.exists(index="tx")),
    "indices.getMapping": lambda: list(client.indices.get_mapping(index="tx")),
    "fieldCaps": lambda: list(client.field_caps(index="tx", fields=["timestamp"])["fields"]["timestamp"]),
    "cat.indices": lambda: len(client.cat.indices(format="json")),
    "cluster.health": lambda: client.cluster.health()["timed_out"],
}

if major < 7:
    # Version 6 knows no points in time.
    del CALLS["point in time"]

for call, run in CALLS.items():
    try:
        line = {"call": call, "value": run()}
    except Exception as error:
        line = {"call": call, "error": f"{type(error).__name__}: {error}"[:400]}
    print(json.dumps(line))
    sys.stdout.flush()
