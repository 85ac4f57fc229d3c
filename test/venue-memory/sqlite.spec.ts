/** A venue whose records are in a folder: an order goes its way, and is there when the folder is opened again. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Records } from "@bursar/engine-core"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { Venue } from "@bursar/storage-adapters/venue"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Order from "./order.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "bursar-sqlite-venue-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const order = Effect.flatMap(Records, (records) => records.find(subscriptions, "s1"))

describe("a venue whose records are in a folder", () => {
  it.live("walks an order from the market's consent to its price, and keeps it", () =>
    Effect.gen(function* () {
      const storage = Layer.orDie(Sqlite.layer({ folder: yield* folder }))
      const venue = Effect.provide(Venue.memory({ clock: "2026-07-31T12:00:00Z", storage }))
      const before = yield* Effect.andThen(Order.walked, order).pipe(venue, Effect.scoped)
      assert.isTrue(Option.isSome(before))
      const after = yield* Effect.provide(
        order,
        Venue.memory({ clock: "2026-07-31T12:00:00Z", storage: Layer.fresh(storage) })
      )
      assert.deepStrictEqual(after, before)
    })
  )
})
