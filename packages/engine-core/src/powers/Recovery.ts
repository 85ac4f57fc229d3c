/**
 * Record of the recoveries of one holder's units of one instrument: units moved, and units
 * announced.
 */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../kernel/Collection.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Party from "../kernel/Party.ts"
import { moveMembers } from "./ForcedAct.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

/** Events of a recovery. */
export const recoveryEvents = {
  "holder.recovered": about("holder", Schema.Struct(moveMembers))
} as const

const makeEvent = announcing(recoveryEvents)

const { String: Text } = Schema

/**
 * Units in many holdings move over several transactions and are announced once, when none is left;
 * units that an earlier, refused recovery moved are counted in.
 */
export const Recovery = Schema.Struct({
  holderId: Text,
  party: Party.schema,
  toHolderId: Text,
  instrumentId: Text,
  /** All units moved so far. */
  moved: Decimal.schema,
  /** Moved units that are announced. */
  told: Decimal.schema,
  /** The operation of the latest move. */
  operationId: Text
})
export type Recovery = typeof Recovery.Type

const Moved = Schema.Struct({
  on: Schema.Literal("move"),
  units: Decimal.schema,
  toHolderId: Text,
  operationId: Text
})
const Tell = Schema.Struct({ on: Schema.Literal("tell"), units: Decimal.schema })
export const Fact = Schema.Union([Moved, Tell])
export type Fact = typeof Fact.Type

/** Fold: the recovery after `fact`. */
const evolve = (self: Recovery, fact: Fact): Recovery =>
  match(fact)
    .with({ on: "move" }, ({ units, toHolderId, operationId }) => ({
      ...self,
      toHolderId,
      operationId,
      moved: Decimal.add(self.moved, units)
    }))
    .with({ on: "tell" }, ({ units }) => ({ ...self, told: Decimal.add(self.told, units) }))
    .exhaustive()

export const idOf = ({
  holderId,
  instrumentId
}: Pick<Recovery, "holderId" | "instrumentId">): string => `${holderId}/${instrumentId}`

/** Moved units whose event is not published yet. */
export const unannounced = ({
  moved,
  told: announced
}: Pick<Recovery, "moved" | "told">): Decimal.Decimal => Decimal.subtract(moved, announced)

/**
 * Checks whether a recovery of the holder's units has ended; from then on its units of the
 * instrument are the successor's. A later recovery, of units that reached the holder afterwards,
 * does not change that.
 */
export const isRecovered = (self: Pick<Recovery, "moved" | "told">): boolean =>
  Decimal.isPositive(self.told) || Decimal.isZero(unannounced(self))

export const recoveries = Collection.define<Recovery, Fact>("recovery", {
  doc: "What recoveries have moved of one holder's units of one instrument.",
  id: idOf,
  record: Recovery,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  announce: (self, fact) =>
    fact === undefined || fact.on !== "tell"
      ? []
      : [
          {
            ...makeEvent("holder.recovered", {
              operationId: self.operationId,
              from: { holderId: self.holderId },
              to: { holderId: self.toHolderId },
              quantity: fact.units
            }),
            resourceKind: "holder",
            resourceId: self.holderId,
            instrumentId: self.instrumentId,
            party: self.party,
            holderIds: [self.holderId, self.toHolderId]
          }
        ],
  invariants: {
    "nothing is told that did not move": (self) => !Decimal.isNegative(unannounced(self))
  }
})
