"""The one limits to the network: what goes through it, what does not, and what is said then."""

from __future__ import annotations

import gzip
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.sources.http_client import RequestLimits, Response, send
from tests.standin.web import Answer, Asked, Web

Resolving = Callable[[dict[str, list[str]]], list[str]]


@pytest.fixture
def resolving(monkeypatch: pytest.MonkeyPatch) -> Resolving:
    """Names of these hosts lead to these addresses; returns what was looked up."""

    def names(known: dict[str, list[str]]) -> list[str]:
        looked_up: list[str] = []
        real = socket.getaddrinfo

        def getaddrinfo(host: Any, port: Any, *args: Any, **more: Any) -> list[Any]:
            if host not in known:
                return list(real(host, port, *args, **more))
            looked_up.append(host)
            return [found for ip in known[host] for found in real(ip, port, *args, **more)]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return looked_up

    return names


def refusal(limits: RequestLimits, url: str, method: str = "GET", **more: Any) -> str:
    with pytest.raises(CallError) as caught:
        send(limits, method, url, **more)
    said = str(caught.value)
    assert "\n" not in said
    return said


# -- where a request may go -------------------------------------------------------------


def test_the_error_keeps_the_hosts_that_are_named_already() -> None:
    limits = RequestLimits(("a.example",), allow_hint="Session(..., hosts={})")
    allowed = 'Session(..., hosts=("a.example", "b.example")) allows it'
    assert refusal(limits, "https://b.example/x") == f"b.example is not allowed; {allowed}"


@pytest.mark.parametrize("named", ["127.0.0.1", "127.0.0.1:{port}", "LOCALHOST", "localhost."])
def test_a_host_is_named_with_its_port_or_with_any(named: str) -> None:
    with Web() as web:
        host = "localhost" if "local" in named.lower() else "127.0.0.1"
        limits = RequestLimits((named.format(port=web.port),))
        assert send(limits, "GET", f"http://{host}:{web.port}").body == b"hello"


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:1/", "http://127.0.0.2:{port}/", "http://2130706433:{port}/"),
        *("http://127.1:{port}/", "http://[::ffff:127.0.0.1]:{port}/"),
        *("http://127.0.0.1.evil.example:{port}/", "http://evil.example:{port}/127.0.0.1"),
        "http://evil.example#@127.0.0.1:{port}/",
    ],
)
def test_another_host_or_port_is_not_the_one_that_was_named(url: str) -> None:
    with Web() as web:
        assert "is not allowed" in refusal(RequestLimits((web.host,)), url.format(port=web.port))
    assert not web.asked


@pytest.mark.parametrize(
    ("url", "said"),
    [
        *((url, "begins with https://") for url in ("file:///etc/passwd", "/x", "", "http:///x")),
        ("http://[::1/", "is no URL"),
        ("http://me:secret@127.0.0.1/", "holds a password"),
        ("http://evil.example\\@127.0.0.1/", "holds a password"),
    ],
)
def test_what_is_no_plain_url_of_the_web_is_refused(url: str, said: str) -> None:
    found = refusal(RequestLimits(("127.0.0.1",)), url)
    assert said in found
    assert "secret" not in found


PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1"),
    *("fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1"),
    *("2002:7f00:1::", "2001:0:1:2:3:4:5:6"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_public_name_leads_to_no_private_address(address: str, resolving: Resolving) -> None:
    looked_up = resolving({"api.example.org": ["93.184.216.34", address]})
    said = refusal(RequestLimits(("api.example.org",)), "http://api.example.org/")
    assert f"leads to the private address {address}, which is not allowed" in said
    assert f'allow_hosts=("api.example.org", "{address}")' in said
    assert looked_up == ["api.example.org"]


@pytest.mark.parametrize("address", ["169.254.169.254", "224.0.0.1"])
def test_a_name_of_the_own_network_leads_to_no_metadata(address: str, resolving: Resolving) -> None:
    resolving({"db.internal": [address]})
    assert "is not allowed" in refusal(RequestLimits(("db.internal",)), "http://db.internal/")


@pytest.mark.parametrize(
    ("allowed", "host", "addresses"),
    [
        # Who names a private host means its private address.
        *(((name,), name, ["127.0.0.1"]) for name in ("db", "db.internal", "a.local", "api.test")),
        (("api.example.org", "127.0.0.1"), "api.example.org", ["127.0.0.1"]),
        # An address that takes no connection is followed by the next.
        (("db.internal",), "db.internal", ["127.0.0.9", "127.0.0.1"]),
    ],
)
def test_an_allowed_address_is_looked_up_once_and_is_the_one_that_is_connected_to(
    allowed: tuple[str, ...], host: str, addresses: list[str], resolving: Resolving
) -> None:
    looked_up = resolving({host: addresses})
    with Web() as web:
        assert send(RequestLimits(allowed), "GET", f"http://{host}:{web.port}").body == b"hello"
    assert web.asked[0].headers["host"] == f"{host}:{web.port}"
    assert looked_up == [host]


def test_a_host_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*args: Any, **more: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    said = refusal(RequestLimits(("api.example.org",)), "https://api.example.org")
    assert said == "api.example.org cannot be found: no such host"


def test_a_port_where_nobody_listens_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = refusal(RequestLimits(("127.0.0.1",)), f"http://127.0.0.1:{port}")
    assert said.startswith(f"127.0.0.1:{port} cannot be reached")


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Web() as web:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.delenv("no_proxy", raising=False)
        assert send(RequestLimits((web.host,)), "GET", web.url).body == b"hello"


def test_a_header_that_cannot_be_sent_is_not_quoted() -> None:
    with Web() as web:
        headers = {"authorization": "sk-secret\r\nX: y"}
        said = refusal(RequestLimits((web.host,)), web.url, headers=headers)
    assert "sk-secret" not in said
    assert not web.asked


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("klingon", b"ok\xff", "ok\ufffd"),
        ("idna", b"ok\xff", "ok\ufffd"),
        ("undefined", b"ok", "ok"),
        ("punycode", b"ab-99\xff", "ab-99\ufffd"),
        ("unicode_escape", b"\\ud800", "\\ud800"),
        ("utf-7", b"+2AA-", "+2AA-"),
        ("utf-16-le", b"\x00\xd8", "\ufffd"),
        ("utf-8", b"\xef\xbb\xbf{}", "{}"),
        ("Shift_JIS", "日".encode("shift_jis"), "日"),
    ],
)
def test_text_is_decoded_with_any_encoding_name(charset: str, body: bytes, text: str) -> None:
    answer = Response(200, {"content-type": f"text/plain; charset={charset}"}, body)
    assert answer.text == text


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999"])
def test_a_redirect_to_a_port_that_there_is_not_is_refused(port: str) -> None:
    with Web(redirecting(302, f"http://localhost:{port}/")) as web:
        said = refusal(RequestLimits(("localhost", web.host)), f"{web.url}/start")
    assert said == f"the URL of localhost has no port that there is: {port}"


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Host", "Connection"])
def test_headers_that_say_how_a_request_is_sent_are_not_the_callers(name: str) -> None:
    with Web(lambda asked: Answer(asked.body)) as web:
        limits, headers = RequestLimits((web.host,)), {name: "1"}
        answer = send(limits, "POST", web.url, headers=headers, body=b"whole")
    assert answer.body == b"whole"
    assert web.asked[0].headers.get(name.lower()) not in ("1",)


# -- redirects --------------------------------------------------------------------------


def redirecting(status: int, goes_to: str) -> Callable[[Asked], Answer]:
    def routes(asked: Asked) -> Answer:
        if asked.path == "/start":
            return Answer(b"", status, {"Location": goes_to, "Set-Cookie": "a=b"})
        return Answer(b"there")

    return routes


