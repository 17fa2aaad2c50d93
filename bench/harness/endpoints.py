"""An HTTPS server whose paths misbehave. Run as a program: PORT CERT KEY FILE.

/hang never answers, /reset closes without an answer, /redirect leads elsewhere; everything else is 204. A line of FILE for
each that hangs, and for each 204 how many milliseconds after its ce-time it came."""

import asyncio
import calendar
import resource
import ssl
import sys
import time


def enqueued_at(text):
    seconds = calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
    return seconds + int(text[20:23]) / 1000


async def serve(reader, writer, note):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            at = time.time()
            fields = {}
            for line in head.split("\r\n")[1:]:
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            await reader.readexactly(int(fields.get("content-length", 0)))
            path = head.split(" ", 2)[1]
            if path.startswith("/hang"):
                note.write("hangs\n")
                await reader.read()  # until the other side gives up
                return
            if path.startswith("/reset"):
                writer.transport.abort()
                return
            if path.startswith("/redirect"):
                writer.write(b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
            else:
                note.write(f"{1000 * (at - enqueued_at(fields['ce-time'])):.1f}\n")
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def main(port, certificate, key, file):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with open(file, "w", buffering=1) as note:
        server = await asyncio.start_server(lambda r, w: serve(r, w, note), "127.0.0.1", int(port), ssl=context,
                                            backlog=4096, ssl_handshake_timeout=120)
        print("listens", flush=True)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
