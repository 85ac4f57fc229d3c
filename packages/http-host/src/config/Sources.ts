/** Sources of settings: environment variables, and one JSON file. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Config, ConfigProvider, Data, Effect, Option, Result } from "effect"
import { open } from "node:fs/promises"

/** The variable that names the file of settings. It is no setting: the file cannot name itself. */
export const fileVariable = "BURSAR_CONFIG"

/** A file longer than this is not one of settings. */
const fileMax = 1024 * 1024

/** Prefix of the project's variables; DATABASE_URL is a common name without it. */
const prefix = "BURSAR"

/** A name nearer than this many letters is worth proposing. */
const nearestWithin = 4

/** What the file says, by the settings' names. */
export type FileValues = ReadonlyMap<string, unknown>

/** Why the file cannot be used; never with a value of it. */
export class WrongFile extends Data.TaggedError("WrongFile")<{
  readonly faults: ReadonlyArray<string>
}> {}

/** A variable's text; undefined where it is not set. */
export const variable = (name: string): Effect.Effect<string | undefined, WrongFile> =>
  Config.option(Config.String(name)).pipe(
    Effect.map(Option.getOrUndefined),
    Effect.mapError(({ message }) => new WrongFile({ faults: [`${name}: ${message}`] }))
  )

/**
 * A fault for each variable of the environment that begins with BURSAR_ and is none of `known`: one
 * letter too few, and the default would hold without a word. Names are told, never a value.
 */
export const strayVariables = (
  known: ReadonlySet<string>
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
        // Numbers alone are taken for places of a list; the last one is there, the others may not be.
        if (node._tag === "Array") yield* look([...path, node.length - 1])
      })
    yield* look([prefix])
    // Without their common beginning, so that a name like DATABASE_URL is near to itself.
    const byRest = new Map(known.values().map((name) => [restOf(name), name]))
    return found
      .filter((name) => !known.has(name))
      .map((name) => {
        const near = nearest(restOf(name), byRest.keys(), Number.POSITIVE_INFINITY) ?? ""
        return `${shown(name)} is no variable of a setting; the nearest is ${byRest.get(near)}`
      })
  }).pipe(Effect.mapError(({ message }) => new WrongFile({ faults: [message] })))

const restOf = (name: string): string =>
  name.startsWith(`${prefix}_`) ? name.slice(prefix.length + 1) : name

/**
 * The file that the environment names, if any. It is one object of JSON: a member is a setting by
 * its name, or a part of such names with an object of its own, so that `{"a.b": 1}` and
 * `{"a": {"b": 1}}` say the same. A member that is neither is refused with the nearest name there is.
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
    // The strict reader judges the text, with its repeated members; the platform's gives plain values.
    const judged = PlainJson.parse(text)
    if (Result.isFailure(judged)) {
      const { pointer, detail } = judged.failure
      return yield* failed(
        `${path} is not JSON${pointer === "" ? "" : ` at ${pointer}`}: ${detail}`
      )
    }
    const values: unknown = JSON.parse(new TextDecoder().decode(text))
    if (!isObject(values)) return yield* failed(`${path} is not an object of JSON`)
    const found = new Map<string, unknown>()
    const faults: Array<string> = []
    gather(values, "", { names, found, faults })
    return faults.length > 0 ? yield* new WrongFile({ faults }) : found
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

/** A system's word for what is wrong, such as ENOENT. */
const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const gather = (
  values: Readonly<Record<string, unknown>>,
  prefix: string,
  into: {
    readonly names: ReadonlySet<string>
    readonly found: Map<string, unknown>
    readonly faults: Array<string>
  }
): void => {
  for (const [member, value] of Object.entries(values)) {
    const name = prefix === "" ? member : `${prefix}.${member}`
    if (into.names.has(name)) {
      if (into.found.has(name)) into.faults.push(`${name} is set twice in the file`)
      into.found.set(name, value)
    } else if (isObject(value) && isPrefix(name, into.names)) {
      gather(value, name, into)
    } else {
      into.faults.push(unknownName(name, into.names))
    }
  }
}

const isPrefix = (name: string, names: ReadonlySet<string>): boolean =>
  names.values().some((one) => one.startsWith(`${name}.`))

/** A name is shown as far as a name goes: what stands there may be a value that slipped. */
const unknownName = (name: string, names: ReadonlySet<string>): string => {
  const near = nearest(name, names)
  return `${shown(name)} is no setting${near === undefined ? "" : `; the nearest is ${near}`}`
}

const shown = (name: string): string =>
  JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)

/** The name with the fewest letters to change, fewer than `within`; undefined when none is. */
export const nearest = (
  name: string,
  names: Iterable<string>,
  within = nearestWithin
): string | undefined => {
  let best: string | undefined
  let least = within
  for (const one of names) {
    const steps = distance(name.toLowerCase().slice(0, 64), one.toLowerCase())
    const related = one.toLowerCase().endsWith(`.${name.toLowerCase()}`) ? 1 : steps
    if (related < least) {
      best = one
      least = related
    }
  }
  return best
}

/** Levenshtein's: how many letters to add, drop or change. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
