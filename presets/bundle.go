package presets

// Bundle is a preset with the adapters that make its tools.
type Bundle struct {
	Preset   Preset
	Adapters []Adapter
}

// Install registers the adapters and the preset of every bundle: all of them or, on an error, none. Errors are those of
// [Manager.RegisterAdapter] and [Manager.RegisterPreset].
func (m *Manager) Install(bundles ...Bundle) error {
	return m.register(func(r registry) (registry, error) {
		var err error
		for _, bundle := range bundles {
			for _, adapter := range bundle.Adapters {
				if r, err = r.withAdapter(adapter); err != nil {
					return r, err
				}
			}
			if r, err = r.withPreset(bundle.Preset); err != nil {
				return r, err
			}
		}
		return r, nil
	})
}
