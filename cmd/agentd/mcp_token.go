package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"agentd/persistence/jsonfile/atomicfile"
	"agentd/presets/mcp"
	"agentd/providers/catalog/bounded"
)

// maxTokenBytes bounds the file of a token.
const maxTokenBytes = 4 << 10

// checkToken does not quote the token.
func checkToken(token, at string) error {
	if !mcp.GoodToken(token) {
		return fmt.Errorf("the token in %s is not a good one: it must be %d or more visible ASCII characters, such as those of \"openssl rand -hex 32\"", at, mcp.MinTokenBytes)
	}
	return nil
}

// readToken reads a token file: one line.
func readToken(path string) (string, error) {
	text, err := bounded.ReadAll(path, maxTokenBytes)
	if err != nil {
		return "", fmt.Errorf("reading the token in %q: %w", path, err)
	}
	token := string(bytes.TrimSpace(text))
	if token == "" {
		return "", fmt.Errorf("the token file %q is empty", path)
	}
	return token, nil
}

// keptToken returns the token of the data directory, which is made once. This process owns the directory.
func keptToken(path string) (string, error) {
	token, err := readToken(path)
	if errors.Is(err, os.ErrNotExist) {
		token = rand.Text()
		if err := atomicfile.Write(path, []byte(token+"\n")); err != nil {
			return "", fmt.Errorf("keeping the token: %w", err)
		}
		return token, nil
	}
	if err == nil {
		err = checkToken(token, path)
	}
	if err != nil {
		return "", fmt.Errorf("%w; remove the file to have a new one made", err)
	}
	return token, nil
}
