/** Planted faults of a store: the conformance suite catches each. */
import {
  FaultyStorage,
  openingsChecks,
  reopenChecks,
  storageChecks
} from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { describe, expect } from "vitest"

const names = Object.keys(FaultyStorage.faults).filter(
  (name): name is FaultyStorage.FaultName => name in FaultyStorage.faults
)

/** Puts one promise to a fresh store with the fault; a check that never ends has noticed it too. */
const noticed = (name: FaultyStorage.FaultName, check: (typeof storageChecks)[number]) =>
  Effect.map(
    Effect.exit(
      Effect.timeout(
        Effect.scoped(Effect.provide(check.run, FaultyStorage.layer(name))),
        "10 seconds"
      )
    ),
    Exit.isFailure
  )

describe("a store that", () => {
  for (const name of names) {
    const { does, noticedBy } = FaultyStorage.faults[name]
    it.live(`${does} is noticed (${name})`, () =>
      Effect.gen(function* () {
        for (const beginning of noticedBy) {
          const checks = storageChecks.filter((check) => check.name.startsWith(beginning))
          expect(
            checks.map((check) => check.name),
            beginning
          ).toHaveLength(1)
          for (const check of checks) {
            expect(yield* noticed(name, check), `by "${check.name}"`).toBe(true)
          }
        }
      })
    )
  }
})

/** A store in memory that is another one each time that it is opened. */
const empty = Layer.build(Layer.fresh(Memory.layer))

describe("a store that forgets everything once it is closed is noticed by what", () => {
  for (const check of reopenChecks) {
    it.live(`${check.name} (${check.port})`, () =>
      Effect.gen(function* () {
        const written = Effect.scoped(Effect.provideContext(check.run, yield* empty))
        const next = yield* written
        const context = yield* empty
        const read = yield* Effect.exit(Effect.scoped(Effect.provideContext(next, context)))
        // Nothing of an open transaction is what such a store keeps as well.
        const isKept = check.name === "keeps nothing of a transaction that did not end"
        expect(Exit.isFailure(read)).toBe(!isKept)
      }).pipe(Effect.scoped)
    )
  }
})

describe("a store whose second opening is another store is noticed by what", () => {
  for (const check of openingsChecks) {
    it.live(`${check.name} (${check.port})`, () =>
      Effect.gen(function* () {
        const openings = { first: yield* empty, second: yield* empty }
        const exit = yield* Effect.exit(Effect.timeout(check.run(openings), "10 seconds"))
        expect(Exit.isFailure(exit)).toBe(true)
      }).pipe(Effect.scoped)
    )
  }
})
