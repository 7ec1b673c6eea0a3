"""Reads events of --progress json, refuses what docs/output.md does not promise, and prints
a line each; where an argument says progress, that of each phase too, once. When it is told
of depends on how fast the machine is."""

import datetime
import json
import re
import sys

number = (int, float)
members = {
    "progress": {"phase": str, "samples": int, "bytes": int, "total_bytes": int, "seconds": number, "fraction": number},
    "begun": {"name": str},
    "shard": {"name": str, "samples": int, "bytes": int, "seconds": number, "first": bool},
    "waiting": {"for": str},
    "signal": {"signal": str, "grace_seconds": number},
    "error": {"status": int, "message": str},
    "done": {"done": bool, "out": str},
}


def once(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key comes twice: {pairs}"
    return dict(pairs)


def refuse(what):
    raise ValueError(what)


phase = None
done = 0
for line in sys.stdin.buffer:
    text = line.decode("utf-8")
    assert text.endswith("\n") and text[:-1].isprintable(), repr(text)
    event = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    name, time = event.pop("event"), event.pop("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time), time
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(time[:-1] + "+00:00")
    assert datetime.timedelta(0) <= age < datetime.timedelta(hours=1), age
    assert list(event)[: len(members[name])] == list(members[name]) or name == "done", event
    for key, kind in members[name].items():
        assert isinstance(event[key], kind) and (kind is bool or event[key] is not True), (key, event[key])
    if name == "progress":
        assert 0 <= event["bytes"] and event["samples"] >= 0 and event["seconds"] >= 0
        assert event["bytes"] <= event["total_bytes"] or event["total_bytes"] == 0
        assert 0 <= event["fraction"] <= 1 and 0 <= event.get("shards", 0) <= event.get("total_shards", 0)
        if event["phase"] != phase and "progress" in sys.argv:
            print(name, event["phase"])
        phase = event["phase"]
    elif name == "begun":
        print(name, event["name"])
    elif name == "shard":
        assert event["bytes"] > 0 and event["seconds"] > 0
        print(name, event["name"], event["samples"], event["first"])
    elif name == "signal":
        print(name, event["signal"], event["grace_seconds"])
    elif name == "error":
        print(name, event["status"], event["message"])
    else:
        assert event["done"] is True
        print(name, event["out"], event.get("samples"), event.get("shards"))
    assert not done, "something comes after the last word"
    done = name == "done"
