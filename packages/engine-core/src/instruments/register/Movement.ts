/** A movement of units: why, from whom, to whom, how many, and what that left. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import { MovementKind } from "../../vocabulary/sets.ts"
import { assetKeyOf } from "./Holding.ts"

const { NullOr, String: Text } = Schema

export const Reference = Schema.Struct({ resourceKind: ResourceKind.schema, id: Text })

const fields = {
  instrumentId: Text,
  /** The movement's number within its instrument, from 1 without a gap: the same on both axes. */
  seq: Integer.schema,
  at: Instant.schema,
  offset: Offset.schema,
  updateId: Text,
  kind: MovementKind.schema,
  /** Null where units came into being; the same as `to` where they only became locked or free. */
  from: NullOr(Party.schema),
  /** Null where units ceased to be. */
  to: NullOr(Party.schema),
  /** Always above 0; of a rebasing instrument these are base units. */
  units: Decimal.schema,
  balanceAfter: Decimal.schema,
  /** Purpose of the movement, where the ledger states it. */
  reference: NullOr(Reference)
} as const

export const View = Schema.Struct(fields)

const kept = {
  registrar: Party.schema,
  ...fields,
  /**
   * The latest effective time of its own and all earlier updates: what a point in time is found by,
   * since the ledger may date an update a little before the one it follows.
   */
  ledgerTime: Instant.schema
} as const

/** As its instrument sees it: `balanceAfter` is the instrument's supply. */
export const Movement = Schema.Struct({
  ...kept,
  /** The parties that hold units once it has happened. */
  holdersAfter: Integer.schema
})
export type Movement = typeof Movement.Type

/** As one of its two parties sees it: `balanceAfter` is what that party holds of the instrument. */
export const PartyMovement = Schema.Struct({ ...kept, party: Party.schema })
export type PartyMovement = typeof PartyMovement.Type

type Named = Pick<Movement, "registrar" | "instrumentId" | "seq">

const numbered = (of: Named): string => `${assetKeyOf(of)}/${of.seq}`

/** By offset, then in the order in which the update made them. */
const placed = (of: Named & Pick<Movement, "offset">): string =>
  [Offset.sortable(of.offset), Offset.sortable(Offset.of(of.seq)), assetKeyOf(of)].join(":")

const happened = (of: Pick<Movement, "ledgerTime">): string => Instant.sortable(of.ledgerTime)

/** The kinds that change nobody's units, only whether they are free. */
export const lockings: ReadonlyArray<MovementKind> = ["lock", "unlock"]

const invariants = {
  "something moved": ({ units }: Movement | PartyMovement) => Decimal.isPositive(units),
  "it concerns somebody": ({ from, to }: Movement | PartyMovement) => from !== null || to !== null,
  "only a lock stays where it is": ({ kind, from, to }: Movement | PartyMovement) =>
    lockings.includes(kind) === (from === to),
  "nobody holds less than nothing": ({ balanceAfter }: Movement | PartyMovement) =>
    !Decimal.isNegative(balanceAfter)
}

export const movements = Collection.define<Movement, never>("movement", {
  doc: "A movement of an instrument's units, with the supply it left.",
  id: numbered,
  record: Movement,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  // Numbered by the projection, which reads every update once.
  ids: "made",
  sortKey: placed,
  filters: {
    instrumentId: (self) => self.instrumentId,
    asset: assetKeyOf,
    kind: (self) => self.kind,
    at: happened
  },
  invariants
})

export const partyMovements = Collection.define<PartyMovement, never>("party-movement", {
  doc: "A movement of units as one of its parties sees it, with the balance it left.",
  id: (self) => `${numbered(self)}/${self.party}`,
  record: PartyMovement,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  ids: "made",
  sortKey: (self) => `${placed(self)}:${self.party}`,
  filters: {
    instrumentId: (self) => self.instrumentId,
    party: (self) => self.party,
    kind: (self) => self.kind,
    at: happened
  },
  invariants: {
    ...invariants,
    "it is one of its parties": ({ party, from, to }) => party === from || party === to
  }
})
