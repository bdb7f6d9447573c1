# SPDX-License-Identifier: Apache-2.0
"""An instance metadata service, version 2, whose answers a test sets."""

import http.server
import threading


class FakeImds:
    """with FakeImds({"tags/instance/Name": "aws-c5-0"}) as imds: ... imds.endpoint ...

    items     what stands below /latest/meta-data/; may be changed at any time
    requests  [(method, path)] so far
    after     {path: function}: called once when that item has been asked for and answered
    """

    def __init__(self, items=None, token_status=200):
        self.items, self.requests, self.after = dict(items or {}), [], {}
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status, text=""):
                fake.requests.append((self.command, self.path))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_PUT(self):
                good = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
                self.answer(token_status if good else 400, "fake-token" if good and token_status == 200 else "")

            def do_GET(self):
                if self.headers.get("X-aws-ec2-metadata-token") != "fake-token":
                    return self.answer(401)
                item = self.path.removeprefix("/latest/meta-data/")
                self.answer(*((200, fake.items[item]) if item in fake.items else (404,)))
                fake.after.pop(item, lambda: None)()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked_for(self, item):
        return ("GET", f"/latest/meta-data/{item}") in self.requests
