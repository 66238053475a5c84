"""An authorization server of Authlib on loopback. Its argument is JSON: the clients, and the public key as PEM. It prints its port."""
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request, grants
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion

known = json.loads(sys.argv[1])
issued = {}


class Client(ClientMixin):
    def __init__(self, client_id, method, secret=None):
        self.client_id, self.method, self.secret = client_id, method, secret

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return scope

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(self.secret.encode(), client_secret.encode())

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_grant_type(self, grant_type):
        return grant_type == 'client_credentials'


class Server(AuthorizationServer):
    def query_client(self, client_id):
        return Client(client_id, **known['clients'][client_id]) if client_id in known['clients'] else None

    def save_token(self, token, request):
        issued[token['access_token']] = {'clientId': request.client.client_id, 'scope': request.scope or ''}

    def create_oauth2_request(self, request):
        return request

    def send_signal(self, name, *args, **kwargs):
        pass

    def handle_response(self, status, body, headers):
        return status, json.dumps(body), dict(headers)


class Assertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = 'private_key_jwt'
    used = set()

    def validate_jti(self, claims, jti):
        is_new = jti not in self.used
        self.used.add(jti)
        return is_new

    def resolve_client_public_key(self, client, headers):
        return known['publicKey']


class Grant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        form = self.rfile.read(int(self.headers['content-length'])).decode()
        request = OAuth2Request('POST', self.server.token_endpoint, dict(parse_qsl(form)), self.headers)
        self.answer(*server.create_token_response(request))

    def do_GET(self):
        self.answer(200, json.dumps(issued.get(self.path[1:])), {})

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in {'content-length': str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
http.token_endpoint = f'http://127.0.0.1:{http.server_port}/token'
server = Server(scopes_supported=['read', 'write'])
server.register_grant(Grant)
server.register_token_generator('default', BearerTokenGenerator(lambda **_: secrets.token_urlsafe(32)))
server.register_client_auth_method('private_key_jwt', Assertion(http.token_endpoint))
print(http.server_port, flush=True)
http.serve_forever()
