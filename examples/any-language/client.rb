# Ruby with the gem oauth2.
require 'oauth2'

token_url = ENV.fetch('TOKEN_URL') # http://127.0.0.1:4180/oauth/token
client = OAuth2::Client.new(ENV.fetch('CLIENT_ID'), ENV.fetch('CLIENT_SECRET'), site: token_url, token_url: token_url)
puts client.client_credentials.get_token.get(ENV.fetch('API_URL')).body
