package mcp

import "net/http"

// tokenTransport sends the endpoint's headers with each request.
type tokenTransport struct {
	headers map[string]string
	base    http.RoundTripper
}

func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	return t.base.RoundTrip(r)
}

// tokenClient has connections of its own, which it does not keep, so that no goroutine of it is left.
func tokenClient(endpoint *Endpoint) *http.Client {
	return &http.Client{Transport: tokenTransport{endpoint.Headers(), &http.Transport{DisableKeepAlives: true}}}
}
