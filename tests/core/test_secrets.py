"""What is secret in the environment is in nothing that is kept, shown, or sent to a panel."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Tool, Toolbox
from jupyter_toolcall.core.errors import ModelError, ToolcallError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.core.secrets import Secrets, hiding, is_named_secret, marker_keys
from jupyter_toolcall.export import FORMATS
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.schemes.messages import Reply, Request, Results
from jupyter_toolcall.tools.tool import Changed
from jupyter_toolcall.view.contract import Notice
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import ViewRows
from tests.environments import ENVIRONMENTS
from tests.example_tools import run_calls

CANARY = "sk-canary-0123456789abcdef"
NAME = "SOME_API_KEY"
MARKER = f"{{secret:{NAME}}}"


@dataclass(frozen=True)
class Letter:
    text: str


class Spy:
    """A model that notes what it is sent."""

    def __init__(self, *replies: Any) -> None:
        self.told: list[Request] = []
        self.script = Scripted([*replies])

    def __call__(self, request: Request) -> Reply | None:
        self.told.append(request)
        return self.script(request)


def posting(*script: Any, **options: Any) -> tuple[Session, list[Any]]:
    """Return a session with a tool that posts texts, and what that tool really gets."""
    got = list[Any]()

    def post(text: str, how: str = "return") -> str:
        got.append(text)
        print(f"posted {text}")
        if how == "raise":
            raise ValueError(f"401 with {text}")
        return f"posted: {text}"

    def write(to: str) -> Letter:
        """Write it down in an object."""
        return Letter(f"dear {to}, {CANARY}")

    model = options.pop("model", Scripted([*script, "done"]))
    return Session(Toolbox(post, write, Letter), model, scheme="flat", **options), got


@pytest.fixture(autouse=True)
def _with_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, CANARY)


def send(text: str) -> int:
    return len(text)


def kept(session: Session, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Yield all that is kept and shown of a session, by what it is."""
    yield "journal", session.journal.dumps()
    session.save(tmp_path / "saved.jsonl")
    yield "file", (tmp_path / "saved.jsonl").read_text()
    root = session.journal.path(session.head)[0].id
    rows = ViewRows().whole(session.cursor, SessionRow())
    yield "notebook", json.dumps(mime_bundle(session.cursor, rows, root))
    yield "messages", repr(session.requests)
    for name in FORMATS:
        yield name, session.export(tmp_path / name, to=name).read_text()


# -- which names, which values ---------------------------------------------------------------


