/** Distributions, lines, their basis and the calendar, read at every offset of months by chance. */
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Years from "../operations/distribution-years.ts"
import { agree } from "./distribution-pins.ts"

/** The second is of the seed of the run; SEEDS takes so many more. */
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, nth) =>
  walkSeed(nth + 1)
)
const seeds = [1, walkSeed(0), ...more]

describe("distributions at every offset", () => {
  it.each(seeds)("never show what the ledger's updates do not add up to by then: seed %i", (seed) =>
    Calls.runCase(
      Effect.gen(function* () {
        const played = yield* Years.play({ seed, months: 3 })
        expect(yield* agree(played)).toBeGreaterThan(12)
      }).pipe(Effect.provide(world({ settings: { batchLines: 2 } })))
    )
  )
})
