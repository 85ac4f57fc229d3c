/** Checks of RateWindow: one budget for all instances, and refusals that cost nothing. */
import { Atomically, RateWindow } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, ends, fresh, same } from "../Check.ts"

const PORT = "RateWindow"
/** One call takes a minute from the budget, so a slow test run does not give any back. */
const interval = 60_000_000

export const rate: ReadonlyArray<Check> = [
  check(PORT, "admits exactly the budget of 50 parallel calls", function* () {
    const { take } = yield* RateWindow
    const subject = yield* fresh("subject")
    const answers = yield* Effect.forEach(
      Array.from({ length: 50 }),
      // Half a call more: the clock of a call that waits for another's row is the earlier one.
      () => take({ subject, cost: 1, interval, tolerance: interval * 20.5 }),
      { concurrency: "unbounded" }
    )
    yield* same("admitted", answers.filter((answer) => answer.admitted).length, 20)
    const refused = answers.filter((answer) => !answer.admitted)
    const near = refused.every(({ ahead }) => ahead > interval * 19.5 && ahead <= interval * 20.5)
    yield* same("whether the refused are told the whole budget is used", near, true)
  }),
  check(PORT, "charges nothing for a refusal", function* () {
    const { take } = yield* RateWindow
    const subject = yield* fresh("subject")
    const request = { subject, interval, tolerance: interval * 2 }
    yield* same("too much at once", (yield* take({ ...request, cost: 3 })).admitted, false)
    yield* same("one", (yield* take({ ...request, cost: 1 })).admitted, true)
    yield* same("two more", (yield* take({ ...request, cost: 2 })).admitted, false)
    yield* same("one more", (yield* take({ ...request, cost: 1 })).admitted, true)
    yield* same("a third", (yield* take({ ...request, cost: 1 })).admitted, false)
    const other = yield* take({ ...request, cost: 1, subject: `${subject}2` })
    yield* same("another subject", other.admitted, true)
  }),
  check(PORT, "gives the budget back with time", function* () {
    const { take } = yield* RateWindow
    const subject = yield* fresh("subject")
    const request = { subject, cost: 1, interval, tolerance: interval }
    const first = yield* take(request)
    yield* same("how far ahead", first.ahead > interval * 0.8 && first.ahead <= interval, true)
    yield* same("at once", (yield* take(request)).admitted, false)
    yield* Effect.sleep("80 millis")
    // Admitted as soon as 50 milliseconds of the first call's minute have passed.
    const tolerant = { ...request, tolerance: interval * 2 - 50_000 }
    yield* same("later", (yield* take(tolerant)).admitted, true)
  }),
  check(PORT, "forgets whose budget has long been whole, up to the limit", function* () {
    const { forget, take } = yield* RateWindow
    const hour = 3_600_000_000
    const all = (idle: number) =>
      Effect.gen(function* () {
        let gone = 0
        for (;;) {
          const more = yield* forget({ idle, limit: 1000 })
          gone += more
          if (more < 1000) return gone
        }
      })
    // A store that is kept may hold windows of an earlier run, and that of the check before this one,
    // which is whole 50 ms after it.
    yield* Effect.sleep("60 millis")
    yield* all(0)
    const [owing, ...idle] = yield* Effect.forEach([0, 1, 2, 3], () => fresh("subject"))
    const budget = { subject: owing ?? "", cost: 1, interval, tolerance: interval }
    yield* take(budget)
    for (const subject of idle) yield* take({ subject, cost: 1, interval: 1, tolerance: 1 })
    yield* Effect.sleep("20 millis")
    yield* same("idle for less than an hour", yield* forget({ idle: hour, limit: 9 }), 0)
    yield* same("with a limit", yield* forget({ idle: 5_000, limit: 2 }), 2)
    yield* same("the rest", yield* forget({ idle: 5_000, limit: 9 }), 1)
    yield* same("no more", yield* forget({ idle: 5_000, limit: 9 }), 0)
    yield* same("who owes still", (yield* take(budget)).admitted, false)
  }),
  check(PORT, "counts a call although its transaction is taken back", function* () {
    const { run } = yield* Atomically
    const { take } = yield* RateWindow
    const subject = yield* fresh("subject")
    const request = { subject, cost: 1, interval, tolerance: interval }
    yield* ends("the run", run(Effect.andThen(take(request), Effect.fail("no"))), "no")
    yield* same("the next", (yield* take(request)).admitted, false)
  })
]
