"""A worker that answers as its first argument says, and notes its commands in a file."""

import json
import sys
from pathlib import Path

behaviour, notes = sys.argv[1:]


def send(**event):
    print(json.dumps(event), flush=True)


def step(number):
    send(event="plan", parts=[{"name": "training", "first": 0, "last": 100}])
    send(event="phase", name="training", number=1, count=1)
    send(
        event="step",
        step=number,
        steps=100,
        loss=0.5,
        samples_per_second=1.0,
        seconds=1.0,
        seconds_left=5.0,
    )


with Path(notes).open("a") as file:
    while line := sys.stdin.buffer.readline():
        command = json.loads(line)
        sys.stdin.buffer.read(command.pop("bytes", 0))
        file.write(json.dumps(command) + "\n")
        file.flush()
        kind = command["command"]
        if kind == "hello":
            send(event="hello", protocol=command["protocol"], verdigris="0", python="", process=0)
        if kind == "open" and behaviour == "refuses":
            problem = {"name": command["material"], "problem": "no such node: replace it"}
            send(event="opened", name="", chosen="", materials=[problem], device="", trainer="")
        elif kind == "open":
            send(event="opened", name="", chosen=command["material"], materials=[])
        if kind == "link" and command.get("is_on", True):
            send(event="linked", address="ws://127.0.0.1:8749/?token=key", page="", clients=1)
        if kind == "start":
            send(event="state", state="training", doing="Compiling", patience=2)
            send(event="started", step=0, steps=100)
            step(25)
            if behaviour == "fails":
                send(event="error", command="start", text="the disk is full: free space")
            if behaviour == "dies":
                print("out of luck", file=sys.stderr)
                sys.exit(3)
            if behaviour == "bakes":
                bundle = f"{command['folder']}/{command['name']}.vdg"
                send(event="finished", results=[bundle], step=100, textures=[], stopped_by="steps")
        if kind == "quit":
            break
