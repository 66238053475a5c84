# Python with requests-oauthlib. The library refuses plain http, even on 127.0.0.1, without the variable OAUTHLIB_INSECURE_TRANSPORT=1.
import os
from urllib.parse import urljoin

import requests
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

token_url = os.environ["TOKEN_URL"]  # http://127.0.0.1:4180/oauth/token
client_secret = os.environ["CLIENT_SECRET"]
session = OAuth2Session(client=BackendApplicationClient(client_id=os.environ["CLIENT_ID"]))
session.fetch_token(token_url, client_secret=client_secret)

answer = session.get(os.environ["API_URL"])
if answer.status_code == 401:
    # The content of --key-file
    headers = {"Service-Auth": "true", "Service-Auth-Key": os.environ["SERVE_KEY"]}
    rejected = {"token": session.token["access_token"]}
    requests.post(urljoin(token_url, "/rejected"), json=rejected, headers=headers).raise_for_status()
    session.fetch_token(token_url, client_secret=client_secret)
    answer = session.get(os.environ["API_URL"])
answer.raise_for_status()
print(answer.text)
