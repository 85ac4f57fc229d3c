/**
 * The parties of the demo's ledger: created at the first start, each with a token file of its own.
 */
import { existsSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Party } from "@bursar/engine-core/kernel"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { SigningKey } from "@bursar/storage-adapters/wallets"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { DurableFiles } from "../DataFolder.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { write } from "./SecretFiles.ts"

export type Hint = "venue" | "registrar" | "fund" | "attestor" | "oracle" | "custodian" | Signer
/** External parties, which sign with a key of their own; the others act by token. */
export type Signer = (typeof signers)[number]
export type Parties = Readonly<Record<Hint, Party.Party>>

/** Id of the ledger, as the host uses it; the first process that opens a ledger sets it. */
export const ledgerId = "venue-1"
const participantId = "bursar-sim"

export const tokenFile = (folder: string, hint: Hint): string => join(folder, `${hint}.token`)
export const keyFile = (folder: string, signer: Signer): string => join(folder, `${signer}.key`)

const signers = ["investor", "successor"] as const
const hints = [
  "venue",
  "registrar",
  "fund",
  "attestor",
  "oracle",
  "custodian",
  ...signers
] as const satisfies ReadonlyArray<Hint>
export const isSigner = (hint: string): hint is Signer => signers.some((signer) => signer === hint)

/** Files of secrets are not in the folder, though the ledger has their parties; the message names each. */
export class SecretsMissing extends DemoFailed {
  constructor(files: ReadonlyArray<string>) {
    super(
      `The database has the parties of another folder, whose secrets are not here: ${files.join(", ")}. Restore the folder, name it with --data or BURSAR_DATA, or take an empty database. New secrets would end the old; nothing was written.`
    )
  }
}

/** File that exists until the first start of a folder has made all of its secrets. */
const unfinished = (folder: string): string => join(folder, "first-start")

/**
 * Refuses to start on parties whose tokens, keys or sign-in the folder lacks, before anything is
 * written. A first start that was interrupted goes on where it was.
 */
export const demandSecrets = async (options: {
  readonly url: string
  readonly folder: string
}): Promise<void> => {
  const { folder } = options
  const client = Postgres.layerClient({ url: Redacted.make(options.url), clientConnections: 1 })
  const users = await Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, SimulatedLedger.existingUsers).pipe(Effect.provide(client))
  )
  const existingHints = hints.filter((hint) => users.has(userOf(hint)))
  if (existingHints.length === 0) await writeFile(unfinished(folder), "")
  if (existsSync(unfinished(folder))) return
  const files = [
    ...existingHints.map((hint) => tokenFile(folder, hint)),
    ...existingHints.filter(isSigner).map((signer) => keyFile(folder, signer)),
    join(folder, "identity.json")
  ]
  const missing = files.filter((file) => !existsSync(file))
  if (missing.length > 0) throw new SecretsMissing(missing)
}

/** Notes that a folder has all of its secrets: from now on none is made for a party that exists. */
export const finish = (folder: string): Promise<void> => rm(unfinished(folder), { force: true })

/**
 * Creates missing parties, as the ledger's operator would, before the node starts: only one process
 * at a time owns a ledger.
 */
export const make = (options: {
  readonly url: string
  readonly folder: string
}): Promise<Parties> => {
  const node = SimulatedLedger.layerPostgres({ ledgerId, participantId }).pipe(
    Layer.provide(Postgres.layer({ url: Redacted.make(options.url), maxConnections: 4 }))
  )
  return Effect.gen(function* () {
    yield* Effect.promise(() => mkdir(options.folder, { recursive: true, mode: 0o700 }))
    const named = (hint: Hint) => party(hint, options.folder)
    const parties: Parties = yield* Effect.all({
      venue: named("venue"),
      registrar: named("registrar"),
      fund: named("fund"),
      attestor: named("attestor"),
      oracle: named("oracle"),
      custodian: named("custodian"),
      investor: named("investor"),
      successor: named("successor")
    })
    yield* Effect.promise(() => write(join(options.folder, "parties.json"), parties))
    return parties
  }).pipe(Effect.provide(node), Effect.runPromise)
}

const party = Effect.fnUntraced(function* (hint: Hint, folder: string) {
  const { admin } = yield* SimulatedLedger.Participant
  const file = tokenFile(folder, hint)
  const existing = (yield* admin.parties).find((entry) => entry.hint === hint)
  if (existing !== undefined) {
    if (!existsSync(file)) yield* keepToken(file, yield* admin.issueToken(userOf(hint)))
    return existing.party
  }
  const added = yield* admin.addParty({ hint, userId: userOf(hint), ...keyOf(hint, folder) })
  yield* keepToken(file, added.token)
  return added.party
})

/** Name of a party's user: the engine's own for the venue, the party's hint for every other. */
const userOf = (hint: Hint): string => (hint === "venue" ? "bursar-engine" : hint)

const keyOf = (hint: Hint, folder: string) => {
  if (!isSigner(hint)) return { kind: "local" } as const
  const file = keyFile(folder, hint)
  const { publicKey } = existsSync(file) ? SigningKey.read(file) : SigningKey.create(file)
  return { kind: "external", publicKey } as const
}

const keepToken = (file: string, token: string) =>
  Effect.promise(() => DurableFiles.write(file, `${token}\n`))

export const tokenOf = async (folder: string, hint: Hint): Promise<string> =>
  (await readFile(tokenFile(folder, hint), "utf8")).trim()
