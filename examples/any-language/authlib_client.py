# Python with Authlib. It requests the next token by itself.
import os

from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"],
    token_endpoint=os.environ["TOKEN_URL"],  # http://127.0.0.1:4180/oauth/token
    grant_type="client_credentials",
)
session.fetch_token()

answer = session.get(os.environ["API_URL"])
answer.raise_for_status()
print(answer.text)
