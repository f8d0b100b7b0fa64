"""Documents for a language model: retrievers and the store that ranks by BM25."""

from elasticsearch import Elasticsearch
from langchain_elasticsearch import BM25Strategy, ElasticsearchRetriever, ElasticsearchStore

from report import BASE, TOKEN, report

client = Elasticsearch(BASE, basic_auth=("any", TOKEN))


def retriever(index, content, body):
    return ElasticsearchRetriever(index_name=index, body_func=body, content_field=content, client=client)


def by_name(word):
    return {"query": {"match": {"event": word}}, "size": 4}


def of_several(word):
    return {"query": {"multi_match": {"query": word, "fields": ["event", "method"], "lenient": True}}, "size": 6}


store = ElasticsearchStore(
    index_name="event", client=client, strategy=BM25Strategy(), query_field="event", vector_query_field=None
)

report(
    {
        "retriever": lambda: [found.page_content for found in retriever("event", "event", by_name).invoke("transfer")],
        "retriever over two indices": lambda: len(
            retriever(["event", "call"], {"ethereum-demo-local-event": "event", "ethereum-demo-local-call": "method"}, of_several).invoke("transfer")
        ),
        "store": lambda: len(
            store.similarity_search("transfer", k=3, filter=[{"range": {"blockNumber.num": {"lte": 100}}}])
        ),
    }
)
