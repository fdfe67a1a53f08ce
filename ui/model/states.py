"""The states of the worker, and the actions that each of them allows."""

from __future__ import annotations

from verdigris.core.worker.protocol.worker_events import (
    DONE,
    FAILED,
    FINISHING,
    IDLE,
    PAUSED,
    PREPARING,
    REFINING,
    TRAINING,
)

START, PAUSE, RESUME, FINISH, CANCEL = "start", "pause", "resume", "finish", "cancel"
BUSY = (PREPARING, TRAINING, PAUSED, FINISHING)

_ALLOWED = {
    IDLE: (START,),
    PREPARING: (PAUSE, FINISH, CANCEL),
    TRAINING: (PAUSE, FINISH, CANCEL),
    PAUSED: (RESUME, FINISH, CANCEL),
    FINISHING: (CANCEL,),
    # a new bake ends it, and keeps what is written
    REFINING: (START,),
    DONE: (START,),
    FAILED: (START,),
}
# A state that cannot follow the present one comes from a message that is late.
_FOLLOWS = {
    IDLE: (IDLE, PREPARING, FAILED),
    PREPARING: (PREPARING, TRAINING, PAUSED, FINISHING, IDLE, FAILED),
    TRAINING: (TRAINING, PAUSED, FINISHING, IDLE, FAILED),
    PAUSED: (PAUSED, TRAINING, PREPARING, FINISHING, IDLE, FAILED),
    FINISHING: (FINISHING, REFINING, DONE, IDLE, FAILED),
    REFINING: (REFINING, DONE, IDLE, PREPARING, FAILED),
    DONE: (DONE, IDLE, PREPARING, FAILED),
    FAILED: (FAILED, IDLE, PREPARING),
}
LABELS = {
    IDLE: "Ready",
    PREPARING: "Preparing",
    TRAINING: "Training",
    PAUSED: "Paused",
    FINISHING: "Writing the result",
    REFINING: "Kept. Refining and measuring",
    DONE: "Done",
    FAILED: "Failed",
}


def allows(state: str, action: str) -> bool:
    return action in _ALLOWED[state]


def can_follow(state: str, after: str) -> bool:
    return state in _FOLLOWS[after]
