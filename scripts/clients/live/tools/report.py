"""What the scripts of the Python tools share."""

import json
import os
import sys

BASE, TOKEN, WORK = (os.environ[name] for name in ("BASE", "TOKEN", "WORK"))
ELASTICSEARCH = os.environ.get("ELASTICSEARCH")


def report(calls):
    """Makes the calls in their order, and prints a line of JSON for each."""
    for call, run in calls.items():
        try:
            line = {"call": call, "value": run()}
        except Exception as error:
            line = {"call": call, "error": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps(line), flush=True)
