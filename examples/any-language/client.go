// Go with golang.org/x/oauth2. The client requests the next token by itself.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	config := clientcredentials.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		// http://127.0.0.1:4180/oauth/token
		TokenURL:     os.Getenv("TOKEN_URL"),
	}
	answer, err := config.Client(context.Background()).Get(os.Getenv("API_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		log.Fatal(answer.Status, err)
	}
	fmt.Println(string(body))
}
