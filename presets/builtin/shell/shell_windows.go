package shell

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"

	"agentd/presets/process"
)

// BaseEnv names the variables of this process that every command gets, beside those that begin with LC_.
func BaseEnv() []string {
	return []string{
		"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PSMODULEPATH", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "LANG", "TZ",
	}
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// maxEncodedBytes keeps the command line below the 32,767 characters that Windows takes.
const maxEncodedBytes = 30_000

// command says how PowerShell runs a text. The text goes encoded, so that no quoting can change it.
func command(text string) (process.Params, error) {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	encoded := base64.StdEncoding.EncodeToString(raw)
	if len(encoded) > maxEncodedBytes {
		return process.Params{}, fmt.Errorf("command: it has more than %d characters: write it to a file and run that", maxEncodedBytes*3/8)
	}
	return process.Params{
		Path: "powershell.exe", Args: []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand", encoded},
	}, nil
}
