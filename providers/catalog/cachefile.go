package catalog

func (c *Catalog) loadCache([]*store) {}
func (c *Catalog) saveCache([]*store) {}
