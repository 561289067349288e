package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inherited are the variables that the server gets from this program: what a program needs to run, to find its way through a
// proxy and to trust its certificates. Keys and tokens are not among them, because the shell commands of the model inherit
// the server's environment; whoever wants one passes it in ServerOptions.Env.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		// Windows cannot start a program without some of these.
		"SYSTEMROOT", "SystemRoot", "COMSPEC", "ComSpec", "PATHEXT", "TEMP", "TMP",
		"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ProgramData",
	}
}

// deadRegistry is a loopback port that nothing listens on: the server would install a plugin package for its configuration
// folder at every start, and swallow the first SIGTERM while it does.
const deadRegistry = "http://127.0.0.1:9/"

// environment is the server's whole environment. Later entries win.
func environment(p ServerParams, o ServerOptions, password string) []string {
	var env []string
	set := func(key, value string) { env = append(env, key+"="+value) }
	for _, key := range inherited() {
		if value, ok := os.LookupEnv(key); ok {
			set(key, value)
		}
	}
	set("NO_PROXY", noProxy(os.Getenv("NO_PROXY"), os.Getenv("no_proxy")))
	set("no_proxy", noProxy(os.Getenv("NO_PROXY"), os.Getenv("no_proxy")))
	set("XDG_CONFIG_HOME", p.ConfigHome)
	if o.IsolateIn != "" {
		for key, dir := range isolated(o.IsolateIn) {
			set(key, dir)
		}
	}
	for _, flag := range []string{
		"AUTOUPDATE", "LSP_DOWNLOAD", "EXTERNAL_SKILLS", "CLAUDE_CODE", "PROJECT_CONFIG", "SHARE",
	} {
		set("OPENCODE_DISABLE_"+flag, "1")
	}
	set("OPENCODE_PURE", "1")
	if !o.Online {
		set("OPENCODE_DISABLE_MODELS_FETCH", "1")
		set("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
	}
	if !o.AllowNpm {
		set("npm_config_registry", deadRegistry)
	}
	env = append(env, o.Env...)
	set("OPENCODE_SERVER_USERNAME", DefaultUsername)
	set("OPENCODE_SERVER_PASSWORD", password)
	return env
}

// isolated are the folders of a server that shall see and leave nothing outside of root.
func isolated(root string) map[string]string {
	return map[string]string{
		"HOME":           filepath.Join(root, "home"),
		"USERPROFILE":    filepath.Join(root, "home"),
		"XDG_DATA_HOME":  filepath.Join(root, "data"),
		"XDG_STATE_HOME": filepath.Join(root, "state"),
		"XDG_CACHE_HOME": filepath.Join(root, "cache"),
		"TMPDIR":         filepath.Join(root, "tmp"),
	}
}

// noProxy adds loopback to the hosts that are reached directly, or the server would look for our MCP server behind the proxy.
func noProxy(lists ...string) string {
	var hosts []string
	for _, list := range lists {
		for host := range strings.SplitSeq(list, ",") {
			if host = strings.TrimSpace(host); host != "" && !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	for _, host := range []string{"127.0.0.1", "localhost", "::1"} {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return strings.Join(hosts, ",")
}
