// Package testkit is the public support for tests of the runtime and of what people build on it. Nothing outside of tests imports it.
//
// How to choose:
//
//   - A test that needs a running runtime: [NewRuntime]. It is stopped at the end, and the test fails if anything is left.
//   - An agent that does what the test says: [Script], [Scripts] and the steps. To hold it at a point: a [Gate].
//   - What a session tells: [Runtime.Watch] gives a [Probe]; [Probe.Expect] wants events among others, [Probe.ExpectExactly] wants these and no
//     other between, [Probe.ExpectNothing] wants none.
//   - A store that fails: [FaultyStore], with the kinds of [Faults].
//   - A process that dies: [CrashStore] kills a runtime at the nth append, and the next one starts on what is stored. To kill real
//     processes, see testkit/crash.
//   - A conversation that people can read and review: [RunScenarios] plays text files.
//   - Text that should stay as it is: [Golden]. Both rewrite their files with UPDATE_GOLDEN=1.
//   - Goroutines that a package leaves: [Main] in its TestMain. Something that becomes true on its own: [Eventually].
//   - A store of sessions: testkit/storetest. A reader of other programs' sessions: testkit/catalogtest. A model on loopback: testkit/modelserver.
//
// Tests that use this package are in the external test package (package x_test), since it imports the runtime. Time belongs to testing/synctest: everything
// here works in a bubble, in which a second of waiting costs nothing and "nothing more comes" can be told.
//
// Promises:
//
//   - Nothing is left. Every runtime and subscription that is made with a testing.TB ends with the test. A runtime that does not end well fails the test.
//   - Nothing hangs. Every wait ends after [Patience] at the latest, and then the test fails and says what it had seen.
//   - No back doors. What is observed is what the runtime offers to everybody: subscriptions, [actors.Runtime.Live] and the store.
//   - Concurrency. Gates, stores and scripts are safe for concurrent use; a probe belongs to one goroutine.
//
// For example:
//
//	func TestGreeting(t *testing.T) {
//		rt := testkit.NewRuntime(t, &testkit.Options{Agents: map[messages.AgentID]actors.Agent{
//			"greeter": testkit.Script{testkit.Say("Hello."), testkit.Finish("greeted")},
//		}})
//		id := rt.Create("greeter", "")
//		probe := rt.Watch(id, actors.SubscribeOptions{})
//		rt.Complete(id, "hi")
//		probe.Expect(testkit.Want{Text: "Hello."}, testkit.Want{Turn: messages.TurnCompleted})
//	}
package testkit
