/** State machine of one holder's line of a distribution: moves, who makes each, and its facts. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import type { DistributionLine } from "./DistributionLine.ts"
import { firstOf, shownOf } from "./LineCauseRules.ts"

export const DistributionLineMachine = Machine.declare("DistributionLineState", {
  doc: "One holder's line of a distribution. What is owed keeps its amount while it waits.",
  states: {
    due: "Owed, not delivered.",
    suspended: "Owed, and must wait until its cause is cured.",
    delivered: "The registrar delivered it.",
    rolled: "Closed: the next distribution may pay its holder again.",
    carried: "Left to the next period.",
    void: "Its amount is booked elsewhere by order."
  },
  triggers: {
    suspend: {
      by: [
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        // While a restriction for expired evidence is in force, its holder may receive; its end
        // stops that.
        "restriction.lift",
        "admission.withdraw",
        "screening",
        "ledger",
        "clock"
      ]
    },
    cure: {
      by: [
        "restriction.lift",
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        "screening",
        "ledger",
        "clock"
      ]
    },
    deliver: { by: ["ledger"] },
    roll: { by: ["distribution.roll"], announces: ["distribution.paid"] },
    void: { by: ["holder.force-transfer"] }
  },
  initial: "due",
  // A line that a snapshot of the ledger shows as delivered opens in that state.
  opensIn: ["due", "suspended", "carried", "delivered"],
  opens: { by: ["distribution.execute"] },
  moves: {
    // The ledger decides: a line that was cured while the order's transaction ran is void.
    due: { suspend: "suspended", deliver: "delivered", void: "void" },
    // The ledger decides: a line that was delivered although it had to wait is delivered.
    suspended: { cure: "due", deliver: "delivered", void: "void" },
    delivered: { roll: "rolled" },
    rolled: {},
    carried: {},
    void: {}
  },
  forward: ["cure", "deliver", "roll"]
})

export const Evidence = Schema.Struct({ reference: Schema.String, paidOn: Date.schema }).annotate({
  identifier: "PaymentEvidence",
  description: "The registrar's evidence that cash was paid: the bank's reference and day."
})
export type Evidence = typeof Evidence.Type

/** Place of a delivery on the ledger; its time is the running maximum, which never decreases. */
export const Delivery = Schema.Struct({ offset: Offset.schema, ledgerTime: Instant.schema })
export type Delivery = typeof Delivery.Type

const { Literal, NullOr, String: Text } = Schema
const at = Instant.schema
const causes = Schema.Array(sets.LineReason.schema)

// Facts that leave the state as it is.

/** A suspended line has other causes to wait for. */
const Recause = Schema.Struct({ on: Literal("recause"), at, causes })
/** The line is another holder's: its successor's, or that of a party that has become a holder. */
const Follow = Schema.Struct({
  on: Literal("follow"),
  at,
  holderId: Text,
  party: Party.schema,
  custodian: Field.optional(Party.schema),
  /** The former holder, where it is succeeded. */
  predecessor: NullOr(Text)
})
/** The venue directed the line on the ledger: who is paid, and whether the line waits. */
const Direct = Schema.Struct({
  on: Literal("direct"),
  at,
  cid: Field.contractId,
  party: Party.schema,
  waits: Schema.Boolean
})

// Facts of the table's triggers.

const Suspend = Schema.Struct({ on: Literal("suspend"), at, causes })
const Cure = Schema.Struct({ on: Literal("cure"), at })
const Deliver = Schema.Struct({
  on: Literal("deliver"),
  at,
  uid: Text,
  /** Contract of the delivered line. */
  cid: Field.contractId,
  evidence: NullOr(Evidence),
  paidOn: Date.schema,
  /** Null in facts that were recorded before this member. */
  delivery: Field.optional(Delivery)
})
const Roll = Schema.Struct({ on: Literal("roll"), at, uid: Text })
const Void = Schema.Struct({ on: Literal("void"), at, uid: Text, orderRef: Field.digest })

export const Fact = Schema.Union([Recause, Follow, Direct, Suspend, Cure, Deliver, Roll, Void])
export type Fact = typeof Fact.Type

/**
 * Fold: the line after `fact`. What an investor and an app may know of its version and time counts
 * only facts that change what they are shown (docs/domain/distributions.md#who-sees-a-line).
 */
export const evolve = (self: DistributionLine, fact: Fact): DistributionLine => {
  const after = step(self, fact)
  return isConcealed(self, after, fact)
    ? after
    : { ...after, visible: { version: self.visible.version + 1, at: fact.at } }
}

const isConcealed = (before: DistributionLine, after: DistributionLine, { on }: Fact): boolean => {
  if (on === "direct") return true
  if (on !== "suspend" && on !== "cure" && on !== "recause") return false
  const [shown, then] = [shownOf(before), shownOf(after)]
  return shown.state === then.state && shown.reason === then.reason
}

const step = (self: DistributionLine, fact: Fact): DistributionLine =>
  match(fact)
    .with({ on: "recause" }, ({ causes }) => ({ ...self, causes, reason: firstOf(causes) }))
    .with({ on: "follow" }, ({ holderId, party, custodian, predecessor }) => {
      const before = predecessor ?? self.predecessor
      // The first holder was paid after all: the line is its own again.
      return {
        ...self,
        holderId,
        party,
        custodian,
        predecessor: before === holderId ? null : before
      }
    })
    .with({ on: "direct" }, ({ cid, party, waits }) => ({
      ...self,
      lineCid: cid,
      directed: { party, waits }
    }))
    .with({ on: "suspend" }, ({ on, causes }) => ({
      ...moved(self, on),
      causes,
      reason: firstOf(causes)
    }))
    .with({ on: "cure" }, ({ on }) => ({ ...moved(self, on), causes: [], reason: null }))
    .with({ on: "deliver" }, ({ on, at, uid, cid, evidence, paidOn, delivery }) => ({
      ...moved(self, on),
      causes: [],
      reason: null,
      lineCid: cid,
      directed: null,
      deliveredAt: at,
      deliveredUid: uid,
      evidence,
      paidOn,
      delivery
    }))
    .with({ on: "roll" }, ({ on, uid }) => ({ ...moved(self, on), lineCid: null, rolledUid: uid }))
    .with({ on: "void" }, ({ on }) => ({
      ...moved(self, on),
      causes: [],
      reason: null,
      lineCid: null,
      directed: null
    }))
    .exhaustive()

const moved = (
  self: DistributionLine,
  on: Machine.TriggerOf<typeof DistributionLineMachine>
): DistributionLine => ({
  ...self,
  state: Machine.follow(DistributionLineMachine, self.state, on)
})
