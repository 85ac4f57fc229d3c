/** Conformance suite of storage adapters: every promise of the ports, one test each. */
import { it } from "@effect/vitest"
import { Effect, type Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe } from "vitest"
import type { Storage } from "../storage/memory/Memory.ts"
import type { Check } from "./Check.ts"
import { auditLog } from "./storage-checks/audit.ts"
import { atomically } from "./storage-checks/atomically.ts"
import { blobs } from "./storage-checks/blobs.ts"
import { bulk } from "./storage-checks/bulk.ts"
import { documents } from "./storage-checks/documents.ts"
import { facts } from "./storage-checks/facts.ts"
import { feed } from "./storage-checks/feed.ts"
import { listQueries } from "./storage-checks/list-queries.ts"
import { keys } from "./storage-checks/keys.ts"
import { answers } from "./storage-checks/answers.ts"
import { projection } from "./storage-checks/projection.ts"
import { retention } from "./storage-checks/retention.ts"
import { rate } from "./storage-checks/rate.ts"
import { work } from "./storage-checks/work.ts"

/** All checks as plain effects, for runners other than vitest. */
export const storageChecks: ReadonlyArray<Check> = [
  ...atomically,
  ...facts,
  ...documents,
  ...listQueries,
  ...keys,
  ...work,
  ...feed,
  ...auditLog,
  ...retention,
  ...projection,
  ...answers,
  ...blobs,
  ...bulk,
  ...rate
]

const STARTED_WITHIN = 120_000

/**
 * Runs every check against one store, which may hold other data and may be kept between runs. Uses
 * the real clock, because a store counts by its own.
 */
export const storageSuite = <E>(name: string, layer: Layer.Layer<Storage, E>): void => {
  describe(`storage: ${name}`, () => {
    const store = ManagedRuntime.make(layer)
    beforeAll(() => store.context().then(() => undefined), STARTED_WITHIN)
    afterAll(() => store.dispose(), STARTED_WITHIN)
    for (const port of new Set(storageChecks.map((check) => check.port))) {
      describe(port, () => {
        for (const check of storageChecks.filter((each) => each.port === port)) {
          it.live(check.name, () =>
            Effect.flatMap(store.contextEffect, (context) =>
              Effect.provideContext(check.run, context)
            )
          )
        }
      })
    }
  })
}
