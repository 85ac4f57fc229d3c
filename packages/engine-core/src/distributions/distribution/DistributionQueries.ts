/** Queries of distributions: the list, one, its export, its lines, and one line with the basis of its figures. */
import { Effect, Option, Schema } from "effect"
import { awaitedStatements } from "../../findings/AwaitedStatements.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Month from "../../kernel/Month.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Export from "../../reads/Export.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import {
  type Distribution,
  DistributionId,
  distributions,
  shownDistributions,
  DistributionMachine
} from "./Distribution.ts"
import {
  distributionLines,
  inStates,
  LineId,
  shownIn,
  DistributionLineMachine
} from "./DistributionLine.ts"
import * as DistributionView from "./DistributionView.ts"
import { basisOf } from "./LineBasisLookups.ts"
import { countsOf, lineOf } from "./LineLookups.ts"
import * as LineView from "./LineView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  investor: "own",
  registrar: "near"
} as const satisfies Read.Audience

const { optionalKey } = Schema

/** Returns the collection in which a role reads distributions: investors and apps their projection. */
const collectionFor = (role: Role) => (isConcealedFrom(role) ? shownDistributions : distributions)

export const list = Read.list({
  name: "distributions.list",
  doc: "Lists distributions; an investor sees those in which it has a line.",
  route: "GET /v1/distributions",
  audience,
  pinned: true,
  collection: distributions,
  collectionFor,
  params: Schema.Struct({
    state: optionalKey(Schema.Array(DistributionMachine.schema)),
    instrumentId: optionalKey(InstrumentId),
    /** A holder that has a line in it. */
    holderId: optionalKey(HolderId),
    month: optionalKey(Month.schema)
  }),
  item: DistributionView.DistributionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ instrumentId, month }) => ({
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(month === undefined ? {} : { month: [month] })
  }),
  scope: (who, { holderId }) =>
    who.sight === "own"
      ? Effect.as(Sight.scopeNaming(who, holderId === undefined ? undefined : [holderId]), {})
      : Sight.scope(who),
  narrow: Effect.fn("distributions.list.narrow")(function* ({ state, holderId }, asking) {
    const states = state === undefined ? {} : { state }
    const lineOfHolder = asking.sight === "own" ? asking.caller.holderId : (holderId ?? null)
    if (lineOfHolder === null) return states
    const records = yield* Records
    const found = yield* records.countBy(distributionLines, "distributionId", {
      pin: asking.pin,
      where: { holderId: [lineOfHolder] }
    })
    return { ...states, distributionId: [...found.keys()].toSorted() }
  }),
  view: Effect.fnUntraced(function* (found, { pin, role }) {
    const ids = found.map(({ distributionId }) => distributionId)
    const counts = yield* countsOf(ids, pin)
    const awaited = yield* awaitedOf(found, pin)
    return found.map((record) =>
      DistributionView.ofRole(
        record,
        counts.get(record.distributionId)!,
        role,
        awaited.get(record.instrumentId)
      )
    )
  })
})

/** Loads the statements for which the checks of the distributions' instruments wait, by instrument. */
const awaitedOf = Effect.fnUntraced(function* (
  found: ReadonlyArray<Pick<Distribution, "instrumentId" | "state">>,
  pin: Read.ReadContext["pin"]
) {
  const records = yield* Records
  const ids = new Set(
    found.flatMap(({ instrumentId, state }) => (state === "executed" ? [instrumentId] : []))
  )
  const awaited = yield* records.many(awaitedStatements, [...ids], pin)
  return new Map(awaited.map(({ instrumentId, statements }) => [instrumentId, statements]))
})

/** Loads a distribution that the caller may read; refuses `not-found` for any other. */
const inSight = Effect.fnUntraced(function* (distributionId: string, asking: Read.ReadContext) {
  const records = yield* Records
  const { pin, role, sight, caller } = asking
  const found = yield* records.find(collectionFor(role), distributionId, pin)
  const record = Option.getOrNull(found)
  const isSeen =
    record !== null &&
    (sight === "all" ||
      (sight === "near" && caller.party === record.registrar) ||
      (sight === "own" &&
        caller.holderId !== null &&
        (yield* hasLine(record, caller.holderId, asking))))
  if (isSeen) return record
  return yield* Effect.fail(
    refused("not-found", { detail: `There is no such ${distributions.name}.` })
  )
})

