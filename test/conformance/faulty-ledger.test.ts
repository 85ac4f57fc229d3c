/** Each planted fault is caught by the ledger's suite: a law that nothing can break says nothing. */
import { FaultyLedger, asked, ledgerLaws } from "@bursar/storage-adapters/conformance"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect } from "effect"
import * as Simulated from "./simulated-ledger.memory.ts"

const names = Object.keys(FaultyLedger.faults).filter((name): name is FaultyLedger.FaultName =>
  Object.hasOwn(FaultyLedger.faults, name)
)

describe("the ledger suite catches", () => {
  it.effect.each(names)("%s", (name) =>
    Effect.gen(function* () {
      const broken: Array<string> = []
      const told: Array<string> = []
      for (const law of ledgerLaws.filter((law) => asked(law, Simulated.supports))) {
        const exit = yield* Effect.exit(
          Effect.provide(law.check, FaultyLedger.layer(name, Simulated.memory))
        )
        if (exit._tag === "Failure") {
          broken.push(law.id)
          told.push(String(Cause.squash(exit.cause)))
        }
      }
      expect(broken).toContain(FaultyLedger.faults[name].breaks)
      // Whoever writes an adapter reads what was looked at, before what was there.
      expect(told.filter((message) => /^AssertionError: expected/u.test(message))).toEqual([])
    })
  )
})
