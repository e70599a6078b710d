package live

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// Access is where to ask, and the key to it. It is used for requests only: no error,
// result or file holds any of it.
type Access struct {
	// BaseURL is what v1/messages stands below; "" for the vendor's own.
	BaseURL string
	// Key goes out as x-api-key, which gateways before the API look for too. Token goes
	// out as a bearer token, where there is no Key.
	Key, Token string
	// Headers go out with each request, in place of those that the program sets.
	Headers http.Header
}

// AccessFrom reads the variables that the vendor's clients read: ANTHROPIC_BASE_URL,
// ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, and ANTHROPIC_CUSTOM_HEADERS with a
// "Name: value" on each line.
func AccessFrom(getenv func(string) string) Access {
	a := Access{BaseURL: getenv("ANTHROPIC_BASE_URL"), Key: getenv("ANTHROPIC_API_KEY"), Token: getenv("ANTHROPIC_AUTH_TOKEN")}
	for line := range strings.Lines(getenv("ANTHROPIC_CUSTOM_HEADERS")) {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && name != "" {
			if a.Headers == nil {
				a.Headers = http.Header{}
			}
			a.Headers.Add(name, strings.TrimSpace(value))
		}
	}
	return a
}

// ErrNoKey says that there is nothing to ask with.
var ErrNoKey = errors.New("no key for the model: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN")

// check looks at the address. That there is a key is asked only when a call is due.
func (a Access) check() error {
	if a.BaseURL == "" {
		return nil
	}
	// What is wrong with it is not told in detail: it may hold a password.
	u, err := url.Parse(a.BaseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("ANTHROPIC_BASE_URL is no address: want https://HOST or http://HOST")
	}
	return nil
}

// hasKey reports whether there is something to ask with.
func (a Access) hasKey() bool {
	return a.Key != "" || a.Token != "" || a.Headers.Get("x-api-key") != "" || a.Headers.Get("authorization") != ""
}

// apiVersion is the version of the API that recorded requests were made for. The next,
// 2026-10-21, only takes away: it refuses documents in assistant messages and citations
// in user messages (the vendor's guide to it).
const apiVersion = "2023-06-01"

// client makes requests as a says and nothing else of the environment does. It tries
// each once: when to try again is decided in one place, send.
func (a Access) client(h *http.Client) anthropic.Client {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithHTTPClient(h), option.WithMaxRetries(0),
		option.WithHeader("anthropic-version", apiVersion),
	}
	if a.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(a.BaseURL))
	}
	switch {
	case a.Key != "":
		opts = append(opts, option.WithHeader("x-api-key", a.Key))
	case a.Token != "":
		opts = append(opts, option.WithAuthToken(a.Token))
	}
	for name, values := range a.Headers {
		for i, v := range values {
			if i == 0 {
				opts = append(opts, option.WithHeader(name, v))
			} else {
				opts = append(opts, option.WithHeaderAdd(name, v))
			}
		}
	}
	return anthropic.NewClient(opts...)
}

// maxMessage bounds a message of the server in a result, in bytes.
const maxMessage = 500

// clean is a server's message for a result: one line, bounded, without what of the
// access it repeats.
func (a Access) clean(text string) string {
	secrets := []string{a.Key, a.Token}
	for _, values := range a.Headers {
		secrets = append(secrets, values...)
	}
	if u, err := url.Parse(a.BaseURL); err == nil && u.User != nil {
		p, _ := u.User.Password()
		secrets = append(secrets, u.User.String(), p)
	}
	for _, s := range secrets {
		if len(s) >= 4 { // shorter is no secret, and would hide words
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > maxMessage {
		text = fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(text[:maxMessage], ""), len(text)-maxMessage)
	}
	return text
}
