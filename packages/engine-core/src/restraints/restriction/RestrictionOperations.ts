/** Writes of restrictions: restrict one holder or many, lift by two approvers. */
import { Effect, Schema } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Direction from "../../kernel/Direction.ts"
import { failed } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Shape from "../../kernel/Shape.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import type { Figures } from "../../writes/Figures.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, count, instrumentOrAll, sentence } from "../../writes/Summary.ts"
import { inForce, lockRestrictions } from "./RestrictionLookups.ts"
import { everything, type Restriction, RestrictionId, restrictions, decide } from "./Restriction.ts"
import { changesOf } from "./RestrictionDirection.ts"
import * as Request from "./RestrictionRequest.ts"
import * as RestrictionView from "./RestrictionView.ts"

/** Largest number of holders that one call restricts (docs/contract/limits.md#sizes-and-counts). */
const entriesMax = 1_000

/**
 * Roles that restrict, alone and at once
 * (docs/domain/every-record.md#tighten-alone-loosen-together).
 */
const makers = ["operator", "risk", "compliance"] as const

const href = (restrictionId: string | null): string => `/v1/restrictions/${restrictionId ?? ""}`

const idOf = (restrictionId: string | null): RestrictionId =>
  Schema.decodeSync(RestrictionId)(RecordId.made(restrictionId, "a restriction"))

/** Makes the restriction that a judged request opens; in force at once. */
const restricted = (
  { instrumentId, mode, reason, order, autoReleaseAt }: Request.RestrictionRequest,
  {
    restrictionId,
    holder,
    act
  }: { readonly restrictionId: RestrictionId; readonly holder: Holder; readonly act: OperationAct }
): Restriction => ({
  restrictionId,
  holderId: holder.holderId,
  party: holder.party,
  instrumentId,
  mode,
  reason,
  order,
  state: "active",
  by: act.actor,
  from: act.now,
  autoReleaseAt,
  liftedBy: null,
  liftReason: null,
  endedAt: null,
  supersedes: null,
  operationId: act.operationId
})

/**
 * A holder may have several restrictions, and the strictest decides; so a further one never loosens
 * another, and each is ended by itself.
 */
