/** Record of a forced act: its moves, with units and released locks. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import { ReleasedLock } from "../templates/Powers.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

/**
 * Payload members of a move between holders, nested under names that redaction removes for
 * monitors.
 */
export const moveMembers = {
  operationId: Schema.String,
  from: Schema.Struct({ holderId: Schema.String }),
  to: Schema.Struct({ holderId: Schema.String }),
  quantity: Decimal.schema
}

/** Events of a forced transfer. */
export const forcedTransferEvents = {
  "holder.forced-transfer": about(
    "holder",
    Schema.Struct({ ...moveMembers, orderCited: Schema.Boolean })
  )
} as const

const makeEvent = announcing(forcedTransferEvents)

const { NullOr, String: Text } = Schema

const Side = Schema.Struct({ holderId: Text, party: Party.schema })

/**
 * A lock that was released for a move. A lock ends as a whole, whichever part of its units moved.
 */
const Released = Schema.Struct({
  holdingCid: Field.contractId,
  lockedBy: ReleasedLock,
  /** Contract that locked the holding; null where the lock had expired. */
  contractId: NullOr(Field.contractId),
  units: Decimal.schema
}).annotate({ identifier: "ReleasedLock", description: "A lock that ended for a forced move." })

const move = {
  from: Side,
  to: Side,
  instrumentId: Text,
  units: Decimal.schema,
  released: Schema.Array(Released)
} as const

/** Total of the moves of one holder's units of one instrument, over one or more transactions. */
export const ForcedMove = Schema.Struct({
  ...move,
  /** The holder's units of the instrument after the last move. */
  left: Decimal.schema,
  updateIds: Schema.Array(Text)
}).annotate({
  identifier: "ForcedMove",
  description: "Units of one holder that were moved without its own act."
})
export type ForcedMove = typeof ForcedMove.Type

export const ForcedAct = Schema.Struct({
  operationId: Text,
  cause: Schema.Literals(["forced", "recovery"]),
  /** SHA-256 of the order's document, where one is cited. */
  orderRef: NullOr(Field.digest),
  moves: Schema.Array(ForcedMove)
})
export type ForcedAct = typeof ForcedAct.Type

/** One exercise of the choice ForceMove on the ledger. */
export const Fact = Schema.Struct({
  on: Schema.Literal("move"),
  ...move,
  left: Decimal.schema,
  updateId: Text
})
export type Fact = typeof Fact.Type

const isOf =
  ({ from, to, instrumentId }: Pick<ForcedMove, "from" | "to" | "instrumentId">) =>
  (move: ForcedMove): boolean =>
    move.from.holderId === from.holderId &&
    move.to.holderId === to.holderId &&
    move.instrumentId === instrumentId

/** Fold: the act after `fact`, which is added to the total of its move. */
const evolve = (self: ForcedAct, fact: Fact): ForcedAct =>
  match(fact)
    .with({ on: "move" }, ({ on: _, updateId, ...moved }) => {
      const before = self.moves.find(isOf(moved))
      const after: ForcedMove =
        before === undefined
          ? { ...moved, updateIds: [updateId] }
          : {
              ...before,
              units: Decimal.add(before.units, moved.units),
              released: [...before.released, ...moved.released],
              left: moved.left,
              updateIds: [...before.updateIds, updateId]
            }
      return { ...self, moves: [...self.moves.filter((total) => total !== before), after] }
    })
    .exhaustive()

export const forcedActs = Collection.define<ForcedAct, Fact>("forced-act", {
  doc: "What a forced transfer or a recovery has moved so far.",
  id: (self) => self.operationId,
  record: ForcedAct,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // A recovery is announced once for each instrument, by its record `Recovery`.
  announce: (self, fact) =>
    fact === undefined || self.cause !== "forced" ? [] : [announcementOf(self, fact)],
  invariants: {
    "each move is there once": ({ moves }) =>
      moves.every((move) => moves.filter(isOf(move)).length === 1),
    "something moved, to somebody else": ({ moves }) =>
      moves.every(({ from, to, units }) => Decimal.isPositive(units) && from.party !== to.party),
    "what is forced cites its order": ({ cause, orderRef }) =>
      cause !== "forced" || orderRef !== null
  }
})

/**
 * The event of one move, without the text of the cited order
 * (docs/domain/powers.md#forced-acts).
 */
const announcementOf = (
  { operationId, orderRef }: ForcedAct,
  { from, instrumentId, to, units }: Fact
): Announcement => ({
  ...makeEvent("holder.forced-transfer", {
    operationId,
    from: { holderId: from.holderId },
    to: { holderId: to.holderId },
    quantity: units,
    orderCited: orderRef !== null
  }),
  resourceKind: "holder",
  resourceId: from.holderId,
  instrumentId,
  party: from.party,
  holderIds: [from.holderId, to.holderId]
})
