/**
 * Look-ups of the causes for which distribution lines wait: loads holders, restrictions and
 * admissions of many payees at once, and judges them.
 */
import { Effect, Option, Stream } from "effect"
import { type Admission, admissions, pairOf } from "../../admissions/Admission.ts"
import { requiredOf } from "../../admissions/AdmissionLookups.ts"
import type { RequiredAttribute } from "../../holders/attribute/AttributeRules.ts"
import type { Holder } from "../../holders/holder/Holder.ts"
import { holdersOfParties } from "../../holders/holder/HolderLookups.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { type Restriction, restrictions } from "../../restraints/restriction/Restriction.ts"
import { inForce } from "../../restraints/restriction/RestrictionLookups.ts"
import type { DistributionLine, LineCause } from "./DistributionLine.ts"
import { causesOf } from "./LineCauseRules.ts"

/** A payee: a party and the instrument whose income it is paid. */
type OwedPayee = Pick<DistributionLine, "party" | "instrumentId" | "payout">

/** Holder of an owed line, and the causes for which it waits. */
export interface JudgedLine {
  /** Null: the party is no holder. */
  readonly holder: Holder | null
  readonly causes: ReadonlyArray<LineCause>
}

/**
 * Judges the causes of lines at an instant, in their order: one look-up each of holders,
 * restrictions and admissions for all of them. Includes the changes of this transaction.
 */
export const judgeAll = (
  lines: ReadonlyArray<OwedPayee>,
  now: Instant.Instant
): Effect.Effect<ReadonlyArray<JudgedLine>, Unavailable, Records> =>
  Effect.gen(function* () {
    if (lines.length === 0) return []
    const holderOf = yield* holdersOfParties(lines.map(({ party }) => party))
    const knownHolders = [...new Set(holderOf.values())]
    const restricted = yield* restrictionsOf(knownHolders.map(({ holderId }) => holderId))
    const payees: Array<{ readonly holder: Holder | null; readonly pair: string | null }> = []
    for (const { party, instrumentId } of lines) {
      const holder = holderOf.get(party) ?? null
      const pair = holder === null ? null : pairOf({ holderId: holder.holderId, instrumentId })
      payees.push({ holder, pair })
    }
    const admitted = yield* admissionsOf(payees.flatMap(({ pair }) => pair ?? []))
    const required = new Map<string, ReadonlyArray<RequiredAttribute>>()
    for (const instrumentId of new Set(lines.map((line) => line.instrumentId))) {
      required.set(instrumentId, yield* requirementsOf(instrumentId))
    }
    const judged: Array<JudgedLine> = []
    for (const [nth, { instrumentId, payout }] of lines.entries()) {
      const { holder, pair } = payees[nth]!
      const causes = causesOf({
        instrumentId,
        payout,
        holder,
        restrictions: restricted.get(holder?.holderId ?? "") ?? [],
        admission: admitted.get(pair ?? "") ?? null,
        required: required.get(instrumentId) ?? [],
        now
      })
      judged.push({ holder, causes })
    }
    return judged
  })

/** Loads the restrictions in force of these holders, by holder. */
const restrictionsOf = Effect.fnUntraced(function* (holderIds: ReadonlyArray<string>) {
  if (holderIds.length === 0) return new Map<string, ReadonlyArray<Restriction>>()
  const records = yield* Records
  const listed = yield* inForce({ holderIds })
  const written = yield* records.uncommitted(restrictions, {
    column: "holderId",
    anyOf: holderIds
  })
  const ids = [...listed.map(({ restrictionId }) => restrictionId), ...written]
  const found = ids.length === 0 ? [] : yield* records.many(restrictions, ids)
  return Map.groupBy(
    found.filter(({ state }) => state === "active"),
    ({ holderId }) => holderId as string
  )
})

/**
 * Page size of the first query of admissions: those of the lines of one step, of which the step and its
 * projection ask for the same; more are read as a stream.
 */
const firstPage = 1_000

/** Loads the latest admission of each pair of holder and instrument. */
const admissionsOf = Effect.fnUntraced(function* (pairs: ReadonlyArray<string>) {
  if (pairs.length === 0) return new Map<string, Admission>()
  const records = yield* Records
  const where = { pair: pairs }
  const page = yield* records.list(admissions, { where, limit: firstPage })
  const listed =
    page.length < firstPage ? page : yield* Stream.runCollect(records.stream(admissions, { where }))
  const written = yield* records.uncommitted(admissions, { column: "pair", anyOf: pairs })
  const changed = written.length === 0 ? [] : yield* records.many(admissions, written)
  const byId = new Map(
    [...listed.map(({ record }) => record), ...changed].map((each) => [each.admissionId, each])
  )
  const latest = new Map<string, Admission>()
  for (const admission of byId.values()) {
    const pair = pairOf(admission)
    const before = latest.get(pair)
    if (before === undefined || before.offset <= admission.offset) latest.set(pair, admission)
  }
  return latest
})

const requirementsOf = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, instrumentId))
  return instrument === null ? [] : yield* requiredOf(instrument)
})
