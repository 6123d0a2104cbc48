"""A person's word is good for one effect, on whatever branch it is acted on."""

from __future__ import annotations

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn


class Post:
    """A tool with an effect, and a session at its first pause."""

    def __init__(self) -> None:
        self.sent: list[int] = []

        def send(n: int) -> str:
            """Send."""
            self.sent.append(n)
            return f"sent {n}"

        turns = [("send", {"n": 1}), [("send", {"n": 2}), ("send", {"n": 3})], "done"]
        self.session = Session(Toolbox(send), Scripted(turns), scheme="flat").tell("Go.")


def waiting(session: Session) -> list[str]:
    return [call.id for call in session.pending]


def test_of_two_forks_behind_an_approval_one_acts_on_it_and_the_other_asks() -> None:
    post = Post()
    session = post.session.decide("call_1")
    fork = session.fork()
    assert waiting(session.run()) == ["call_2_1", "call_2_2"]
    assert waiting(fork.run()) == ["call_1"]
    assert post.sent == [1]
    fork.decide("call_1").run()
    assert post.sent == [1, 1]


def test_an_approval_that_a_replay_carries_along_is_spent_where_it_came_from() -> None:
    post = Post()
    session = post.session.decide("call_1").run().decide("call_2_2")
    edited = session.edit("call_1", n=7).run()
    assert waiting(edited) == ["call_2_1"]
    edited.decide("call_2_1").run()
    assert (post.sent, edited.text) == ([1, 7, 2, 3], "done")
    session.decide("call_2_1").run()
    assert (post.sent, waiting(session)) == ([1, 7, 2, 3, 2], ["call_2_2"])
    session.decide("call_2_2").run()
    assert (post.sent, session.text) == ([1, 7, 2, 3, 2, 3], "done")


def test_a_recorded_approval_is_spent_also_where_a_fork_drops_what_came_of_it() -> None:
    post = Post()
    session = post.session.decide("call_1").run()
    session.decide("call_2_1").decide("call_2_2").run()
    again = session.edit("call_1", n=7)
    while "call_2_2" not in {c.id for c in again.calls if c.status == "approved"}:
        again.step()
    sent, fork = [*post.sent], again.fork().run()
    assert waiting(fork) == ["call_2_1", "call_2_2"]
    assert post.sent == sent


def test_a_decision_that_is_made_again_is_repeated_in_a_replay() -> None:
    post = Post()
    session = post.session.decide("call_1")
    fork = session.fork()
    session.run()
    fork.decide("call_1").run()
    count = len(fork.journal)
    assert fork.replay().run().head == fork.head
    assert (len(fork.journal), post.sent) == (count, [1, 1])


def test_a_word_is_not_taken_twice_before_it_is_acted_on() -> None:
    session = Post().session.decide("call_1")
    with pytest.raises(NotYourTurn, match="decided on already"):
        session.decide("call_1")
