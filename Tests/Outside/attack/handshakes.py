"""TLS handshakes that wait for their clients, and cost no processor time meanwhile."""

import os
import ssl
import subprocess
import time

from servers import Server
from wire import Wire


def hello():
    """The first message of a client."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def run(options, backend, folder):
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    server = Server(options.tool, backend.store, ["honest"], folder,
                    [f"tls.certificate={certificate}", f"tls.key={key}"])
    missed, told = [], []
    for name, size in [("nothing", 0), ("a byte", 1), ("50 bytes", 50), ("a whole hello", None)]:
        wires = [Wire(server.port) for _ in range(20)]
        for wire in wires:
            wire.send(hello()[:size])
        time.sleep(0.5)
        used = server.processor
        time.sleep(3)
        used = (server.processor - used) / 3
        told.append(f"{name} {used:.2f}")
        if used > 0.1:
            missed.append(f"20 clients that sent {name} cost {used:.2f} processors")
        for wire in wires:
            wire.close()
    server.stop()
    return {"attack": "handshakes", "database": backend.name,
            "told": f"20 clients that do not end their TLS handshakes, in processors: {', '.join(told)}", "missed": missed}
