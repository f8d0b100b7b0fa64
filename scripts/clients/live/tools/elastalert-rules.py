"""Rules of ElastAlert 2, tried over two hours as its users do before they deploy them: nothing is written."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

from report import BASE, TOKEN, WORK, report

url = urlparse(BASE)
config = Path(WORK, "config.yaml")
config.write_text(
    json.dumps(
        {
            **{"rules_folder": WORK, "run_every": {"minutes": 5}, "buffer_time": {"hours": 3}, "max_query_size": 5000},
            **{"es_host": url.hostname, "es_port": url.port, "es_url_prefix": url.path.lstrip("/")},
            **{"es_username": "any", "es_password": TOKEN, "writeback_index": "unused"},
        }
    )
)


def tried(name, rule):
    """Hits that the rule reads, and matches that it finds."""
    file = Path(WORK, f"{name}.yaml")
    common = {"name": name, "index": "event", "alert": ["debug"], "timestamp_field": "timestamp"}
    file.write_text(json.dumps({**common, **rule}))
    command = [str(Path(sys.executable).with_name("elastalert-test-rule")), "--config", str(config)]
    span = ["--start", "2025-01-01T00:00:00", "--end", "2025-01-01T02:00:00", "--formatted-output"]
    done = subprocess.run([*command, *span, str(file)], capture_output=True, text=True, timeout=60, cwd=WORK)
    found = json.loads(done.stdout[done.stdout.index("{") :])
    return [found["hits"], found["writeback"].get("elastalert_status", {}).get("matches")]


SYNCS = [{"term": {"event.raw": "Sync"}}]

report(
    {
        "any": lambda: tried("any", {"type": "any", "filter": SYNCS}),
        "frequency": lambda: tried(
            "frequency", {"type": "frequency", "num_events": 100, "timeframe": {"hours": 1}, "filter": SYNCS}
        ),
        "cardinality": lambda: tried(
            "cardinality",
            {
                **{"type": "cardinality", "cardinality_field": "address.raw", "max_cardinality": 1},
                **{"timeframe": {"hours": 2}, "filter": SYNCS},
            },
        ),
        "spike": lambda: tried(
            "spike",
            {
                **{"type": "spike", "spike_height": 2, "spike_type": "both", "timeframe": {"minutes": 10}},
                **{"filter": SYNCS},
            },
        ),
        "new term": lambda: tried(
            "new", {"type": "new_term", "fields": ["event.raw"], "terms_window_size": {"minutes": 30}}
        ),
        "blacklist": lambda: tried(
            "blacklist", {"type": "blacklist", "compare_key": "event.raw", "blacklist": ["Sync"]}
        ),
    }
)