SECRET = (
    *("ANTHROPIC_API_KEY", "GH_TOKEN", "db_password", "KEY", "MY_SECRET_2"),
    *("PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "SLACK_WEBHOOK_URL", "LDAP_PASS"),
    *("PASSPHRASE", "API_KEYS", "AUTH_HEADER", "SENTRY_DSN", "apiKey", "CI_JOB_JWT"),
    *("AUTHTOKEN", "SESSION_COOKIE", "AWS_CREDENTIALS", "npm_config__authToken", "API_TOKENS"),
)
ORDINARY = (
    *("KEYBOARD", "monkey", "tokens_spent_on", "PATH", "passenger", "TOKENIZERS_PARALLELISM"),
    *("PWD", "OLDPWD", "GIT_AUTHOR_NAME", "GIT_ASKPASS", "COMPASS"),
    *("AUTHOR", "PATTERN", "LESSKEY", "CI_COMMIT_AUTHOR", "AUTH0_DOMAIN"),
)


@pytest.mark.parametrize("name", [*SECRET, *ORDINARY])
def test_names_of_secrets_are_recognised_by_a_whole_part(name: str) -> None:
    assert is_named_secret(name) is (name in SECRET)
    assert (CANARY in hiding({name: CANARY})(f"it is {CANARY}.")) is (name in ORDINARY)


@pytest.mark.parametrize(
    "value",
    [
        CANARY,
        *("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "/9j/4AAQSkZJRgABAQEAYABgAAD"),
        *("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJ"),
        *("abcdefghijklmnop", "c0rrect-h0rse-battery", "P@ssw0rd1234"),
        'with "quotes" & <signs> 9x',
        "b7f0f1f2-8d5e-4a55-9d5c-0f1e2d3c4b5a",
    ],
)
def test_a_long_value_of_a_secrets_variable_is_hidden(value: str) -> None:
    hide = hiding({NAME: value})
    assert hide(f"it is {value}.") == f"it is {MARKER}."
    for written in (json.dumps(f"it is {value}."), repr(f"it is {value}.")):
        assert value.replace('"', '\\"') not in hide(written)


@pytest.mark.parametrize(
    "value",
    [
        *("short-1", "elevenchars", "/run/user/1000/keyring/ssh", "/tmp/ssh-XXabAB12/agent.123"),
        *("~/.ssh/id_rsa_2048", "C:\\Users\\ann\\key-1a2b", "./creds/x1y2z3q4.json"),
        *("creds/service-account-1a2b.json", "1234567890123", "2026-01-01T00:00:00Z"),
        *("ann.lee-1985@example.org", "correct horse battery staple", "production-database"),
        *("eu-central-1", "customerOrderNumber", "auth.internal.example.com"),
        "https://login.example.org/oauth2/v2.0/token",
        "postgres://runner:postgres@db:5432/x1y2z3",
    ],
)
def test_short_values_paths_numbers_addresses_and_words_are_no_secrets(value: str) -> None:
    assert hiding({NAME: value, "PGPASSWORD": value})(f"it is {value}.") == f"it is {value}."


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("DATABASE_URL", "postgres://ann:s3cr3t-pw-01a@db:5432/x", "s3cr3t-pw-01a"),
        ("HTTP_PROXY", "http://ann:s3cr3t-pw-01a@proxy:8080", "s3cr3t-pw-01a"),
        ("REDIS", "redis://:s3cr3t%40pw-01a@db/0", "s3cr3t@pw-01a"),
        ("PIP_EXTRA_INDEX_URL", "https://a.org/ https://u:s3cr3t-pw-01a@b.org/", "s3cr3t-pw-01a"),
        ("REMOTE", "https://ghp_16C7e42F292c6912E77@github.com/a/b", "ghp_16C7e42F292c6912E77"),
        ("SENTRY_DSN", "https://0a1b2c3d4e5f6071@o1.ingest.sentry.io/42", "0a1b2c3d4e5f6071"),
        ("BLOBS", "https://x.blob.org/c?sv=1&sig=abC123dEf456%3D", "abC123dEf456="),
        ("STORE", "Host=sb;SharedAccessKey=abC123dEf456gH=;X=1", "abC123dEf456gH="),
        ("DSN", "host=db password='s3cr3t-pw-01a' user=x", "s3cr3t-pw-01a"),
        ("AUTH_HEADER", "Bearer abcdef1234567890", "abcdef1234567890"),
        ("SLACK_WEBHOOK_URL", *["https://hooks.slack.com/services/T0/B0/x1Y2z3W4"] * 2),
    ],
)
def test_a_password_inside_a_longer_text_is_the_secret(name: str, value: str, secret: str) -> None:
    hide = hiding({name: value})
    assert hide(f"login with {secret}, failed").startswith(f"login with {{secret:{name}")
    assert secret not in hide(f"connecting to {value}")


