"""What the tests of CodeGuru profiles share: the examples of the description, and the way to SPAA and back."""

import collections
import json

from conftest import run
from gen_codeguru import Num

ON_CPU = """{
  "start": 1711234567000,
  "end": 1711234577000,
  "agentMetadata": {
    "sampleWeights": { "RUNNABLE": 16063.4 },
    "durationInMs": 10000,
    "fleetInfo": { "fleetInstanceId": "ip-10-0-1-42", "hostType": "unknown" },
    "agentInfo": { "type": "profile-bee", "version": "0.3.7" },
    "numTimesSampled": 160634
  },
  "callgraph": {
    "children": {
      "my_server": {
        "children": {
          "handle_request": {
            "children": {
              "parse_json": { "counts": { "RUNNABLE": 5000 } },
              "db_query": { "counts": { "RUNNABLE": 3000 } }
            }
          }
        }
      }
    }
  }
}
"""
OFF_CPU = """{
  "start": 1711234567000,
  "end": 1711234577000,
  "agentMetadata": {
    "sampleWeights": { "WAITING": 500.0 },
    "durationInMs": 10000,
    "fleetInfo": { "fleetInstanceId": "ip-10-0-1-42", "hostType": "unknown" },
    "agentInfo": { "type": "profile-bee", "version": "0.3.7" },
    "numTimesSampled": 5000
  },
  "callgraph": {
    "children": {
      "my_server": {
        "children": {
          "handle_request": {
            "children": {
              "db_query": {
                "children": {
                  "io_wait_[k]": { "counts": { "WAITING": 3000 } }
                }
              }
            }
          }
        }
      }
    }
  }
}
"""


def numbers(text):
    """JSON with numbers as their text."""
    return json.loads(text, parse_float=Num, parse_int=Num, parse_constant=None)


def to_spaa(text, *more, **how):
    """The records of a text as SPAA, and its bytes."""
    answer = run("convert", "-", "--to", "spaa", "-o", "-", *more, stdin=text, code=how.pop("code", 0), **how)
    return [json.loads(line, parse_float=Num, parse_int=Num) for line in answer.out.splitlines()], answer.raw


def back(raw, *more):
    return run("convert", "-", "--to", "codeguru", "-o", "-", *more, stdin=raw, code=0).raw.decode()


def stacks(records):
    """{(path from the root, state): weight text}, by the keys that frames came from."""
    frames = {r["id"]: r for r in records if r["type"] == "frame"}
    out = collections.Counter()
    for r in records:
        if r["type"] == "stack":
            path = tuple(frames[f].get("x_codeguru", {}).get("name", frames[f]["func"]) for f in r["frames"][::-1])
            key = path, r["context"].get("x_state")
            assert key not in out
            out[key] = r["weights"][0]["value"]
    return dict(out)
