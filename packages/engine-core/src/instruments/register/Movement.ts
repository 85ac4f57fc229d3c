/** Records of movements of units, on the axis of the instrument and on those of its parties. */
import { Effect, Schema } from "effect"
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
  /** Number of the movement within its instrument, from 1 without a gap; the same on all axes. */
  seq: Integer.schema,
  at: Instant.schema,
  offset: Offset.schema,
  updateId: Text,
  kind: MovementKind.schema,
  /** Giver; null for a mint, and the same as `to` for a lock or unlock. */
  from: NullOr(Party.schema),
  /** Receiver; null for a burn. */
  to: NullOr(Party.schema),
  /** Always above 0; base units of a rebasing instrument. */
  units: Decimal.schema,
  balanceAfter: Decimal.schema,
  /** Purpose of the movement, where the ledger states it. */
  reference: NullOr(Reference)
} as const

export const View = Schema.Struct(fields)

const storedFields = {
  registrar: Party.schema,
  ...fields,
  /**
   * Latest effective time of the update and all earlier ones, which never decreases. Reads by time
   * use it, because the ledger may date an update a little before the one that it follows.
   */
  ledgerTime: Instant.schema,
  /**
   * Whether the receiver needed a credential of the venue, as the units themselves say; false of a
   * burn. Movements that were stored without it count as restricted.
   */
  restricted: Schema.Boolean.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(true)))
} as const

/** Movement on the axis of its instrument: `balanceAfter` is the instrument's supply. */
export const Movement = Schema.Struct({
  ...storedFields,
  /** Number of parties that hold units after the movement. */
  holdersAfter: Integer.schema
})
export type Movement = typeof Movement.Type

/** Movement on the axis of one party: `balanceAfter` is the party's units of the instrument. */
export const PartyMovement = Schema.Struct({ ...storedFields, party: Party.schema })
export type PartyMovement = typeof PartyMovement.Type

type MovementKey = Pick<Movement, "registrar" | "instrumentId" | "seq">

const numbered = (movement: MovementKey): string => `${assetKeyOf(movement)}/${movement.seq}`

/** Sort key: by offset, then by number. */
const placed = (movement: MovementKey & Pick<Movement, "offset">): string =>
  [
    Offset.sortable(movement.offset),
    Offset.sortable(Offset.of(movement.seq)),
    assetKeyOf(movement)
  ].join(":")

/** Sort key after which the movements beyond an offset follow, on every axis. */
export const afterOffset = (offset: Offset.Offset): string => `${Offset.sortable(offset)};`

const happened = ({ ledgerTime }: Pick<Movement, "ledgerTime">): string =>
  Instant.sortable(ledgerTime)

/** Kinds that change no balance, only how much of it is locked. */
export const lockings: ReadonlyArray<MovementKind> = ["lock", "unlock"]

/** Kinds that change balances. */
export const moving: ReadonlyArray<MovementKind> = MovementKind.members.filter(
  (kind) => !lockings.includes(kind)
)

/** Kinds of units that were minted: the only ones that no party gave. */
const minting: ReadonlyArray<MovementKind> = ["mint", "subscription", "distribution"]

/** Kinds of units that left a party's books. */
export const leaving: ReadonlyArray<MovementKind> = moving.filter((kind) => !minting.includes(kind))

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

/** Checks whether the party held no units before the movement, or holds none after it. */
const isTurn = ({ balanceAfter, from, party, to, units }: PartyMovement): boolean =>
  Decimal.isZero(balanceAfter) || (from !== to && to === party && balanceAfter === units)

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
    at: happened,
    /** The party, where it began or ceased to hold the instrument: its instruments are found by these. */
    turned: (self) => (isTurn(self) ? self.party : null)
  },
  invariants: {
    ...invariants,
    "it is one of its parties": ({ party, from, to }) => party === from || party === to
  }
})