# -- ordinary texts ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_what_is_no_secret_in_a_real_environment_is_shown_as_it_is(kind: str) -> None:
    known = ENVIRONMENTS[kind]
    hide = hiding(known.variables)
    for name, value in known.variables.items():
        assert (hide(value) == value) is (name not in known.secrets), name


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_ordinary_outputs_are_unchanged_under_a_real_environment(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = ENVIRONMENTS[kind]

    def build(target: str) -> dict[str, Any]:
        print("collected 12 items, 3 passed; wrote /home/runner/work/_temp/report-1a2b.json")
        public = {k: v for k, v in known.variables.items() if k not in known.secrets}
        return {"target": target, "sha": "3f786850e387550fdab836ed7e6dc881de23001b", **public}

    def run() -> str:
        said = ["I build postgres for ann.lee@example.org.", ("build", {"target": "eu-central-1"})]
        session = Session(Toolbox(build), Scripted([said, "done"]), scheme="flat", approve="all")
        session.cursor.context.clock = lambda: 0.0
        return session.tell("Build /builds/ann-lee/potatoes.").journal.dumps()

    plain = run()
    for name, value in known.variables.items():
        monkeypatch.setenv(name, value)
    assert run() == plain


# -- everything that is kept or shown ----------------------------------------------------------


def test_a_secret_said_anywhere_is_kept_and_shown_nowhere(tmp_path: Path) -> None:
    model = Spy(
        [f"I use {CANARY}.", ("post", {"text": CANARY})],
        [("post", {"text": f"key={CANARY}", "how": "raise"})],
        ("write", {"to": "you"}),
        f"Done with {CANARY}",
    )
    session, got = posting(model=model, system=f"The key is {CANARY}.")
    session.tell(f"Post {CANARY}.")
    session.decide("call_1").run()
    edited = {"text": f"{CANARY}!", "how": "raise"}
    session.decide("call_2", "edit", arguments=edited, reason=f"since {CANARY}").run()
    session.decide("call_3").run()
    # The tools got the value, and so did the model of what the person and itself had said.
    assert got == [CANARY, f"{CANARY}!"]
    last = model.told[-1]
    assert CANARY in last.system
    said = [message for message in last.messages if not isinstance(message, Results)]
    assert [CANARY in repr(message) for message in said] == [True, True, True, False]
    # What tools came to is told with the marker; the live value is as it was made.
    came = [message for message in last.messages if isinstance(message, Results)]
    assert CANARY not in repr(came)
    assert MARKER in repr(came)
    assert CANARY in session["Letter#1"].text
    session.name_branch(f"with {CANARY}")
    for what, text in kept(session, tmp_path):
        assert CANARY not in text, what
        assert NAME in text or what in ("dot", "svg"), what


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_base64_of_a_secret_is_hidden_whatever_stands_before_it(before: str) -> None:
    text = b64encode(f"{before}{CANARY}:".encode()).decode()
    hidden = Secrets().hide(text)
    assert f"{NAME}#base64.{len(before) % 3}}}" in hidden
    assert Secrets().reveal(hidden, marker_keys(hidden)) == text


def test_a_secret_never_crosses_the_wire_to_a_panel() -> None:
    sent = list[Any]()
    turns = [[f"I use {CANARY}.", ("post", {"text": CANARY})], f"Done with {CANARY}"]
    session, got = posting(*turns)

    def tell(notice: Notice) -> None:
        sent.append(sendable_data(notice))

    drive = PanelController(session.ask(f"Post {CANARY}."), tell)
    for letter in f"I use {CANARY}":
        drive.updates.stream(letter)
        assert CANARY[:4] not in repr(sent)
    drive.updates.wait_for_model(f"busy: {CANARY}")
    drive.run_to_pause()
    drive.receive({"type": "approve", "call": "call_1", "approval_digest": ""})
    drive.session = drive.session.decide("call_1").run()
    drive.publish("failed", detail=f"401 {CANARY}")
    drive.greet()
    assert got == [CANARY]
    assert CANARY not in json.dumps(sent)
    assert MARKER in json.dumps(sent)


def test_what_a_model_says_of_a_secret_when_it_fails_is_hidden() -> None:
    def down(request: Request) -> Reply:
        raise ModelError(f"401: the key {CANARY} is not valid")

    session, _ = posting(model=down)
    with pytest.raises(ModelError) as caught:
        session.tell("Go.")
    assert str(caught.value) == f"401: the key {MARKER} is not valid"


def test_a_secret_in_the_id_or_the_tool_of_a_call_is_hidden() -> None:
    calls = (Call(CANARY, "post", {"text": "x"}), Call(CANARY, CANARY, {}))
    replies = [Reply("", calls, "tools"), Reply("", calls, "tools"), Reply("done")]
    session, _ = posting(model=lambda _: replies.pop(0), approve="all")
    session.tell("Go.")
    assert CANARY not in session.journal.dumps()
    assert len(session.calls) == 4


def test_what_the_provider_sent_goes_back_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    value = 'p4ss "quoted" & <b>\\ä'
    monkeypatch.setenv(NAME, value)
    raw = {"thinking": f"x {value}", "input": json.dumps({"text": value}), "text": MARKER}
    told = list[Request]()

    def model(request: Request) -> Reply:
        told.append(request)
        return Reply("one", raw=raw) if not request.turn else Reply("two")

    session = posting(model=model)[0].tell("One.").tell("Two.")
    assert value not in json.loads(json.dumps(session.journal.dumps()))
    assert [m.raw for m in told[-1].messages if hasattr(m, "raw")] == [raw]


# -- markers that stand for nothing ------------------------------------------------------------


def test_a_marker_that_a_model_writes_beside_a_real_secret_is_never_a_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "other-9876543210-fedcba")
    text = f"{CANARY} {MARKER} {{secret:OTHER_TOKEN}}"
    session, got = posting(("post", {"text": text}), approve="all")
    session.tell(f"Post {MARKER}.")
    assert got == [text]
    assert CANARY not in session.journal.dumps()
    assert "other-9876543210" not in session.journal.dumps()


