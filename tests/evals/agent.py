"""An agent that needs no model: reads the prompt on stdin, runs the commands of script.json through ./t, answers as it says there."""

import json
import os
import subprocess
import sys

prompt = sys.stdin.read()
with open(sys.argv[1], encoding="utf-8") as f:
    script = json.load(f)
for q in script["answers"]:
    assert f"- {q} (" in prompt, q
for command in script["commands"]:
    subprocess.run(["./t", *command], stdout=subprocess.DEVNULL, check=False)
if script.get("prints"):
    print("Thinking {of} it.\nHere: " + json.dumps(script["answers"]))
else:
    with open("answers.json", "w", encoding="utf-8") as f:
        json.dump(script["answers"], f)
assert os.path.exists("prompt.md")
