/** Distributions, lines, their basis, lots and the calendar in PostgreSQL, read at every offset of months by chance. */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { world } from "../engine/world.ts"
import * as Years from "../operations/distribution-years.ts"
import { walkSeed } from "../seeds.ts"
import { agree } from "../reads/distribution-pins.ts"

/** One that pays cash and one that pays units; two more by the seed of the run. */
const seeds = [3, 4, walkSeed(0), walkSeed(1)]

describe("distributions in PostgreSQL at every offset", () => {
  it.each(seeds)("never show what the ledger's updates do not add up to by then: seed %i", (seed) =>
    Calls.runCase(
      Effect.gen(function* () {
        const played = yield* Years.play({ seed, months: 4 })
        expect(yield* agree(played)).toBeGreaterThan(12)
      }).pipe(
        Effect.provide(
          world({
            storage: TestDatabase.layer as typeof Memory.layer,
            settings: { batchLines: 2 }
          }).pipe(Layer.provideMerge(Layer.succeed(Clock.Clock, movedClock().clock)))
        )
      )
    )
  )
})