def test_a_marker_that_a_person_writes_in_a_prompt_or_an_edit_is_never_a_value() -> None:
    model = Spy(("post", {"text": "x"}), "done")
    session, got = posting(model=model, system=MARKER)
    session.tell(f"Post {MARKER}.").decide("call_1", "edit", arguments={"text": MARKER}).run()
    assert got == [MARKER]
    assert CANARY not in repr(model.told)
    assert MARKER in repr(model.told[0].messages[0])


@pytest.mark.parametrize("approve", ["all", "ask"])
@pytest.mark.parametrize("decided", ["", "approve", "edit"])
@pytest.mark.parametrize("replays", [False, True])
def test_a_journal_from_elsewhere_gets_no_value_by_saying_that_its_markers_stand_for_one(
    approve: str, decided: Any, replays: bool, tmp_path: Path
) -> None:
    first, got = posting(("post", {"text": CANARY}), system=CANARY)
    first.tell(f"Post {CANARY}.")
    if decided:
        changed = {"text": f"{CANARY}!"} if decided == "edit" else None
        first.decide("call_1", decided, arguments=changed)
    # As another machine's: nobody here sealed it.
    (tmp_path / "a.jsonl").write_text(Journal.loads(first.journal.dumps()).dumps())
    model = Spy("The first reply is recorded.", "done")
    again = Session.load(tmp_path / "a.jsonl", first.toolbox, model, approve=approve)
    session = again.replay() if replays else again
    with pytest.raises(ToolcallError, match="another computer recorded"):
        session.run().decide("call_1").run().decide("call_1").run()
    assert got == []
    # A person may still write the value, and then it runs.
    session = again.decide("call_1", "edit", arguments={"text": CANARY}).run()
    assert (got, session.text) == ([CANARY], "done")
    assert CANARY not in again.journal.dumps()
    assert CANARY not in repr([model.told[0].system, model.told[0].messages[0]])


def test_an_argument_with_a_secret_stays_one_where_a_person_edits_another() -> None:
    session, got = posting(("post", {"text": CANARY}))
    session.tell("Post.")
    shown = session.pending[0].arguments
    assert shown["text"] == MARKER
    arguments = {**shown, "how": "return", "text": f"{MARKER}, twice: {MARKER}"}
    session.decide("call_1", "edit", arguments=arguments).run()
    again = session.edit("call_1", how="raise").run()
    assert got == [f"{CANARY}, twice: {CANARY}"] * 2
    assert CANARY not in again.journal.dumps()


# -- the environment changes -------------------------------------------------------------------

MISSING = f"The environment variable {NAME} is not set. Set it and run the cell again."


