/** Policy versions, prices and holds, read at every offset of a history by chance, are what was done by then. */
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Kept from "./kept-record-pins.ts"

const runs = Number(process.env["KEPT_RECORDS"] ?? 2)

const skew = { minMillis: -20_000, maxMillis: 20_000 }

describe("policy versions, prices and holds at every point", () => {
  it("never are other than what people did and the ledger told by then", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(Kept.step, { minLength: 8, maxLength: 30, size: "max" }),
        (steps) => {
          const faults = SimulatedLedger.Faults.make()
          return Calls.runCase(
            Effect.gen(function* () {
              const looks = new Map<number, string>()
              faults.replace({ skew })
              const played = yield* Kept.play(steps, () => Kept.look(looks))
              expect(yield* Kept.agree(played, looks)).toBeGreaterThan(0)
            }).pipe(Effect.provide(world({ faults })))
          )
        }
      ),
      { numRuns: runs, examples: [[[...Kept.everyStep]]] }
    ))
})
