/** Record of a mint: units that a holder asks for against a deposit which is locked for the reserve. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import * as ReserveOrder from "./ReserveOrder.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a mint. */
export const mintEvents = {
  "reserve.minted": about(
    "mint",
    Schema.Struct({
      reserveId: Schema.String,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: Schema.NullOr(Decimal.schema)
    })
  )
} as const

const makeEvent = announcing(mintEvents)

export const MintId = RecordId.make("MintId")
export type MintId = typeof MintId.Type

export const Mint = Schema.Struct({
  mintId: MintId,
  ...ReserveOrder.members,
  /** Amount of the asset that is deposited. */
  deposit: Decimal.schema,
  /** Request to the depositor's wallet to allocate the deposit. */
  intentCid: Schema.NullOr(Field.contractId)
}).annotate({
  identifier: "Mint",
  description: "Units of a backed instrument that are minted against a locked deposit."
})
export type Mint = typeof Mint.Type

export const mints = Collection.define<Mint, ReserveOrder.Fact>("mint", {
  doc: "Units of a backed instrument that are minted against a locked deposit.",
  id: (self) => self.mintId,
  record: Mint,
  fact: ReserveOrder.Fact,
  evolve: (self, fact) =>
    fact.on === "request"
      ? { ...self, intentCid: fact.intentCid }
      : ReserveOrder.evolve(self, fact),
  keptBy: "ledger",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.mintId} mint`,
  filters: ReserveOrder.filtersOf("mint"),
  ripens: ReserveOrder.ripens,
  due: ReserveOrder.due,
  lost: ReserveOrder.lost,
  waitingOn: ({ state, party, heldCid, deadline, lost }) => {
    if (lost) return []
    if (state === "started" || (state === "ready" && heldCid === null)) {
      return [{ party, action: "MintOrder.Accept", by: deadline }]
    }
    if (state === "ready") return [{ role: "engine", action: "mint.settle", by: deadline }]
    return state === "expired" ? [{ role: "engine", action: "mint.cancel", by: null }] : []
  },
  indexedWaits: ReserveOrder.indexedWaits("mint"),
  announce: (self, fact) =>
    fact?.on === "settle"
      ? [
          {
            ...makeEvent("reserve.minted", {
              reserveId: self.reserveId,
              quantity: self.units,
              amount: self.deposit,
              coverAfter: self.coverAfter
            }),
            resourceKind: "mint",
            resourceId: self.mintId,
            instrumentId: self.instrumentId,
            party: self.party,
            holderIds: [self.holderId]
          }
        ]
      : [],
  invariants: {
    ...ReserveOrder.invariants,
    "something is put in": ({ deposit }) => Decimal.isPositive(deposit)
  }
})
