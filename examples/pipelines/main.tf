terraform {
  required_providers {
    external = {
      source  = "hashicorp/external"
      version = "~> 2.3"
    }
    restapi = {
      source = "Mastercard/restapi"
    }
  }
}

data "external" "token" {
  program = ["npx", "--yes", "@service-auth/cli", "token", "--format", "json", "--min-life", "30m"]
}

provider "restapi" {
  uri     = "https://api.example.com/api/v1"
  headers = { Authorization = "Bearer ${data.external.token.result.accessToken}" }
}
