"""What a request holds beside the state: definitions as first sent, and what is news."""

from __future__ import annotations

from pathlib import Path

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.schemes.messages import Results, Sent


def stir(minutes: int) -> str:
    """Stir."""
    return "stirred"


def bake(minutes: int) -> str:
    """Bake."""
    return "baked"


def stir_well(minutes: int) -> str:
    """Stir.

    Never stops early.
    """
    return "stirred well"


def stir_with(minutes: int, spoon: str) -> str:
    """Stir with a spoon."""
    return f"stirred with {spoon}"


NEWS = "stir now says too:\nNever stops early."
stir_well.__name__ = stir_with.__name__ = "stir"


def begun(*tools: object, scheme: str = "flat") -> Session:
    """Return a session that stirred once, and then asks its model."""
    script = Scripted([("stir", {"minutes": 1}), "Done.", "Done again."])
    session = Session(Toolbox(*tools), script, scheme=scheme, approve="all").ask("Cook.")
    while not session.calls or session.calls[0].status != "succeeded":
        session.step()
    return session


def again(session: Session, *tools: object) -> Session:
    """Return the same session in a kernel where the tools are these."""
    made = Session(
        Toolbox(*tools),
        session.cursor.context.model,
        scheme="flat",
        approve="all",
        journal=session.journal,
    )
    return made.checkout(session.head)


def sent(session: Session) -> list[tuple[int, str, str]]:
    return [(one.turn, one.name, one.description) for one in session.cursor.request.first]


def test_definitions_are_there_as_first_sent_by_turn_and_name(tmp_path: Path) -> None:
    session = begun(stir, bake)
    assert sent(session) == [(0, "bake", "Bake."), (0, "stir", "Stir.")]
    assert isinstance(session.cursor.request.first[0], Sent)
    session.save(tmp_path / "session.jsonl")
    loaded = Session.load(tmp_path / "session.jsonl", Toolbox(bake, stir), approve="all")
    assert sent(loaded) == sent(session)


def test_a_tool_that_takes_other_arguments_is_sent_again() -> None:
    later = again(begun(stir), stir_with).run()
    assert sent(later) == [(0, "stir", "Stir."), (1, "stir", "Stir with a spoon.")]
    [event] = [e.event for e in later.journal if isinstance(e.event, Replied) and not e.event.calls]
    assert (list(event.offered), event.news) == (["stir"], "")


def test_a_tool_that_says_more_is_news_behind_the_results_told_once_and_kept() -> None:
    later = again(begun(stir), stir_well)
    request = later.cursor.request
    assert request.news == NEWS
    last = request.messages[-1]
    assert isinstance(last, Results)
    assert last.news == request.news
    later.run()
    assert later.ask("Once more.").cursor.request.news == ""
    assert later.cursor.request.messages[: len(request.messages)] == request.messages
    assert sent(later) == [(0, "stir", "Stir.")]


def test_a_replay_of_news_adds_no_entry() -> None:
    first = Session(Toolbox(stir), Scripted(["Hello.", "Done."]), scheme="flat").tell("Hello?")
    later = again(first, stir_well).tell("Cook.")
    [_, reply] = [e.event for e in later.journal if isinstance(e.event, Replied)]
    assert reply.news == NEWS
    count = len(later.journal)
    assert later.replay().run().head == later.head
    assert len(later.journal) == count


def test_what_is_news_goes_behind_a_prompt_where_no_result_is_due() -> None:
    first = begun(stir).run()
    later = again(first, stir_well).ask("Once more.")
    texts = [getattr(message, "text", "") for message in later.cursor.request.messages[-2:]]
    assert texts == ["Once more.", NEWS]
