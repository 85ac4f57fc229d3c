/**
 * Comparison of an operation's result, member by member, with the record it is about at that very
 * version.
 */
import { type Caller, Catalogue, type Operation, type Read, Queries } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema } from "effect"
import type { Stored } from "#core/records/Records.ts"
import type { OperationRecord } from "#core/writes/OperationRecord.ts"

const auditor: Caller.Caller = {
  sub: "reader-auditor",
  name: null,
  email: null,
  roles: ["auditor"],
  holderId: null,
  party: null
}

/**
 * Place of a record in the answer of the read at its operation's href, if the answer is not the
 * record itself.
 */
export interface Place {
  /** The member of the answer, or of the result, that holds the record or its rows. */
  readonly member?: string
  /** The member that tells the rows of a list apart. */
  readonly row?: string
}

/** The kinds whose record is a member of another one, or has no read but its list. */
export const places: Readonly<Record<string, Place>> = {
  "admission-consent.propose": { member: "admissionConsent" },
  "admission.offer": { row: "admissionId" },
  "admission.withdraw": { row: "admissionId" },
  "external-account.map": { row: "externalAccountId" },
  "primary-market.propose": { member: "primaryMarket" },
  "holder.restrict-batch": { member: "restrictions", row: "restrictionId" },
  "issuer-powers-agreement.propose": { member: "issuerPowersAgreement" },
  "issuer-powers-consent.offer": { member: "consents", row: "issuerPowersConsentId" }
}

/** Members of results that say what the operation did, and that no read of the record shows. */
const ofOperation: Readonly<Record<string, ReadonlyArray<string>>> = {
  "distribution.instruct": ["lines"],
  "distribution.roll": ["lines"],
  // A read also says at which offset it judged the cover.
  "reserve.propose": ["cover"],
  "reserve.close": ["cover"]
}

const patterns = Catalogue.queries.map((read) => {
  const path = read.route.slice("GET ".length).replaceAll(/\{([a-zA-Z]+)\}/g, "(?<$1>[^/?]+)")
  return { read, pattern: new RegExp(`^${path}$`, "u") }
})

/** The read that answers at this path. */
const readAt = (href: string): { read: Read.Read; params: unknown } | undefined => {
  for (const { read, pattern } of patterns) {
    const match = pattern.exec(href)
    if (match !== null) {
      return { read, params: Schema.decodeUnknownSync(read.params)({ ...match.groups }) }
    }
  }
  return undefined
}

type Members = Readonly<Record<string, PlainJson.Plain>>
const membersOf = (plain: PlainJson.Plain | undefined): Members => (plain ?? {}) as Members
const rowsOf = (plain: PlainJson.Plain | undefined) =>
  (plain ?? []) as ReadonlyArray<PlainJson.Plain>

const encoded = (schema: Schema.Codec<unknown, unknown>, value: unknown): PlainJson.Plain =>
  PlainJson.parseTrusted(
    PlainJson.stringify(Schema.encodeUnknownSync(schema)(value) as PlainJson.Printable)
  )

/** Answer at a path, as of an instant if the read is pinned. */
const answerAt = Effect.fnUntraced(function* (href: string, asOf: Instant.Instant) {
  const found = readAt(href)
  if (found === undefined) return undefined
  const queries = yield* Queries
  const { params, read } = found
  const question = { caller: auditor, params, point: read.pinned ? { asOf } : {} }
  if (read.shape === "one") {
    return encoded(read.value, (yield* queries.one(read, question)).value)
  }
  if (read.shape !== "list") throw new Error(`${href} is streamed, and no result leads to it`)
  const { next, value } = yield* queries.page(read, { ...question, page: { limit: 1_000 } })
  if (next !== null) throw new Error(`${href} is longer than is compared`)
  return encoded(Schema.Array(read.item), value)
})

/** The record without the four-eyes actions that await it, which no result contains. */
const ofRecord = (value: Members): Members => {
  const { waitingOn } = value
  if (!Array.isArray(waitingOn)) return value
  return {
    ...value,
    waitingOn: waitingOn.filter((one) => membersOf(one as PlainJson.Plain)["actionKey"] === null)
  }
}

/**
 * The lot that a record shows, with the `remaining` of the result where the record says less: a
 * movement of the same instant used units of the lot after the result was written, and the order that
 * shows the lot has no new version by that.
 */
