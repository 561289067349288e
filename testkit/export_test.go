package testkit

// CheckScenario reports what is wrong with the text of a scenario.
func CheckScenario(text string) error {
	_, err := parseScenario(text)
	return err
}
