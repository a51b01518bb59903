"""What stands for Python in a test: has a warm process started with what this one was given, and ends as it does.

Nothing is imported that takes time; see `warm.py`.
"""

import _socket
import json
import os
import signal
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


def _number(server: _socket.socket, *, signed: bool = False) -> int:
    found = b""
    while len(found) < 4:
        more = server.recv(4 - len(found))
        if not more:
            sys.exit("the parent of warm processes has gone")
        found += more
    return int.from_bytes(found, "big", signed=signed)


def _main() -> None:
    streams = [stream for stream in range(3) if _is_open(stream)]
    said = {"arguments": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd(), "streams": streams}
    text = json.dumps(said).encode()
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    server = _socket.socket(_socket.AF_UNIX)
    server.connect(sys.argv[1])
    server.sendall(len(text).to_bytes(4, "big"))
    descriptors = b"".join(stream.to_bytes(4, sys.byteorder) for stream in streams)
    server.sendmsg([b"\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)] if streams else [])
    server.sendall(text)
    pid = _number(server)
    for number in PASSED_ON:
        signal.signal(number, lambda received, _: os.kill(pid, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    code = _number(server, signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


_main()
