/** Reads of standing settlements: the list, and one by its id; and their view. */
import { Effect, Schema, Struct } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  standingParties,
  StandingSettlement,
  StandingSettlementId,
  standingSettlements
} from "./StandingSettlement.ts"
import { StandingSettlementMachine } from "./StandingSettlementMachine.ts"

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

/** Redacts the view for an investor: its own funding and commitments alone. */
const ownOf = (view: StandingSettlementView, party: Party.Party | null): StandingSettlementView => {
  const isOwn = (row: { readonly party: Party.Party | string | null }) => row.party === party
  const committed = view.committed.filter(isOwn)
  return {
    ...view,
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
const idsOfHolder = Effect.fnUntraced(function* ({ caller, pin }: Read.Asking) {
  const records = yield* Records
  const found = yield* records.countBy(standingParties, "standingSettlementId", {
    where: { holderId: [caller.holderId ?? ""] },
    pin
  })
  return [...found.keys()].toSorted()
})

const partyOf = Effect.fnUntraced(function* ({ caller, pin }: Read.Asking) {
  const records = yield* Records
  const [holder] = yield* records.many(holders, [caller.holderId ?? ""], pin)
  return holder === undefined ? null : holder.party
})

export const list = Read.list({
  name: "standingSettlements.list",
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
    if (asking.sight !== "own") return records.map(of)
    const party = yield* partyOf(asking)
    return records.map((record) => ownOf(of(record), party))
  })
})

export const get = Read.one({
  name: "standingSettlements.get",
  doc: "A standing settlement.",
  route: "GET /v1/standing-settlements/{standingSettlementId}",
  audience,
  pinned: true,
  params: Schema.Struct({ standingSettlementId: StandingSettlementId }),
  value: StandingSettlementView,
  refuses: ["not-found"],
  run: Effect.fn("standingSettlements.get")(function* ({ standingSettlementId }, asking) {
    const records = yield* Records
    const record = yield* records.get(standingSettlements, standingSettlementId, asking.pin)
    if (asking.sight !== "own") return of(record)
    const id = `${standingSettlementId}/${asking.caller.holderId ?? ""}`
    // A record outside the caller's scope is answered exactly as one that does not exist.
    yield* records
      .get(standingParties, id, asking.pin)
      .pipe(
        Effect.mapError((error) =>
          error._tag === "Refused"
            ? refused("not-found", { detail: `There is no such ${standingSettlements.name}.` })
            : error
        )
      )
    return ownOf(of(record), yield* partyOf(asking))
  })
})

export const reads = [list, get] as const
