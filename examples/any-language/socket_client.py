# Python through the socket. `serve` adds the token.
import http.client
import os
import socket

api = http.client.HTTPConnection("localhost")
api.sock = socket.socket(socket.AF_UNIX)
api.sock.connect(os.environ["SERVE_SOCKET"])  # /run/service-auth/auth.sock
api.request("GET", "/api/v1/", headers={"Service-Auth": "true"})

answer = api.getresponse()
text = answer.read().decode()
if answer.status != 200:
    raise SystemExit(f"{answer.status} {text}")
print(text)
