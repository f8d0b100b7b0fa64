"""Data frames over indices."""

import eland
from elasticsearch import Elasticsearch

from report import BASE, TOKEN, report

client = Elasticsearch(BASE, basic_auth=("any", TOKEN))
events = eland.DataFrame(client, "event", columns=["event", "blockNumber.num", "logIndex.num", "address"])
late = events[events["blockNumber.num"] > 300]

report(
    {
        "rows": lambda: len(events),
        "columns": lambda: sorted(events.columns),
        "rows that match": lambda: late.shape[0],
        "largest": lambda: int(events["blockNumber.num"].max()),
        "mean": lambda: round(float(events["blockNumber.num"].mean()), 6),
        "described": lambda: events[["blockNumber.num"]].describe().shape[0],
        "distinct values": lambda: int(events["blockNumber.num"].nunique()),
        "distinct texts": lambda: int(events["event"].nunique()),
        "frequent texts": lambda: [[name, int(count)] for name, count in events["event"].value_counts(2).items()],
        "copied to pandas": lambda: len(eland.eland_to_pandas(late)),
        "first rows": lambda: len(events.head(7)),
    }
)
