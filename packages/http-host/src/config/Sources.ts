/** Sources of settings: environment variables, and one JSON file. */
import { JsonText, Nearest } from "@bursar/engine-core/kernel"
import { Config, ConfigProvider, Data, Effect, Option, Result } from "effect"
import { open } from "node:fs/promises"

/**
 * Name of the variable that names the configuration file. It is no setting: the file cannot name
 * itself.
 */
export const fileVariable = "BURSAR_CONFIG"

/** Longest configuration file in bytes. */
const fileMax = 1024 * 1024

/** Prefix of the project's variables; DATABASE_URL is a common name without it. */
const prefix = "BURSAR"

/** Values of the file, by the settings' names. */
export type FileValues = ReadonlyMap<string, unknown>

/** The file cannot be used; the faults never contain a value of it. */
export class WrongFile extends Data.TaggedError("WrongFile")<{
  readonly faults: ReadonlyArray<string>
}> {}

/** Text of an environment variable; undefined where it is not set. */
export const variable = (name: string): Effect.Effect<string | undefined, WrongFile> =>
  Config.option(Config.String(name)).pipe(
    Effect.map(Option.getOrUndefined),
    Effect.mapError(({ message }) => new WrongFile({ faults: [`${name}: ${message}`] }))
  )

/**
 * Faults of environment variables that begin with BURSAR_ and are not in `known`. A misspelt
 * variable would otherwise silently leave its setting at the default. Faults name variables, never
 * values.
 */
export const strayVariables = (
  knownNames: ReadonlySet<string>
): Effect.Effect<ReadonlyArray<string>, WrongFile> =>
  Effect.gen(function* () {
    const provider = yield* ConfigProvider.ConfigProvider
    const found: Array<string> = []
    const look = (path: ConfigProvider.Path): Effect.Effect<void, ConfigProvider.SourceError> =>
      Effect.gen(function* () {
        const node = yield* provider.load(path)
        if (node === undefined) return
        if (path.length > 1 && node.value !== undefined) found.push(path.join("_"))
        if (node._tag === "Record") {
          for (const part of node.keys) yield* look([...path, part])
        }
        // The provider reads names that are numbers as indexes of an array; only the last one
        // certainly has a value.
        if (node._tag === "Array") yield* look([...path, node.length - 1])
      })
    yield* look([prefix])
    // Compared without their common prefix, so that a name such as DATABASE_URL can be nearest.
    const byRest = new Map(knownNames.values().map((name) => [restOf(name), name]))
    return found
      .filter((name) => !knownNames.has(name))
      .map((name) => {
        const [near = ""] = Nearest.words(restOf(name), { set: [...byRest.keys()], count: 1 })
        return `${shown(name)} is no variable of a setting; the nearest is ${byRest.get(near)}`
      })
  }).pipe(Effect.mapError(({ message }) => new WrongFile({ faults: [message] })))

const restOf = (name: string): string =>
  name.startsWith(`${prefix}_`) ? name.slice(prefix.length + 1) : name

/**
 * Reads the configuration file that the environment names, if any: one JSON object whose members
 * are settings by name, or prefixes of names with an object inside, so that `{"a.b": 1}` and `{"a":
 * {"b": 1}}` are the same. Other members are refused, with the nearest name.
 */
export const file = (names: ReadonlySet<string>): Effect.Effect<FileValues, WrongFile> =>
  Effect.gen(function* () {
    const path = yield* variable(fileVariable)
    if (path === undefined || path === "") return new Map()
    const failed = (detail: string) => new WrongFile({ faults: [`${fileVariable}: ${detail}`] })
    const text = yield* Effect.tryPromise({
      try: () => read(path),
      catch: (cause) => failed(`${path} cannot be read: ${codeOf(cause)}`)
    })
    if (text === undefined) return yield* failed(`${path} has more than ${fileMax} bytes`)
    const parsed = JsonText.parse(text)
    if (Result.isFailure(parsed)) {
      const { message, pointer } = parsed.failure
      return yield* failed(`${path}: ${message}${pointer === "" ? "" : ` (${pointer})`}`)
    }
    const values = parsed.success
    if (!isObject(values)) return yield* failed(`${path} is not an object of JSON`)
    const foundValues = new Map<string, unknown>()
    const faults: Array<string> = []
    gather(values, "", { names, foundValues, faults })
    return faults.length > 0 ? yield* new WrongFile({ faults }) : foundValues
  })

const read = async (path: string): Promise<Uint8Array | undefined> => {
  await using handle = await open(path, "r")
  const buffer = Buffer.alloc(fileMax + 1)
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
    if (bytesRead === 0) return buffer.subarray(0, length)
    length += bytesRead
  }
  return undefined
}

/** The system's error code, such as ENOENT. */
const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const gather = (
  values: Readonly<Record<string, unknown>>,
  prefix: string,
  into: {
    readonly names: ReadonlySet<string>
    readonly foundValues: Map<string, unknown>
    readonly faults: Array<string>
  }
): void => {
  for (const [member, value] of Object.entries(values)) {
    const name = prefix === "" ? member : `${prefix}.${member}`
    if (into.names.has(name)) {
      if (into.foundValues.has(name)) into.faults.push(`${name} is set twice in the file`)
      into.foundValues.set(name, value)
    } else if (isObject(value) && isPrefix(name, into.names)) {
      gather(value, name, into)
    } else {
      into.faults.push(unknownName(name, into.names))
    }
  }
}

const isPrefix = (name: string, names: ReadonlySet<string>): boolean =>
  names.values().some((other) => other.startsWith(`${name}.`))

/** The name is truncated: it may be a value that was written in the wrong place. */
const unknownName = (name: string, names: ReadonlySet<string>): string => {
  const near = Nearest.near(name, [...names])
  return `${shown(name)} is no setting${near === null ? "" : `; the nearest is ${near}`}`
}

const shown = (name: string): string =>
  JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