@pytest.mark.parametrize("goes_to", ["there", "/there", "//{host}/there", "http://{host}/there"])
def test_a_redirect_is_followed_and_brings_no_cookies(goes_to: str) -> None:
    with Web() as web:
        web.routes = redirecting(302, goes_to.format(host=web.host))
        answer = send(RequestLimits((web.host,)), "GET", f"{web.url}/start")
    assert (answer.status, answer.body) == (200, b"there")
    assert web.asked[1].path == "/there"
    assert "cookie" not in web.asked[1].headers


ELSEWHERE = (
    "http://169.254.169.254/latest",
    "http://127.0.0.1:1/",
    "//localhost/",
    "http://[::1]/",
)


@pytest.mark.parametrize(
    ("goes_to", "reason"),
    [
        *((url, r"redirects to .*which is not allowed; from_definition\(") for url in ELSEWHERE),
        ("file:///etc/passwd", "begins with https://"),
    ],
)
def test_a_redirect_leads_to_named_hosts_alone(goes_to: str, reason: str) -> None:
    with Web(redirecting(302, goes_to)) as web:
        assert re.search(reason, refusal(RequestLimits((web.host,)), f"{web.url}/start"))
    assert len(web.asked) == 1


def test_redirects_come_to_an_end() -> None:
    with Web(lambda asked: Answer(b"", 302, {"Location": "/again"})) as web:
        said = refusal(RequestLimits((web.host,), max_redirects=3), web.url)
    assert said == f"{web.host} redirects more than 3 times"
    assert len(web.asked) == 4


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        *((301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET")),
        *((303, "DELETE", "GET"), (307, "POST", "POST"), (308, "PUT", "PUT"), (302, "PUT", "PUT")),
        *((301, "GET", "GET"), (303, "HEAD", "HEAD")),
    ],
)
def test_what_is_asked_for_after_a_redirect(status: int, method: str, then: str) -> None:
    with Web(redirecting(status, "/there")) as web:
        body = b"{}" if method in ("POST", "PUT") else b""
        kind = {"content-type": "application/json"} if body else {}
        send(RequestLimits((web.host,)), method, f"{web.url}/start", headers=kind, body=body)
    second = web.asked[1]
    assert second.method == then
    assert second.body == (body if then == method else b"")
    assert ("content-type" in second.headers) == (then == method and bool(kind))


def test_a_status_of_redirects_without_a_place_is_an_answer() -> None:
    with Web(lambda asked: Answer(b"many", 300)) as web:
        assert send(RequestLimits((web.host,)), "GET", web.url).status == 300


GIVEN = {"Authorization": "Bearer x", "X-Api-Key": "k", "Accept": "application/json"}


@pytest.mark.parametrize("other", ["127.0.0.1", "localhost"])
def test_headers_stay_with_their_server(other: str) -> None:
    with Web() as there, Web() as web:
        web.routes = redirecting(307, f"http://{other}:{there.port}/there")
        limits = RequestLimits((web.host, f"{other}:{there.port}"))
        send(limits, "GET", f"{web.url}/start", headers=GIVEN)
        web.routes = redirecting(307, "/there")
        send(limits, "GET", f"{web.url}/start", headers=GIVEN)
    assert [asked.headers.get("x-api-key") for asked in web.asked] == ["k"] * 3
    assert not {"authorization", "x-api-key"} & set(there.asked[0].headers)
    assert there.asked[0].headers["accept"] == "application/json"


# -- limits -----------------------------------------------------------------------------


def test_an_answer_is_cut_off_where_it_is_too_long() -> None:
    with Web() as web:
        limits = RequestLimits((web.host,), max_bytes=10_000)
        web.routes = lambda asked: Answer(b"x" * 10_000)
        assert len(send(limits, "GET", web.url).body) == 10_000
        web.routes = lambda asked: Answer(iter(lambda: b"x" * 1000, None))
        assert refusal(limits, web.url) == f"{web.host} answered more than 10,000 bytes"