export const restrict = Operation.define("holder.restrict", {
  doc: "Restricts what a holder may do with its units, at once.",
  summary: ({ holderId, instrumentId, mode, reason }, { resource }) =>
    sentence`Restricts holder ${holderId} in ${instrumentOrAll(instrumentId)} to ${mode} for ${reason}, as ${resource.id}.`,
  route: "POST /v1/holders/{holderId}:restrict",
  makers,
  approvers: 0,
  resource: {
    kind: "restriction",
    prefix: "rst",
    id: ({ restrictionId }) => restrictionId ?? "",
    href: ({ restrictionId }) => href(restrictionId),
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Schema.Struct({
    /** Made by the engine when the caller names none. */
    restrictionId: Request.ChosenId,
    ...Request.fields
  }).check(Request.isWhole),
  complete: (input, makeId) => ({ ...input, restrictionId: input.restrictionId ?? makeId() }),
  lasts: Lasting.whileIn(restrictions, ({ restrictionId }) => [restrictionId ?? ""], ["active"]),
  result: RestrictionView.RestrictionView,
  refuses: ["already-exists", "not-found", "state-conflict", "rule-refused"],
  run: Effect.fn("holder.restrict")(function* (input, act) {
    const records = yield* Records
    yield* lockRestrictions
    const { holderId, instrumentId } = input
    const [holder] = yield* records.many(holders, [holderId])
    const named = yield* records.many(instruments, instrumentId === null ? [] : [instrumentId])
    const hasInstrument = instrumentId === null || named.length > 0
    const [first] = Request.against(input, { holder, hasInstrument, now: act.now })
    if (first !== undefined) return yield* Effect.fail(first.refusal)
    if (holder === undefined) throw new Error("a restriction of a missing holder was not refused")
    const restrictionId = idOf(input.restrictionId)
    const record = restricted(input, { restrictionId, holder, act })
    return RestrictionView.of(yield* records.open(restrictions, record, act))
  })
})

/** Refuses a batch that names the same holder and instrument twice. */
const areDistinct = Schema.makeFilter((entries: ReadonlyArray<Request.RestrictionRequest>) => {
  const firstOfPair = new Map<string, number>()
  return entries.flatMap(({ holderId, instrumentId }, nth) => {
    const pair = `${holderId}/${instrumentId ?? ""}`
    const before = firstOfPair.get(pair)
    if (before === undefined) firstOfPair.set(pair, nth)
    return before === undefined
      ? []
      : [{ path: [nth], issue: `another holder or instrument than entry ${before}` }]
  })
})

const Made = Schema.Struct({
  restrictions: Schema.Array(
    Schema.Struct({
      restrictionId: RestrictionId,
      holderId: HolderId,
      instrumentId: Schema.NullOr(InstrumentId)
    })
  )
})

/**
 * Restricts all entries or none: where one is refused no holder is restricted, and the refusal
 * lists the faults of all entries.
 */
const restrictBatch = Operation.define("holder.restrict-batch", {
  doc: "Restricts many holders at once: all of them, or none.",
  summary: ({ entries }) =>
    sentence`Restricts ${count(new Set(entries.map(({ holderId }) => holderId)).size, "holder")} by ${count(entries.length, "restriction")}, all or none.`,
  route: "POST /v1/holders:restrict-batch",
  makers,
  approvers: 0,
  resource: {
    kind: "restriction",
    prefix: "rst",
    id: ({ restrictionId }) => restrictionId ?? "",
    href: () => "/v1/restrictions",
    instrumentId: ({ entries: [first, ...others] }) =>
      first !== undefined && others.every(({ instrumentId }) => instrumentId === first.instrumentId)
        ? first.instrumentId
        : null,
    concerns: Concerns.ofHolders(({ entries }) => entries.map(({ holderId }) => holderId))
  },
  input: Schema.Struct({
    /**
     * Id of the first restriction and prefix of the others; made by the engine when the caller
     * names none.
     */
    restrictionId: Request.ChosenId,
    entries: Schema.Array(Schema.Struct(Request.fields).check(Request.isWhole)).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(entriesMax),
      areDistinct
    )
  }),
  complete: (input, makeId) => ({ ...input, restrictionId: input.restrictionId ?? makeId() }),
  lasts: Lasting.whileIn(
    restrictions,
    ({ entries, restrictionId }) =>
      entries.map((_, nth) => Request.idOfEntry(idOf(restrictionId), nth)),
    ["active"]
  ),
  result: Made,
  refuses: ["already-exists", "rule-refused"],
  run: Effect.fn("holder.restrict-batch")(function* (input, act) {
    const records = yield* Records
    yield* lockRestrictions
    const first = idOf(input.restrictionId)
    const judgedEntries = yield* judged(input.entries, act)
    const drafts = judgedEntries.map(({ entry, holder }, nth) =>
      restricted(entry, { restrictionId: idOf(Request.idOfEntry(first, nth)), holder, act })
    )
    // Prefetch: without it each opening would query for its id.
    yield* records.prefetch(
      drafts.map(({ restrictionId: id }) => ({ collection: restrictions, id }))
    )
    const opened = yield* Effect.forEach(drafts, (draft) => records.open(restrictions, draft, act))
    return {
      restrictions: opened.map(({ restrictionId, holderId, instrumentId }) => ({
        restrictionId,
        holderId,
        instrumentId
      }))
    }
  })
})

