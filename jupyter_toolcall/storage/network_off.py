"""Start a program without a network: in a Linux network namespace that has loopback alone.

This file is run as a script, since the process that becomes the kernel has to make the namespace:

    python network_off.py PROGRAM ARGUMENT…

A namespace holds for every child process, and for every kind of socket. It does not hold for
sockets in the file system (such as Docker's), and it is no sandbox: files stay as they are.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_CAPBSET_DROP = 24
LEADING_OUT = (12, 19, 21)
"""CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_SYS_ADMIN: with these root enters another namespace again."""
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1


@functools.cache
def unavailable() -> str:
    """Return why a program cannot be started without a network here; "" where it can."""
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    tried = subprocess.run(
        without_network([]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    lines = tried.stderr.strip().splitlines() or ["no network namespace can be made"]
    return "" if tried.returncode == 0 else lines[-1]


def without_network(command: list[str]) -> list[str]:
    """Return the command that starts another one without a network."""
    # Isolated: neither the folder that it starts in nor the environment adds modules.
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), *command]


def leave_network() -> None:
    """Move this process to a namespace of its own. Raises OSError where the system refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) == 0:
        for capability in LEADING_OUT:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    else:
        user, group = os.getuid(), os.getgid()
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"no network namespace can be made: {os.strerror(number)}")
        # The person stays who they are: a group can be mapped once `setgroups` is denied.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _loopback_up()


def _loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(any_socket, GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH22x", b"lo", flags | UP))


def main(command: list[str]) -> None:
    """Leave the network, and become the program; without one, only try."""
    try:
        leave_network()
    except OSError as error:
        sys.exit(error.strerror or str(error))
    if command:
        os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
