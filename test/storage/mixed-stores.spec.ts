/** Storage ports of two stores in one engine: the start is refused with a sentence that names them. */
import { Venue } from "@bursar/engine-core"
import { Bulk, Documents, FactLog, Feed, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { Venue as Ready } from "@bursar/storage-adapters/venue"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "bursar-mixed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sqlite = Layer.orDie(Sqlite.layer({ folder }))

/** A store with some of its ports replaced by those of another one. */
const mixed = (
  replace: (
    into: Context.Context<Memory.Storage>,
    from: Context.Context<Memory.Storage>
  ) => Context.Context<Memory.Storage>,
  other: Layer.Layer<Memory.Storage>
): Layer.Layer<Memory.Storage> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* Layer.build(Layer.fresh(Memory.layer))
      return replace(store, yield* Layer.build(Layer.fresh(other)))
    })
  )

const whole =
  "Atomically, Blobs, Bulk, Documents, FactLog, Feed, Keys, ProjectionLog, RateWindow, Terms"
const advice =
  "A transaction spans one store alone: give the engine all storage ports of one layer."

const startOf = async (storage: Layer.Layer<Memory.Storage>): Promise<string> => {
  const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(Ready.memory({ storage }))))
  return Exit.isSuccess(exit) ? "started" : String(Cause.squash(exit.cause))
}

describe("an engine", () => {
  it("starts on the ports of one store", async () => {
    expect(await startOf(Memory.layer)).toBe("started")
    expect(await startOf(sqlite)).toBe("started")
  })

  it("never starts on ports of two stores, and says which are of which", async () => {
    const storage = mixed(
      (into, from) =>
        into.pipe(
          Context.add(Documents, Context.get(from, Documents)),
          Context.add(Bulk, Context.get(from, Bulk))
        ),
      sqlite
    )
    expect(await startOf(storage)).toBe(
      `Error: The storage ports are of 2 stores: Atomically, Blobs, FactLog, Feed, Keys, ProjectionLog, RateWindow, Terms, WorkQueue of memory; Bulk, Documents of SQLite. ${advice}`
    )
  })

  it("never starts on a port of another opening of its store", async () => {
    const storage = mixed(
      (into, from) => Context.add(into, WorkQueue, Context.get(from, WorkQueue)),
      Memory.layer
    )
    expect(await startOf(storage)).toBe(
      `Error: The storage ports are of 2 stores: ${whole} of memory; WorkQueue of another opening of memory. ${advice}`
    )
  })

  it("never opens as a library without Effect on ports of two stores", async () => {
    const storage = mixed(
      (into, from) => Context.add(into, FactLog, Context.get(from, FactLog)),
      Memory.layer
    )
    await expect(Venue.open(Ready.memory({ storage }))).rejects.toThrow(advice)
  })

  it("starts on ports that wrap those of its store", async () => {
    const storage = Layer.effectContext(
      Effect.map(Layer.build(Layer.fresh(Memory.layer)), (store) =>
        Context.add(store, Feed, { ...Context.get(store, Feed) })
      )
    )
    expect(await startOf(storage)).toBe("started")
  })
})