/** Loads each entry's holder. Refuses `rule-refused` with the faults of all entries. */
const judged = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Request.RestrictionRequest>,
  { now }: OperationAct
) {
  const records = yield* Records
  const named = yield* records.many(holders, [...new Set(entries.map(({ holderId }) => holderId))])
  const holderOf = new Map(named.map((holder): [string, Holder] => [holder.holderId, holder]))
  const instrumentIds = [...new Set(entries.flatMap(({ instrumentId }) => instrumentId ?? []))]
  const existing = new Set<string>(
    (yield* records.many(instruments, instrumentIds)).map(({ instrumentId }) => instrumentId)
  )
  const entriesWithFaults = entries.map((entry, nth) => {
    const holder = holderOf.get(entry.holderId)
    const hasInstrument = entry.instrumentId === null || existing.has(entry.instrumentId)
    const errors = Request.against(entry, { holder, hasInstrument, now }).map(
      ({ member, refusal: { details } }) => ({
        pointer: `/body/entries/${nth}/${member}`,
        detail: details.detail ?? "It cannot be."
      })
    )
    return { entry, holder, errors }
  })
  const errors = entriesWithFaults.flatMap((entry) => entry.errors)
  if (errors.length > 0) {
    return yield* Effect.fail(
      refused(
        "rule-refused",
        failed("entries", {
          detail: `${entriesWithFaults.filter((entry) => entry.errors.length > 0).length} of ${entries.length} entries cannot be; nobody was restricted.`,
          errors
        })
      )
    )
  }
  return entriesWithFaults.flatMap(({ entry, holder }) =>
    holder === undefined ? [] : [{ entry, holder }]
  )
})

/**
 * Figures of a lift: the restriction, and each act that becomes permitted again; none where another
 * restriction still forbids them. Where a restriction of the holder begins or ends before the lift
 * runs, the figures change and all approvers sign again.
 */
const liftedOf = (
  { holderId, instrumentId, mode, reason }: Restriction,
  changes: ReadonlyArray<Direction.Change>
): Figures => ({
  holderId,
  instrumentId: instrumentId ?? everything,
  mode,
  reason,
  direction: Direction.whole(changes),
  ...Object.fromEntries(
    changes.map(({ path, direction }) => [Shape.pointer(path.slice(1)), direction])
  )
})

/** Approvers besides the maker (docs/contract/four-eyes.md#who-may-approve). */
const required = 2

/** Ends one restriction by two approvers; other restrictions of the holder stay in force. */
const lift = Operation.define("restriction.lift", {
  doc: "Ends a restriction of a holder.",
  summary: (_, subject) =>
    sentence`Lifts restriction ${subject.resource.id}${concerning(subject)}.`,
  route: "POST /v1/restrictions/{restrictionId}:lift",
  makers: ["operator", "compliance"],
  approvers: required,
  resource: {
    kind: "restriction",
    id: ({ restrictionId }) => restrictionId,
    href: ({ restrictionId }) => href(restrictionId),
    concerns: Concerns.ofRecord(restrictions, ({ restrictionId }) => restrictionId)
  },
  input: Schema.Struct({
    restrictionId: RestrictionId,
    reason: ReadableText.prose(500)
  }),
  result: RestrictionView.RestrictionView,
  refuses: ["not-found", "state-conflict"],
  figures: Effect.fn("restriction.lift.figures")(function* ({ restrictionId }, act) {
    const records = yield* Records
    const self = yield* records.get(restrictions, restrictionId)
    const from = yield* inForce({ holderIds: [self.holderId] })
    const to = from.filter((other) => other.restrictionId !== restrictionId)
    const changes = changesOf({ from, to }, act.now)
    return { figures: liftedOf(self, changes), tolerance: Decimal.zero }
  }),
  run: Effect.fn("restriction.lift")(function* ({ restrictionId, reason }, act) {
    const records = yield* Records
    const self = yield* records.get(restrictions, restrictionId)
    yield* Effect.fromResult(decide(self, { on: "lift" }))
    // A write that is only judged, before all have signed, records nothing.
    if (act.signedBy.length < required) return RestrictionView.of(self)
    const { now: at, signedBy: liftedBy } = act
    const fact = { on: "lift", at, liftedBy, liftReason: reason } as const
    return RestrictionView.of(yield* records.append(restrictions, self, fact, act))
  })
})

export const operations = [restrict, restrictBatch, lift] as const
