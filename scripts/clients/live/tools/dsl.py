"""Searches, documents and facets of elasticsearch-dsl."""

from elasticsearch_dsl import A, Document, FacetedSearch, Index, Mapping, Q, Search, TermsFacet, connections

from report import BASE, TOKEN, report

client = connections.create_connection(hosts=[BASE], basic_auth=("any", TOKEN))


class Event(Document):
    class Index:
        name = "event"


class Events(FacetedSearch):
    index = "event"
    fields = ["event", "address"]
    facets = {"name": TermsFacet(field="event.raw")}


def searched():
    return Search(index="event").query("match", event="transfer")


def names():
    found = Search(index="event").extra(size=0)
    found.aggs.bucket("names", A("terms", field="event.raw", size=2)).metric("block", "max", field="blockNumber.num")
    return [[bucket.key, bucket.doc_count, bucket.block.value] for bucket in found.execute().aggregations.names.buckets]


def facets():
    found = Events("transfer").execute()
    return [found.hits.total.value, str(found.facets.name[0][0]), bool(found[0].meta.highlight.event)]


report(
    {
        "count": lambda: searched().count(),
        "page": lambda: [hit.event for hit in searched()[:2]],
        "scan": lambda: sum(1 for _ in Search(index="event").source(["event"]).scan()),
        "point in time": lambda: sum(1 for _ in Search(index="tx").params(size=500).source(False).iterate(keep_alive="1m")),
        "nested": lambda: Search(index="event").query("nested", path="args", query=Q("term", args__name="value")).count(),
        "buckets": names,
        "faceted search": facets,
        "documents": lambda: Event.search().filter("term", **{"event.raw": "Sync"}).count(),
        "mapping by the name that was asked for": lambda: "blockHash" in Mapping.from_es("event").to_dict()["properties"],
        "settings by the name that was asked for": lambda: list(Index("event").get_settings()),
    }
)
