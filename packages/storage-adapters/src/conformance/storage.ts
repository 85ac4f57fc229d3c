/** Conformance suite of storage adapters: every promise of the ports, one test each. */
import { it } from "@effect/vitest"
import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe } from "vitest"
import type { Storage } from "../storage/memory/Memory.ts"
import type { Check, OpeningsCheck, ReopenCheck } from "./Check.ts"
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
import { streams } from "./storage-checks/streams.ts"
import { terms } from "./storage-checks/terms.ts"
import { waits } from "./storage-checks/waits.ts"
import { work } from "./storage-checks/work.ts"
import * as Openings from "./storage-checks/openings.ts"
import * as Reopened from "./storage-checks/reopened.ts"

/** All checks as plain effects, for runners other than vitest. */
export const storageChecks: ReadonlyArray<Check> = [
  ...atomically,
  ...facts,
  ...documents,
  ...listQueries,
  ...waits,
  ...keys,
  ...work,
  ...feed,
  ...auditLog,
  ...retention,
  ...projection,
  ...answers,
  ...blobs,
  ...bulk,
  ...rate,
  ...streams,
  ...terms
]

/** Checks of what a store keeps when it is closed and opened again, as plain effects. */
export const reopenChecks: ReadonlyArray<ReopenCheck> = Reopened.checks

/** Checks of two openings of one store, as plain effects. */
export const openingsChecks: ReadonlyArray<OpeningsCheck> = Openings.checks

const STARTED_WITHIN = 120_000

/** Further openings of the store under test, each the same store as the first one. */
export interface FurtherOpenings<E> {
  /** Opens the store again once it was closed; left out of a store that keeps nothing. */
  readonly reopen?: Layer.Layer<Storage, E>
  /** Opens the store beside another opening; left out of a store that one process alone can open. */
  readonly second?: Layer.Layer<Storage, E>
}

/**
 * Runs every check against one store, which may hold other data and may be kept between runs; those of
 * durability where `reopen` is given, and those of several processes where `second` is. Uses the real
 * clock, because a store counts by its own. `open` is built once for each of the three, and must open
 * the same store each time where one of them is given.
 */
export const storageSuite = <E>(
  name: string,
  open: Layer.Layer<Storage, E>,
  { reopen, second }: FurtherOpenings<E> = {}
): void => {
  describe(`storage: ${name}`, () => {
    const store = runtime(open)
    byPort(storageChecks, (check) => {
      it.live(check.name, () =>
        Effect.flatMap(store.contextEffect, (context) => Effect.provideContext(check.run, context))
      )
    })
  })
  if (reopen !== undefined) reopenSuite({ name, open, reopen })
  if (second !== undefined) openingsSuite({ name, open, second })
}

/** Writes of every check on one opening, which is closed; then their checks of the next one. */
const reopenSuite = <E>({
  name,
  open,
  reopen
}: {
  readonly name: string
  readonly open: Layer.Layer<Storage, E>
  readonly reopen: Layer.Layer<Storage, E>
}): void => {
  describe(`storage: ${name}, opened again`, () => {
    const written = new Map<ReopenCheck, Exit.Exit<Check["run"], unknown>>()
    beforeAll(async () => {
      const before = ManagedRuntime.make(Layer.fresh(open))
      for (const check of reopenChecks) {
        written.set(check, await before.runPromiseExit(Effect.scoped(check.run)))
      }
      await before.dispose()
    }, STARTED_WITHIN)
    const store = runtime(reopen)
    byPort(reopenChecks, (check) => {
      it.live(check.name, () =>
        Effect.gen(function* () {
          const next = yield* written.get(check) ?? Exit.die(new Error("nothing was written"))
          yield* Effect.provideContext(next, yield* store.contextEffect)
        })
      )
    })
  })
}

const openingsSuite = <E>({
  name,
  open,
  second
}: {
  readonly name: string
  readonly open: Layer.Layer<Storage, E>
  readonly second: Layer.Layer<Storage, E>
}): void => {
  describe(`storage: ${name}, opened twice`, () => {
    const stores = { first: runtime(open), second: runtime(second) }
    byPort(openingsChecks, (check) => {
      it.live(check.name, () =>
        Effect.gen(function* () {
          const first = yield* stores.first.contextEffect
          yield* check.run({ first, second: yield* stores.second.contextEffect })
        })
      )
    })
  })
}

/** Opening of a store that lasts as long as the tests of a `describe`. */
const runtime = <E>(layer: Layer.Layer<Storage, E>) => {
  const store = ManagedRuntime.make(Layer.fresh(layer))
  beforeAll(() => store.context().then(() => undefined), STARTED_WITHIN)
  afterAll(() => store.dispose(), STARTED_WITHIN)
  return store
}

const byPort = <C extends { readonly port: string }>(
  checks: ReadonlyArray<C>,
  declare: (check: C) => void
): void => {
  for (const port of new Set(checks.map((check) => check.port))) {
    describe(port, () => {
      for (const check of checks) if (check.port === port) declare(check)
    })
  }
}