const withoutLaterUse = (
  one: PlainJson.Plain | undefined,
  shown: PlainJson.Plain | undefined
): PlainJson.Plain | undefined => {
  const [before, after] = [membersOf(one), membersOf(shown)]
  const unitsOf = (lot: Members) => Number(PlainJson.canonical(lot["remaining"] ?? null))
  const isUsed = unitsOf(after) < unitsOf(before)
  return isUsed ? { ...after, remaining: before["remaining"] ?? null } : shown
}

/** The inputs of a basis say at which offset they are read, and a result is read at none. */
const comparableText = (name: string, value: PlainJson.Plain | undefined): string => {
  const text = PlainJson.canonical(value ?? null)
  return name === "basis" ? text.replaceAll(/"offset":(?:null|\d+)/gu, "") : text
}

/** The records that a result tells of, each with the record that is read again. */
const pairsOf = (
  place: Place,
  result: Members,
  answer: PlainJson.Plain
): ReadonlyArray<readonly [Members, Members | undefined]> => {
  const { member, row } = place
  if (row === undefined) {
    return [[result, membersOf(member === undefined ? answer : membersOf(answer)[member])]]
  }
  const isMany = member !== undefined && member in result
  const isMember = member !== undefined && !Array.isArray(answer)
  const rows = rowsOf(isMember ? membersOf(answer)[member] : answer).map(membersOf)
  const results = isMany ? rowsOf(result[member]).map(membersOf) : [result]
  return results.map((one) => [one, rows.find((other) => other[row] === one[row])])
}

/** A member that a result and its record say otherwise: its name, the result's word, the record's. */
export type Difference = readonly [string, PlainJson.Plain | undefined, PlainJson.Plain | undefined]

export interface Compared {
  /** `compared`, or why nothing could be. */
  readonly how: string
  readonly differences: ReadonlyArray<Difference>
}

/** Reads again, as of when the result was written, the record that a succeeded operation answered. */
export const again = Effect.fnUntraced(function* (record: Stored<OperationRecord>) {
  const result = membersOf((record.result ?? {}) as PlainJson.Plain)
  // The clock may have moved the record since.
  const written = result["updatedAt"]
  const asOf = typeof written === "string" ? Instant.of(written) : record.updatedAt
  const answered = yield* Effect.result(answerAt(record.resource.href, asOf))
  const nothing = (how: string): Compared => ({ how, differences: [] })
  if (Result.isFailure(answered)) {
    return nothing(`not read again: ${answered.failure.slug}`)
  }
  if (answered.success === undefined) return nothing("without a read")
  const differences: Array<Difference> = []
  const place = places[record.kind] ?? {}
  // A member shows less of a record than its own read would.
  const isPart = place.member !== undefined && !(place.member in result)
  for (const [one, other] of pairsOf(place, result, answered.success)) {
    if (other === undefined) return nothing("not among its rows")
    const shown = ofRecord(other)
    // A record that is shown within another, or as a row of it, may be shown without its version.
    const isVersioned = "version" in one && "version" in shown
    if (isVersioned && String(shown["version"]) !== String(one["version"])) {
      return nothing("of an earlier version")
    }
    // A read of one record may show more than every answer with it does.
    for (const name of Object.keys(one)) {
      if (ofOperation[record.kind]?.includes(name)) continue
      if (isPart && name !== "state" && !(name in shown)) continue
      const comparable = name === "lot" ? withoutLaterUse(one[name], shown[name]) : shown[name]
      if (comparableText(name, comparable) !== comparableText(name, one[name])) {
        differences.push([name, one[name], shown[name]])
      }
    }
  }
  return { how: "compared", differences } satisfies Compared
})

const namesOf = (schema: unknown): ReadonlyArray<string> =>
  Object.keys((schema as { readonly fields?: object }).fields ?? {})

/** The reads that show all that the results of an operation do: as their answer, as a row, or as a member. */
export const showing = ({ result }: Operation.Operation): ReadonlyArray<string> => {
  const names = namesOf(result)
  const isWithin = (schema: unknown): boolean => {
    const shown = namesOf(schema)
    return names.length > 0 && names.every((name) => shown.includes(name))
  }
  return Catalogue.queries
    .filter((read) => isWithin(read.shape === "list" ? read.item : read.value))
    .map(({ name }) => name)
}

/** Members that the read at an operation's href shows and the operation's result does not. */
export const beyond = (operation: Operation.Operation): ReadonlyArray<string> => {
  const names = namesOf(operation.result)
  const read = Catalogue.queries.find(
    ({ name, shape }) => shape === "one" && showing(operation).includes(name)
  )
  if (read?.shape !== "one") return []
  return namesOf(read.value).filter((name) => !names.includes(name))
}
