#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests what the tool says of peers that are not there, or that speak something else.  Prints TAP.

The strange peers are Python programs.
"""

import contextlib
import os
import re
import subprocess
import sys
import time

import krdma
from krdma import Access, entry

from suite import HOST, PATIENCE, Thread, Wrong, holds, main

FILE = "/tmp/strangers"


def tool(*words, status=1):
    """What a command prints, which must end with that status."""
    done = subprocess.run(["krdma", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=PATIENCE * 4)
    if done.returncode != status:
        raise Wrong(f"krdma {' '.join(words)} ends with {done.returncode}: {done.stdout}")
    return done.stdout


def says(text, *patterns):
    """Fails unless a text has all patterns."""
    for pattern in patterns:
        if not re.search(pattern, text):
            raise Wrong(f"it does not say '{pattern}':\n{text}")
    if "Input/output error" in text or "Invalid argument" in text:
        raise Wrong(f"it explains nothing:\n{text}")


def every_command(host):
    """Each command that reaches a host, and what it says of it."""
    yield tool("ping", "-c", "1", "-W", "1", host)
    yield tool("bench", "-c", "1", "-W", "1", host, "write")
    yield tool("get", f"[{host}]/x" if ":" in host else f"{host}/x", FILE)
    yield tool("doctor", host)


# Proves: F7 (python)
def test_one_cause_has_one_text():
    for host, text in (("192.0.2.1", r"no RDMA device here has a route to 192\.0\.2\.1"),
                       ("10.77.0.99", r"10\.77\.0\.99 does not answer"),
                       ("no-such-host", "cannot find the address of 'no-such-host': "),
                       ("fe80::1", "fe80::1 is a link-local address without its interface")):
        for said in every_command(host):
            says(said, text)


def test_nobody_listens():
    refused = r"connection refused \(no listener, or one for another service\)"
    says(tool("ping", "-c", "1", "-P", "9", HOST), refused, "krdma ping --listen")
    says(tool("get", f"{HOST}:9/x", FILE), refused, "krdma serve")
    says(tool("doctor", HOST, "9"), "no program listens at port 9 there")


def test_a_link_local_address_to_listen_at():
    text = "fe80::1 is a link-local address without its interface\nGive its interface"
    says(tool("ping", "--listen", "-I", "fe80::1"), text)
    says(tool("serve", "-I", "fe80::1", "/tmp"), text)
    says(tool("ping", "-c", "1", "-I", "fe80::1", "fe80::2"), "without its interface")


@contextlib.contextmanager
def server(serve):
    """A server of some protocol; its port."""
    with krdma.Session() as session, session.listen((HOST, 0)) as listener:
        def run():
            conn = listener.accept(PATIENCE)
            memory = session.alloc(conn.device_id, 4096, Access.LOCAL_WRITE)
            conn.create_qp()
            with contextlib.suppress(krdma.Error):
                serve(conn, memory)
                conn.await_closed(PATIENCE)

        thread = Thread(run)
        yield str(listener.address[1])
        thread.get()


def takes_short_messages(conn, memory):
    """Its receives are shorter than what rping sends."""
    conn.ring.post([entry.recv(conn, memory, 0, 8) for _ in range(4)])
    conn.accept()


def sends_long_messages(conn, memory):
    """Its messages are longer than rping's."""
    conn.ring.post([entry.recv(conn, memory, 0, 64) for _ in range(4)])
    conn.accept()
    conn.ring.post(entry.send(conn, memory, 0, 1000))


def leaves_at_once(conn, _):
    """It ends the connection."""
    conn.accept()
    conn.disconnect()


# Proves: F7 (python)
def test_rping_with_another_protocol():
    for serve, text in ((takes_short_messages,
                         "has failed: remote (operation|invalid request) error"),
                        # rxe finds the receive at fault, not the message.
                        (sends_long_messages,
                         "has failed: (.*length|local operation error)|has failed at once"),
                        (leaves_at_once, "has ended the connection|has disconnected")):
        with server(serve) as port:
            says(tool("ping", "--rping", "-c", "2", "-i", "0", "-P", port, HOST), text)


def test_a_server_of_krdma_of_another_service():
    for words, port in ((["bench", "--listen"], "7178"), (["ping", "--listen"], "7177")):
        with listening(port, *words):
            says(tool("ping", "--rping", "-c", "1", "-P", port, HOST),
                 f"{HOST} runs another service at port {port}\nStart there: krdma ping --rping")


@contextlib.contextmanager
def listening(port, *words):
    """A command that listens, until the block ends; its output."""
    with open(FILE, "w+", encoding="utf-8") as stream:
        child = subprocess.Popen(["krdma", *words], stdout=stream, stderr=subprocess.STDOUT)
        with krdma.Session() as session:
            for _ in range(PATIENCE * 20):
                with contextlib.suppress(krdma.Error):
                    session.connect((HOST, int(port)), b"who are you?").close()
                    break
                with open(FILE, encoding="utf-8") as reader:
                    if "at " in reader.read():
                        break
                time.sleep(0.05)
        try:
            yield lambda: open(FILE, encoding="utf-8").read()
        finally:
            child.terminate()
            child.wait()


def await_line(read, pattern):
    """Waits until an output has a line."""
    for _ in range(PATIENCE * 20):
        if re.search(pattern, read(), re.M):
            return
        time.sleep(0.05)
    raise Wrong(f"it does not say '{pattern}':\n{read()}")


# Proves: F7 (python)
def test_the_server_of_files_names_strangers():
    os.makedirs("/tmp/served", exist_ok=True)
    with listening("7476", "serve", "/tmp/served") as read, krdma.Session() as session:
        for data in (b"", b"who are you?", b"x" * 50):
            with contextlib.suppress(krdma.Error):
                session.connect((HOST, 7476), data)
        await_line(read, r"^10\.77\.0\.1:\d+ was refused: it does not speak the protocol of krdma")
        holds("it has a word for each", "nothing" not in read())
        tool("get", f"{HOST}/x", FILE + ".x")
        await_line(read, r"^10\.77\.0\.1:\d+ get 'x' failed: No such file")


if __name__ == "__main__":
    sys.exit(main(globals()))
