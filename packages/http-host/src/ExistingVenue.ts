/**
 * Guard of a start on existing data: refuses to make new keys or a new token where an earlier start
 * used others that the data folder lacks.
 */
import { Data, Effect } from "effect"
import { access } from "node:fs/promises"
import { join } from "node:path"
import type { KeyIds } from "./ConfigLoaded.ts"
import * as NotUsable from "./config/NotUsable.ts"
import * as DeploymentKeys from "./DeploymentKeys.ts"
import type { HostConfig, Name } from "./HostConfig.ts"

/** Earlier use of the database and its ledger, as it was read before anything is written. */
export interface EarlierUse {
  /** True: records were written. */
  readonly isUsed: boolean
  /** Ids of the keys that the latest start had; null where no start is recorded. */
  readonly keyIds: KeyIds | null
  /** True: the ledger has issued a token for the venue; null: it issues none. */
  readonly hasVenueToken: boolean | null
}

/** Secrets of earlier starts are not in the data folder; the message names each file and setting. */
export class SecretsMissing extends Data.TaggedError("SecretsMissing")<{
  readonly data: string
  readonly missing: ReadonlyArray<string>
}> {
  override get message(): string {
    const { data, missing } = this
    return `the database was used before with secrets that ${data} does not have: ${missing.join(", ")}; restore the folder, or give them in these settings. New ones would end the old; nothing was written`
  }
}

const settingOf = {
  webhook: "webhooks.keys",
  sealing: "webhooks.sealingKeys",
  audit: "audit.keys",
  cursor: "cursor.keys"
} as const satisfies Readonly<Record<DeploymentKeys.Use, Name>>

/** File of the venue's token at the simulated ledger. */
export const tokenFile = (data: string): string => join(data, "ledger", "venue.token")

/**
 * File that exists while the token is requested from the ledger. A start that was killed in between
 * finds it, and requests another: nobody has the first one.
 */
export const tokenDraft = (data: string): string => `${tokenFile(data)}.requested`

type Config = Pick<HostConfig, (typeof settingOf)[keyof typeof settingOf] | "data" | "ledger.token">

/**
 * Guards the secrets of earlier starts (docs/contract/instances.md#secrets-of-earlier-starts):
 * refuses a start that would make a key or request a token in place of one that an earlier start
 * used, and names every missing file with its setting. Settings that name a secret need no file. A
 * folder whose other secrets are all in settings is taken as ephemeral: then a lost cursor key is
 * made anew, and only places in lists and feeds end with it. Returns whether the start is a first one:
 * nobody has recorded which secrets are used, or the folder lacks one that the start will make.
 */
export const demandSecrets = (config: Config, existing: EarlierUse) =>
  Effect.gen(function* () {
    const missing: Array<string> = []
    const lasting = ["webhook", "sealing", "audit"] as const
    for (const use of lasting) missing.push(...(yield* missingKey(config, existing, use)))
    const hasToken =
      existing.hasVenueToken === null ||
      config["ledger.token"] !== null ||
      (yield* exists(tokenFile(config.data))) ||
      (yield* exists(tokenDraft(config.data)))
    if (!hasToken && existing.hasVenueToken === true) {
      missing.push(`${tokenFile(config.data)} (ledger.token)`)
    }
    const isEphemeral =
      lasting.every((use) => config[settingOf[use]].length > 0) &&
      (existing.hasVenueToken === null || config["ledger.token"] !== null)
    if (!isEphemeral) missing.push(...(yield* missingKey(config, existing, "cursor")))
    if (missing.length > 0) return yield* new SecretsMissing({ data: config.data, missing })
    const areKept = yield* Effect.forEach(lasting, (use) => hasKey(config, use))
    return existing.keyIds === null || !hasToken || areKept.includes(false)
  }).pipe(NotUsable.faultOf("data"))

/** Names what is missing of the keys of a purpose; nothing where a setting names its keys. */
const missingKey = (config: Config, { isUsed, keyIds }: EarlierUse, use: DeploymentKeys.Use) =>
  Effect.gen(function* () {
    const setting = settingOf[use]
    if (!isUsed || config[setting].length > 0) return []
    const place = { data: config.data, use }
    const file = `${DeploymentKeys.fileOf(place)} (${setting})`
    const key = yield* DeploymentKeys.existingKey(place)
    const used = keyIds?.[use] ?? null
    // Ids of cursor keys are numbers that every deployment counts from 0.
    if (use === "cursor") return key === undefined && used !== null && used.length > 0 ? [file] : []
    const others = (used ?? []).filter((keyId) => keyId !== key?.keyId)
    if (others.length > 0) return [`${file} with the key ${others.join(" ")}`]
    // A start that had no such key leaves nothing behind that a new one would end.
    return key === undefined && used?.length !== 0 ? [file] : []
  })

const hasKey = (config: Config, use: DeploymentKeys.Use): Effect.Effect<boolean> =>
  config[settingOf[use]].length > 0
    ? Effect.succeed(true)
    : exists(DeploymentKeys.fileOf({ data: config.data, use }))

const exists = (file: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    access(file).then(
      () => true,
      () => false
    )
  )
