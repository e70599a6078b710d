#!/usr/bin/env python3
"""Answers a case in place of a model: the skill that shares most long words with the prompt."""
import json, re, sys

def words(text):
    return set(re.findall(r"\w{5,}", text.lower()))

case = json.load(sys.stdin)
shared = {s["name"]: len(words(case["prompt"]) & words(s["name"] + " " + s["description"])) for s in case["skills"]}
best = max(shared, key=shared.get, default=None)
json.dump({"skill": best if best and shared[best] else None}, sys.stdout)
