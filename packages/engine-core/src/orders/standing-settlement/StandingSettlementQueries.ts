/** Queries of standing settlements: the list, and one by its id; and their view. */
import { Effect, Schema, Struct } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  standingParties,
  type StandingParty,
  StandingSettlement,
  StandingSettlementId,
  standingSettlements,
  StandingSettlementMachine
} from "./StandingSettlement.ts"

const shown = Struct.pick(StandingSettlement.fields, [
  "standingSettlementId",
  "instrumentId",
  "parties",
  "state",
  "funding",
  // The amounts that are left decide which iterations can still settle.
  "committed",
  "iterations",
  "lastSettledAt",
  "deadline",
  // Without a deadline this member alone has the end of the settlement.
  "expiresAt",
  "allocations"
])

export const StandingSettlementView = RecordView.schemaOf(shown, {
  identifier: "StandingSettlementView",
  description: "A standing settlement, what is committed to it, and who must act next."
})
export type StandingSettlementView = typeof StandingSettlementView.Type

export const of = (record: Stored<StandingSettlement>): StandingSettlementView =>
  RecordView.of(standingSettlements, shown, record)

/**
 * Redacts the view for an investor: its own funding and commitments alone. Version and time of change
 * count what the investor is shown (docs/domain/standing-settlements.md#who-sees-what); those of the
 * record would disclose that others commit.
 */
const ownOf = (
  record: Stored<StandingSettlement>,
  party: Holder["party"] | null,
  entry: Stored<StandingParty>
): StandingSettlementView => {
  const view = of(record)
  const isOwn = (row: { readonly party: string | null }) => row.party === party
  const committed = view.committed.filter(isOwn)
  // The clock ends the settlement without a fact of its parties.
  const isExpired = view.state === "expired"
  return {
    ...view,
    version: entry.version + (isExpired ? 1 : 0),
    updatedAt: isExpired ? Instant.max(entry.updatedAt, view.expiresAt) : entry.updatedAt,
    parties: view.parties.filter((member) => member === party),
    funding: view.funding.filter(isOwn),
    committed,
    allocations: committed.map(({ allocationCid }) => allocationCid),
    waitingOn: view.waitingOn.filter((wait) => wait.party === null || wait.party === party)
  }
}

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  investor: "own"
} as const satisfies Read.Audience

/** Finds the ids of the standing settlements that the caller's holder is a party of. */
const idsOfHolder = Effect.fnUntraced(function* ({ caller, pin }: Read.ReadContext) {
  const records = yield* Records
  const found = yield* records.countBy(standingParties, "standingSettlementId", {
    where: { holderId: [caller.holderId ?? ""] },
    pin
  })
  return [...found.keys()].toSorted()
})

/** Makes the views of these settlements for an investor; leaves out those of other holders. */
const ownViews = Effect.fnUntraced(function* (
  found: ReadonlyArray<Stored<StandingSettlement>>,
  { caller, pin }: Read.ReadContext
) {
  const records = yield* Records
  const holderId = caller.holderId ?? ""
  const [holder] = yield* records.many(holders, [holderId], pin)
  const ids = found.map(({ standingSettlementId }) => `${standingSettlementId}/${holderId}`)
  const entries = new Map(
    (yield* records.many(standingParties, ids, pin)).map((entry) => [
      entry.standingSettlementId,
      entry
    ])
  )
  return found.flatMap((record) => {
    const entry = entries.get(record.standingSettlementId)
    return entry === undefined ? [] : [ownOf(record, holder?.party ?? null, entry)]
  })
})

export const list = Read.list({
  name: "standing-settlements.list",
  doc: "Lists standing settlements.",
  route: "GET /v1/standing-settlements",
  audience,
  pinned: true,
  collection: standingSettlements,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(StandingSettlementMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: StandingSettlementView,
  direction: "asc",
  order: "by id",
  changes: false,
  where: ({ state, instrumentId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
  }),
  narrow: (_, asking) =>
    asking.sight === "own"
      ? Effect.map(idsOfHolder(asking), (standingSettlementId) => ({ standingSettlementId }))
      : Effect.succeed({}),
  scope: Sight.scopeElsewhere,
  view: Effect.fnUntraced(function* (records, asking) {
    return asking.sight === "own" ? yield* ownViews(records, asking) : records.map(of)
  })
})

export const get = Read.one({
  name: "standing-settlements.get",
  doc: "A standing settlement.",
  route: "GET /v1/standing-settlements/{standingSettlementId}",
  audience,
  pinned: true,
  params: Schema.Struct({ standingSettlementId: StandingSettlementId }),
  value: StandingSettlementView,
  refuses: ["not-found"],
  run: Effect.fn("standing-settlements.get")(function* ({ standingSettlementId }, asking) {
    const records = yield* Records
    const record = yield* records.get(standingSettlements, standingSettlementId, asking.pin)
    if (asking.sight !== "own") return of(record)
    const [view] = yield* ownViews([record], asking)
    if (view !== undefined) return view
    // A record outside the caller's scope is answered exactly as one that does not exist.
    return yield* Effect.fail(
      refused("not-found", { detail: `There is no such ${standingSettlements.name}.` })
    )
  })
})

export const queries = [list, get] as const
