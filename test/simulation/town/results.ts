/** What an operation answered, member by member against the record it is about, at that very version. */
import { type Caller, Catalogue, type Read, Reads, Records } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import { operations } from "../../../packages/engine-core/src/writes/OperationRecord.ts"
import { same } from "../books.ts"
import { note, type Town } from "./town.ts"

const auditor: Caller.Caller = {
  sub: "reader-auditor",
  name: null,
  email: null,
  roles: ["auditor"],
  holderId: null,
  party: null
}

interface Found {
  readonly read: Read.One
  readonly texts: Readonly<Record<string, string>>
}

const patterns = Catalogue.reads.flatMap((read: Read.Read) => {
  if (read.shape !== "one") return []
  const path = read.route.slice("GET ".length).replaceAll(/\{([a-zA-Z]+)\}/g, "(?<$1>[^/?]+)")
  return [{ read, pattern: new RegExp(`^${path}$`, "u") }]
})

/** The read that answers the record at this path. */
const readAt = (href: string): Found | undefined => {
  for (const { read, pattern } of patterns) {
    const match = pattern.exec(href)
    if (match !== null) return { read, texts: { ...match.groups } }
  }
  return undefined
}

type Members = Readonly<Record<string, PlainJson.Plain>>
const membersOf = (plain: PlainJson.Plain): Members => plain as Members

/** Without the actions of four eyes that await the record, which no result tells of. */
const ofRecord = (value: Members): Members => {
  const { waitingOn } = value
  if (!Array.isArray(waitingOn)) return value
  return {
    ...value,
    waitingOn: waitingOn.filter((one) => membersOf(one as PlainJson.Plain)["actionKey"] === null)
  }
}

/** The inputs of a basis say at which offset they are read, and a result is read at none. */
const told = (name: string, value: PlainJson.Plain | undefined): string => {
  const text = PlainJson.canonical(value ?? null)
  return name === "basis" ? text.replaceAll(/"offset":(?:null|\d+)/gu, "") : text
}

export const make = () => {
  let since: Instant.Instant | undefined
  const compared = new Set<string>()

  return {
    /** The operations that have succeeded since the last look. */
    look: Effect.fnUntraced(function* (town: Town) {
      const records = yield* Records
      const reads = yield* Reads
      const rows = yield* records.list(operations, {
        where: { state: ["succeeded"] },
        limit: 1_000,
        ...(since === undefined ? {} : { updatedFrom: since })
      })
      for (const { record } of rows) {
        if (since === undefined || record.updatedAt > since) since = record.updatedAt
        if (compared.has(record.operationId)) continue
        compared.add(record.operationId)
        const found = readAt(record.resource.href)
        const result = membersOf((record.result ?? {}) as PlainJson.Plain)
        if (found === undefined || result["version"] === undefined) {
          note(town, `result without a read ${record.kind}`)
          continue
        }
        const params: unknown = Schema.decodeUnknownSync(found.read.params)(found.texts)
        // As of when it was written: the clock may have moved the record since.
        const point = { asOf: Instant.of(String(result["updatedAt"])) }
        const answer = yield* Effect.result(
          reads.one(found.read, { caller: auditor, params, point })
        )
        if (answer._tag === "Failure") {
          note(town, `result not read again ${record.kind} ${answer.failure.slug}`)
          continue
        }
        const { value } = answer.success
        const text = PlainJson.stringify(
          Schema.encodeUnknownSync(found.read.value)(value) as PlainJson.Printable
        )
        const shown = ofRecord(membersOf(PlainJson.parseTrusted(text)))
        if (String(shown["version"]) !== String(result["version"])) {
          note(town, `result of an earlier version ${record.kind}`)
          continue
        }
        note(town, `result compared ${record.kind}`)
        // A read of one record may show more than every answer with it does.
        const others = Object.keys(result).filter(
          (name) => told(name, shown[name]) !== told(name, result[name])
        )
        same(
          others.map((name) => [name, result[name], shown[name]]),
          [],
          `what the result of ${record.kind} ${record.operationId} says otherwise than its record`
        )
      }
    })
  }
}
