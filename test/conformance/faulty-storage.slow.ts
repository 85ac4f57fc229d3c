/** Planted faults of a store: the conformance suite catches each. */
import { FaultyStorage, storageChecks } from "@bursar/storage-adapters/conformance"
import { it } from "@effect/vitest"
import { Effect, Exit } from "effect"
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
