package space

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"agentd/messages"
)

// maxText is the longest text that is put into an item, so that the item stays within its own limit.
const maxText = 3 << 20

// Items are named after what they stand for in OpenCode, so that it does not matter how often that is told.
func assistantID(message string) messages.ItemID { return itemID("itm-assistant-", message) }

func reasoningID(part string) messages.ItemID { return itemID("itm-reasoning-", part) }

func callItemID(part string) messages.ItemID { return itemID("itm-tool-call-", part) }

func resultItemID(part string) messages.ItemID { return itemID("itm-tool-result-", part) }

// itemID names an item after one of OpenCode's ids, or after its hash if it would be no good name.
func itemID(prefix, id string) messages.ItemID {
	if name := messages.ItemID(prefix + id); id != "" && name.Validate() == nil {
		return name
	}
	hash := sha256.Sum256([]byte(id))
	return messages.ItemID(prefix + hex.EncodeToString(hash[:]))
}

// cut shortens a text that is too long for an item in its middle, and says so.
func cut(text string) string { return cutTo(text, maxText) }

func cutTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	note := fmt.Sprintf("\n… (%d bytes are left out here)\n", len(text)-limit)
	half := (limit - len(note)) / 2
	return strings.ToValidUTF8(text[:half], "") + note + strings.ToValidUTF8(text[len(text)-half:], "")
}
