// Package storetest is the suite that every [persistence.Store] passes: each promise of package persistence, with faults and
// kills where the storage can be made to fail, concurrency, and a random comparison with a model that is too
// simple to be wrong.
//
// A store's test is a few lines:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(tb testing.TB) *storetest.Backend {
//			disk := simdisk.New()
//			return &storetest.Backend{
//				Open: func() (persistence.Store, error) { return jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()}) },
//				Disk: disk,
//			}
//		})
//	}
//
// Promises:
//
//   - Every subtest has a backend of its own, and they run in parallel.
//   - What a backend cannot do (reopen, fail) is not tested, and [Run] logs it: it never counts as passed.
//   - Random tests print their seed, and [Replay] runs one seed again.
package storetest