const hasLine = Effect.fnUntraced(function* (
  { distributionId }: { readonly distributionId: string },
  holderId: string,
  { pin }: Read.ReadContext
) {
  const records = yield* Records
  const where = { distributionId: [distributionId], holderId: [holderId] }
  const found = yield* records.list(distributionLines, { where, pin, limit: 1 })
  return found.length > 0
})

const get = Read.one({
  name: "distributions.get",
  doc: "A distribution, with the number of its lines in each state.",
  route: "GET /v1/distributions/{distributionId}",
  audience,
  pinned: true,
  params: Schema.Struct({ distributionId: DistributionId }),
  value: DistributionView.DistributionView,
  refuses: ["not-found"],
  run: Effect.fn("distributions.get")(function* ({ distributionId }, asking) {
    const record = yield* inSight(distributionId, asking)
    const counts = yield* countsOf([distributionId], asking.pin)
    const awaited = yield* awaitedOf([record], asking.pin)
    return DistributionView.ofRole(
      record,
      counts.get(distributionId)!,
      asking.role,
      awaited.get(record.instrumentId)
    )
  })
})

export const lines = Read.list({
  name: "distributions.lines",
  doc: "Lists the lines of a distribution, without the basis of their figures; an investor sees its own.",
  route: "GET /v1/distributions/{distributionId}/lines",
  audience,
  pinned: true,
  collection: distributionLines,
  params: Schema.Struct({
    distributionId: DistributionId,
    state: optionalKey(Schema.Array(DistributionLineMachine.schema)),
    holderId: optionalKey(HolderId)
  }),
  item: LineView.LineView,
  direction: "asc",
  order: "by the number of the line",
  changes: false,
  acted: "never",
  parent: ({ distributionId }, asking) => Effect.asVoid(inSight(distributionId, asking)),
  // `narrow` filters by the distribution, with the state in one key.
  where: ({ holderId }): Read.Scope => (holderId === undefined ? {} : { holderId: [holderId] }),
  scope: (who, { holderId }) =>
    who.sight === "own"
      ? Sight.scopeNaming(who, holderId === undefined ? undefined : [holderId])
      : Effect.succeed({}),
  narrow: ({ distributionId, state }, { role }) =>
    Effect.succeed(
      state === undefined
        ? { distributionId: [distributionId] }
        : isConcealedFrom(role)
          ? shownIn(distributionId, state)
          : inStates(distributionId, state)
    ),
  view: (found, { role }) => Effect.succeed(found.map((record) => LineView.ofRole(record, role)))
})

export const line = Read.one({
  name: "distributions.line",
  doc: "A line of a distribution, with the basis of its figures.",
  route: "GET /v1/distributions/{distributionId}/lines/{lineId}",
  audience,
  pinned: true,
  params: Schema.Struct({ distributionId: DistributionId, lineId: LineId }),
  value: LineView.LineDetail,
  refuses: ["not-found"],
  run: Effect.fn("distributions.line")(function* ({ distributionId, lineId }, asking) {
    // Judged before the distribution is loaded, so that an investor without a line in it gets the
    // same answer for each of its lines.
    const record = yield* lineOf(distributionId, lineId, asking.pin)
    const isOwn = record !== null && record.holderId === asking.caller.holderId
    const isSeen =
      record !== null &&
      (asking.sight === "all" ||
        (asking.sight === "own" && isOwn) ||
        (asking.sight === "near" && asking.caller.party === record.registrar))
    if (!isSeen) {
      return yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${distributionLines.name}.` })
      )
    }
    return { ...LineView.ofRole(record, asking.role), ...(yield* basisOf(record)) }
  })
})

const exportParams = Schema.Struct({ distributionId: DistributionId, ...Export.parameters })

const exported = Read.exported({
  name: "distributions.export",
  doc: "A distribution with all its lines, as JSON or as a table; an investor exports its own line.",
  route: "GET /v1/distributions/{distributionId}/export",
  audience,
  audited: { resourceKind: "distribution", named: "distributionId" },
  pinned: true,
  params: exportParams,
  value: Schema.Struct({ distribution: get.value, lines: Schema.Array(lines.item) }),
  refuses: ["not-found"],
  recordIn: "distribution",
  record: { ...get, params: exportParams },
  rowsIn: "lines",
  rows: { ...lines, params: exportParams },
  csv: Export.of({
    row: LineView.LineView,
    rows: (found: ReadonlyArray<LineView.LineView>) => found,
    nested: ["evidence", "waitingOn"]
  })
})

export const queries = [list, get, exported, lines, line] as const
