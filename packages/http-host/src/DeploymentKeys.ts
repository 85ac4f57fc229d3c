/** Keys that a deployment makes and keeps where its settings name none. */
import { Instant, JsonText } from "@bursar/engine-core/kernel"
import { Data, Effect, Option, Result, Schema } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { link, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DurableFiles } from "./DataFolder.ts"

/** Purpose of a key; each purpose has a key file of its own. */
export type Use = "webhook" | "sealing" | "audit" | "cursor"

/** Key of the host, as its data folder keeps it. */
export interface OwnKey {
  readonly keyId: string
  /** 32 bytes. */
  readonly secret: Uint8Array
  readonly madeAt: Instant.Instant
}

/**
 * A key file without a valid key. The file is not replaced, because data sealed or signed with its
 * key would become unreadable or unverifiable.
 */
export class WrongKeyFile extends Data.TaggedError("WrongKeyFile")<{
  readonly file: string
  readonly detail: string
}> {
  override get message(): string {
    const { detail, file } = this
    return `${file} is not a key that this deployment made: ${detail}; restore it, or give keys in the settings`
  }
}

/** The folder of keys cannot be read or written. */
export class NoKeyFile extends Data.TaggedError("NoKeyFile")<{
  readonly file: string
  readonly cause: unknown
}> {
  override get message(): string {
    const { cause, file } = this
    return `the key of ${file} cannot be read or kept: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

const keyBytes = 32

const KeyFile = Schema.Struct({
  keyId: Schema.String,
  secret: Schema.String,
  madeAt: Instant.schema
})
const decode = Schema.decodeUnknownOption(KeyFile)

/** Parses the text of a key file; the failure says what is wrong, and never a part of the key. */
const parse = (text: string): Result.Result<OwnKey, string> => {
  const json = JsonText.parse(text)
  if (Result.isFailure(json)) return Result.fail(json.failure.message)
  const key = Option.getOrNull(decode(json.success))
  const secret = key === null ? null : new Uint8Array(Buffer.from(key.secret, "base64"))
  return key !== null && secret?.length === keyBytes
    ? Result.succeed({ ...key, secret })
    : Result.fail(`it lacks keyId, madeAt or a secret of ${keyBytes} bytes in base64`)
}

const readIfPresent = (file: string) =>
  Effect.tryPromise({
    try: () =>
      readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      }),
    catch: (cause) => new NoKeyFile({ file, cause })
  })

/**
 * Creates a file atomically; of concurrent writers the first one's file stays, and the others change
 * nothing.
 */
const keep = async (file: string, text: string): Promise<void> => {
  const draft = `${file}.${randomBytes(8).toString("hex")}`
  await DurableFiles.write(draft, text, { isNew: true })
  try {
    await link(draft, file)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
  } finally {
    // The folder is flushed with the name of the key, before anything is sealed or signed with it.
    await DurableFiles.remove(draft)
  }
}

/** Path of the file that keeps the key of a purpose. */
export const fileOf = ({ data, use }: { readonly data: string; readonly use: Use }): string =>
  join(data, "keys", `${use}.json`)

/** Reads the key that an earlier start made for a purpose; undefined where there is none. */
export const existingKey = (keyFile: {
  readonly use: Use
  readonly data: string
}): Effect.Effect<OwnKey | undefined, WrongKeyFile | NoKeyFile> =>
  Effect.gen(function* () {
    const file = fileOf(keyFile)
    const text = yield* readIfPresent(file)
    if (text === undefined) return undefined
    return yield* Effect.mapError(
      Effect.fromResult(parse(text)),
      (detail) => new WrongKeyFile({ file, detail })
    )
  })

/**
 * Returns the key of a purpose that an earlier start made, or makes one, in
 * `<data>/keys/<use>.json` with access for its owner alone. Logs a new key, because instances that
 * do not share the folder need the key in their settings.
 */
export const own = (keyFile: {
  readonly use: Use
  readonly data: string
  /** Name of the setting that configures such a key. */
  readonly setting: string
}): Effect.Effect<OwnKey, WrongKeyFile | NoKeyFile> =>
  Effect.gen(function* () {
    const file = fileOf(keyFile)
    const folder = dirname(file)
    if ((yield* readIfPresent(file)) === undefined) {
      const secret = randomBytes(keyBytes)
      const digest = createHash("sha256").update("bursar-key-id\n").update(secret).digest("hex")
      const key = {
        keyId: `${keyFile.use}-${digest.slice(0, 8)}`,
        secret: secret.toString("base64"),
        madeAt: Instant.format(yield* Instant.now)
      }
      yield* Effect.tryPromise({
        try: async () => {
          await DurableFiles.makeFolder(folder)
          await keep(file, `${JSON.stringify(key)}\n`)
        },
        catch: (cause) => new NoKeyFile({ file, cause })
      })
      yield* Effect.logWarning(
        `${keyFile.setting} is not set: the deployment made a key of its own and keeps it in ${file}`
      )
    }
    const key = yield* existingKey(keyFile)
    if (key === undefined) return yield* new WrongKeyFile({ file, detail: "it was removed" })
    yield* Effect.logInfo(`${keyFile.setting} is not set: key ${key.keyId} of ${file} is used`)
    return key
  })
