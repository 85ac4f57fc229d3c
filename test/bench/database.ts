/** A database of a bench's own, with PostgreSQL's default durability, whose statements are counted. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Caller, Catalogue, Engine, type Read, settingsDefaults } from "@bursar/engine-core"
import { Party } from "@bursar/engine-core/kernel"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { write } from "../engine/calls.ts"
import { portsOn } from "../engine/world.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Meters from "./meter.ts"

export interface Database {
  readonly url: string
  /** Folder that is removed with the database. */
  readonly folder: string
  /** Storage ports and a plain client, whose commits wait for the disk. */
  readonly storage: Layer.Layer<Postgres.ProvidedPorts>
}

/** Runs an effect while its database runs, with further PostgreSQL settings where a bench names some. */
export const withDatabase = async <A, E>(
  use: (database: Database) => Effect.Effect<A, E>,
  settings: Readonly<Record<string, string>> = {}
): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  const program = Effect.gen(function* () {
    const { url } = yield* Embedded.startWith({
      dataFolder: folder,
      settings: { ...Meters.settings, ...settings }
    })
    const storage = Layer.orDie(Postgres.layer({ url: Redacted.make(url) }))
    return yield* use({ url, folder, storage })
  })
  try {
    return await Effect.runPromise(program.pipe(Effect.scoped, Effect.orDie))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The whole engine on these storage ports, with a ledger of its own; nothing runs by itself. */
export const engineOn = (storage: Database["storage"], settings = settingsDefaults) =>
  Engine.layer.pipe(Layer.provideMerge(portsOn(storage, { settings })))

export type Services = Layer.Success<ReturnType<typeof engineOn>> | Scope.Scope

export const registrar = Party.make({ hint: "registrar", fingerprint: `1220${"cd".repeat(32)}` })

/** Records an instrument as its issuer does. */
export const recordInstrument = (instrumentId: string) =>
  Effect.gen(function* () {
    const { state, why } = yield* write(
      "instrument.record",
      {},
      { ...bodyOf(), instrumentId, registrar }
    )
    if (state !== "succeeded") return yield* Effect.die(new Error(why))
  })

/** An operator, who sees every record. */
export const caller: Caller.Caller = {
  sub: "bench",
  name: null,
  email: null,
  roles: ["operator"],
  holderId: null,
  party: null
}

/** Finds a declared read by its name. */
export const readOf = (name: string): Read.One => {
  const found = Catalogue.queries.find(
    (read): read is Read.One => read.name === name && read.shape === "one"
  )
  if (found === undefined) throw new Error(`${name} is not read`)
  return found
}

/** Finds a declared list by its name. */
export const listOf = (name: string): Read.List => {
  const found = Catalogue.queries.find(
    (read): read is Read.List => read.name === name && read.shape === "list"
  )
  if (found === undefined) throw new Error(`${name} is not listed`)
  return found
}

/** Prints rows as a hand-written server would; numbers of 64 bits as texts. */
export const printed = (rows: unknown): string =>
  JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))
