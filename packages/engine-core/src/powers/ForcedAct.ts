/** Record of a forced act: moves, units, released locks. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as events from "./events.ts"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import { ReleasedLock } from "../templates/Powers.ts"

const { NullOr, String: Text } = Schema

const Side = Schema.Struct({ holderId: Text, party: Party.schema })

/** A lock that ended so that its units could move. It ends whole, whatever part of them moved. */
export const Released = Schema.Struct({
  holdingCid: Field.contractId,
  lockedBy: ReleasedLock,
  /** The contract that locked it; null where the lock's own time was past. */
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

/** One holder's units of one instrument, over as many ledger transactions as it took. */
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

/** One exercise on the ledger. */
export const Fact = Schema.Struct({
  on: Schema.Literal("move"),
  ...move,
  left: Decimal.schema,
  updateId: Text
})
export type Fact = typeof Fact.Type

const isOf =
  ({ from, to, instrumentId }: Pick<ForcedMove, "from" | "to" | "instrumentId">) =>
  (one: ForcedMove): boolean =>
    one.from.holderId === from.holderId &&
    one.to.holderId === to.holderId &&
    one.instrumentId === instrumentId

/** The act after one more exercise of it. Decides nothing: it only remembers. */
export const evolve = (self: ForcedAct, fact: Fact): ForcedAct =>
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
      return { ...self, moves: [...self.moves.filter((one) => one !== before), after] }
    })
    .exhaustive()

export const forcedActs = Collection.define<ForcedAct, Fact>("forced-act", {
  doc: "What a forced transfer or a recovery has moved so far.",
  id: (self) => self.operationId,
  record: ForcedAct,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // What a recovery moved is told once for each instrument: see Recovery.
  announce: (self, fact) =>
    fact === undefined || self.cause !== "forced" ? [] : [told(self, fact)],
  invariants: {
    "each move is there once": ({ moves }) =>
      moves.every((one) => moves.filter(isOf(one)).length === 1),
    "something moved, to somebody else": ({ moves }) =>
      moves.every(({ from, to, units }) => Decimal.isPositive(units) && from.party !== to.party),
    "what is forced cites its order": ({ cause, orderRef }) =>
      cause !== "forced" || orderRef !== null
  }
})

/**
 * Publishes one event for each move, without the text of the cited order
 * (docs/domain/powers.md#forced-acts).
 */
const told = (
  { operationId, orderRef }: ForcedAct,
  { from, instrumentId, to, units }: Fact
): Announcement => ({
  ...events.make("holder.forced-transfer", {
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
