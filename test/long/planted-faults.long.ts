/** Faults planted into statements by chance, on PostgreSQL: exactly the finding of each appears, and no other. */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Layer } from "effect"
import { expect, it } from "vitest"
import { movedClock } from "../engine/moved-clock.ts"
import { world } from "../engine/world.ts"
import { walked } from "../operations/planted-faults.ts"

const onDatabase = () =>
  world({ storage: TestDatabase.layer as typeof Memory.layer }).pipe(
    Layer.provideMerge(Layer.succeed(Clock.Clock, movedClock().clock))
  )

it("are each found exactly on PostgreSQL, and nothing else is", async () => {
  await walked({ count: Number(process.env["PLANTED_ON_DATABASE"] ?? 2), over: onDatabase })
  expect.hasAssertions()
})