def packed(packing: str, data: bytes) -> Answer:
    body = gzip.compress(data) if packing == "gzip" else zlib.compress(data)
    return Answer(body, headers={"Content-Encoding": packing})


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_packed_answer_is_unpacked_up_to_the_limit(packing: str) -> None:
    with Web(lambda asked: packed(packing, b"potato" * 100)) as web:
        assert send(RequestLimits((web.host,)), "GET", web.url).body == b"potato" * 100
    bomb = packed(packing, b"\0" * 20_000_000)
    with Web(lambda asked: bomb) as web:
        said = refusal(RequestLimits((web.host,), max_bytes=1_000_000), web.url)
    assert said == f"{web.host} answered more than 1,000,000 bytes"


@pytest.mark.parametrize(
    ("body", "packing", "said"),
    [
        (gzip.compress(b"x" * 1000, mtime=0)[:-9], "gzip", "not packed as one whole"),
        (b"plain", "gzip", "cannot be unpacked"),
        (b"plain", "zstd", "packed its answer as 'zstd'"),
    ],
)
def test_an_answer_that_cannot_be_unpacked_is_refused(body: bytes, packing: str, said: str) -> None:
    with Web(lambda asked: Answer(body, headers={"Content-Encoding": packing})) as web:
        assert said in refusal(RequestLimits((web.host,)), web.url)


def test_a_packed_answer_may_be_empty() -> None:
    with Web(lambda asked: Answer(b"", 204, {"Content-Encoding": "gzip"})) as web:
        assert send(RequestLimits((web.host,)), "GET", web.url).body == b""


def test_a_server_that_drips_its_headers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def drip() -> None:
            connection = server.accept()[0]
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: ")
                while not over.wait(0.02):
                    try:
                        connection.sendall(b"a")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        said = refusal(RequestLimits(("127.0.0.1",), seconds=0.3), url)
        over.set()
        thread.join()
    assert "gave no whole answer in 0.3 seconds" in said


def test_an_interrupt_passes_while_an_answer_is_waited_for() -> None:
    with Web() as web:
        web.routes = lambda asked: Answer(web.interrupting())
        with pytest.raises(KeyboardInterrupt):
            send(RequestLimits((web.host,), seconds=60), "GET", web.url)
    assert len(web.asked) == 1


# -- TLS --------------------------------------------------------------------------------

TLS = """
    import http.server, ssl, sys, threading
    from jupyter_toolcall.core.errors import CallError
    from jupyter_toolcall.sources.http_client import RequestLimits, send

    names = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302 if self.path == "/down" else 200)
            self.send_header("Location", "http://localhost:1/")
            self.end_headers()
            self.wfile.write(self.headers["host"].encode())
        def log_message(self, *args): pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    context.sni_callback = lambda socket, name, context: names.append(name)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    limits = RequestLimits(("localhost", "127.0.0.1"))
    host = send(limits, "GET", f"https://localhost:{port}/").body.decode()
    print(host == f"localhost:{port}", names)
    for url in (f"https://localhost:{port}/down", f"https://127.0.0.1:{port}/"):
        try:
            print(send(limits, "GET", url))
        except CallError as error:
            print(str(error).replace(str(port), "PORT"))
"""


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_over_tls_the_name_is_checked_and_no_redirect_leads_to_plain_http(tmp_path: Path) -> None:
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make = ["openssl", *request.split(), *names]
    subprocess.check_output(make, cwd=tmp_path, stderr=subprocess.DEVNULL)
    env = {"SSL_CERT_FILE": "cert.pem", "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", textwrap.dedent(TLS)]
    printed = subprocess.check_output(command, cwd=tmp_path, env=env, text=True)
    good, down, other = printed.splitlines()
    assert good == "True ['localhost']"
    assert down == "localhost:PORT redirects from https to http, which is not followed"
    assert other.startswith("127.0.0.1:PORT cannot be reached")
    assert "certificate" in other.lower()
