// Package bundletest drives the tools of built-in presets in tests, through a real surface whose policy approves everything.
// Nothing outside of tests imports it.
package bundletest
