/** Planted faults of a ledger: its suite catches each, so that no law of it is idle. */
import {
  FaultyChoices,
  FaultyLedger,
  isDemanded,
  type Law,
  ledgerLaws,
  type LedgerUnderTest,
  ReserveLaws
} from "@bursar/storage-adapters/conformance"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, type Layer } from "effect"
import * as Simulated from "./simulated-ledger.memory.ts"

const catches = <E>(
  breaks: string,
  options: { readonly ledger: Layer.Layer<LedgerUnderTest, E>; readonly laws: ReadonlyArray<Law> }
) =>
  Effect.gen(function* () {
    const broken: Array<string> = []
    const failedLaws: Array<string> = []
    for (const law of options.laws.filter((law) => isDemanded(law, Simulated.supports))) {
      const exit = yield* Effect.exit(Effect.provide(law.check, options.ledger))
      if (exit._tag === "Failure") {
        broken.push(law.id)
        failedLaws.push(String(Cause.squash(exit.cause)))
      }
    }
    expect(broken).toContain(breaks)
    // A message for the author of an adapter begins with the subject of the law, not with an
    // AssertionError.
    expect(failedLaws.filter((message) => /^AssertionError: expected/u.test(message))).toEqual([])
    return broken
  })

const ledgerFaults = Object.keys(FaultyLedger.faults).filter(
  (name): name is FaultyLedger.FaultName => Object.hasOwn(FaultyLedger.faults, name)
)
const choiceFaults = Object.keys(FaultyChoices.faults).filter(
  (name): name is FaultyChoices.FaultName => Object.hasOwn(FaultyChoices.faults, name)
)

describe("the ledger suite catches", () => {
  it.effect.each(ledgerFaults)("%s", (name) =>
    catches(FaultyLedger.faults[name].breaks, {
      ledger: FaultyLedger.layer(name, Simulated.memory),
      laws: ledgerLaws.filter((law) => !ReserveLaws.laws.includes(law))
    })
  )
  it.effect.each(choiceFaults)("%s, and names it", (name) =>
    Effect.gen(function* () {
      const { breaks, entities } = FaultyChoices.faults[name]
      const { laws } = ReserveLaws
      const broken = yield* catches(breaks, { ledger: Simulated.memoryWith(entities), laws })
      expect(broken).toEqual([breaks])
    })
  )

  it("a fault of each law that an adapter can break", () => {
    const broken = new Set([
      ...ledgerFaults.map((name) => FaultyLedger.faults[name].breaks),
      ...choiceFaults.map((name) => FaultyChoices.faults[name].breaks)
    ])
    const idle = new Set(ledgerLaws.map(({ id }) => id).filter((id) => !broken.has(id)))
    // What the ledger's own interpreter keeps, which a port cannot break for it; and two laws of reserves
    // that repeat L5 and L15 on other contracts.
    expect([...idle]).toEqual(["L11", "L12", "R5", "R6"])
  })
})