def approved(text: str) -> tuple[Session, list[Any]]:
    """Return a session in which a text will be posted, and what gets it."""
    session, got = posting(("post", {"text": text}))
    return session.tell("Post.").decide("call_1"), got


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_call_and_a_prompt_wait_for_a_variable_that_is_not_set_and_run_once_it_is(
    is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Spy("done")
    asked = posting(model=model)[0].ask(f"Post {CANARY}."), model.told
    session, got = asked if is_asked else approved(CANARY)
    count = len(session.journal)
    monkeypatch.delenv(NAME)
    drive = PanelController(session, list[Notice]().append)
    with pytest.raises(ToolcallError, match=f"^{re.escape(MISSING)}$"):
        drive.run_to_pause()
    (row,) = drive.whole().session
    assert (row.phase, row.detail) == ("failed", MISSING)
    assert (got, len(session.journal)) == ([], count)
    monkeypatch.setenv(NAME, CANARY)
    assert session.run().text == "done"
    assert CANARY in repr(got)


def test_a_person_in_the_models_place_gets_what_was_written_and_not_its_marker() -> None:
    session, got = posting(model="person", approve="all")
    drive = PanelController(session.ask("Post."), lambda notice: None)
    drive.run_to_pause()
    for text, command in ((CANARY, {"type": "draft"}), (MARKER, {"type": "say", "text": ""})):
        drive.receive({**command, "calls": [{"tool": "post", "arguments": {"text": text}}]})
        asyncio.run(drive.resume())
    assert got == [CANARY]
    assert CANARY not in drive.session.journal.dumps()


def test_an_approval_holds_where_the_secret_is_renewed_and_the_call_gets_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, got = approved(CANARY)
    monkeypatch.setenv(NAME, "sk-renewed-9876543210")
    assert session.run().text == "done"
    assert got == ["sk-renewed-9876543210"]
    assert "sk-renewed" not in session.journal.dumps()


@pytest.mark.parametrize("there", [True, False])
def test_an_unchanged_replay_adds_no_entry_and_runs_nothing(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, got = posting([f"I use {CANARY}", ("post", {"text": CANARY})], system=CANARY)
    session.tell(f"Post {CANARY}.").decide("call_1").run()
    count = len(session.journal)
    if not there:
        monkeypatch.delenv(NAME)
    again = session.replay().run()
    assert (again.head, len(again.journal), len(got)) == (session.head, count, 1)


def test_a_session_variable_with_a_secret_reaches_its_readers_alone() -> None:
    got = list[Any]()

    def login() -> Changed:
        return Changed("in", {"token": CANARY, "page": MARKER})

    def fetch(url: str, variables: Mapping[str, Any]) -> str:
        got.append((url, dict(variables)))
        return "page"

    url = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    box = (
        Tool("login", "Log in.", {"type": "object", "properties": {}}, login),
        Tool("fetch", "Fetch a page.", url, fetch, reads=("token", "page")),
    )
    session = run_calls(*box, calls=[("login", {}), ("fetch", {"url": MARKER})])
    assert got == [(MARKER, {"token": CANARY, "page": MARKER})]
    assert CANARY not in session.journal.dumps()


def test_a_script_reads_a_secret_argument_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://ann:s3cr3t-pw-01a@db:5432/x")
    calls = [("send", {"text": text}) for text in (CANARY, "s3cr3t-pw-01a", MARKER)]
    text = run_calls(send, calls=calls).export(tmp_path / "a.py").read_text()
    assert "import os\n" in text
    assert text.count(f'text=os.environ["{NAME}"]') == 1
    # The variable holds more than the password; and what a model wrote is a text.
    assert text.count('text="{secret:DATABASE_URL}"') == 1
    assert text.count(f'text="{MARKER}"') == 1


def test_what_is_nested_is_searched_and_short_values_are_left() -> None:
    hide = hiding({"A_TOKEN": "l0ng-en0ugh-1", "B_TOKEN": "sh0rt"})
    data = {"a": ["x l0ng-en0ugh-1 y", 3], "sh0rt": ("l0ng-en0ugh-1", None)}
    marker = "{secret:A_TOKEN}"
    assert hide(data) == {"a": [f"x {marker} y", 3], "sh0rt": (marker, None)}
