/**
 * Reservations of bank lines: how much of a line is taken, and how much of it each order took
 * (docs/domain/statements.md#cash-lines).
 */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import { CashLine, nameOf } from "./CashLine.ts"

const amounting = { amount: Decimal.schema } as const

/** A bank line and the sum that orders took of it. */
const TakenLine = Schema.Struct({
  ...CashLine.fields,
  /** Cash of the line. */
  ...amounting,
  taken: Decimal.schema.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(Decimal.zero)))
})
export type TakenLine = typeof TakenLine.Type

const Take = Schema.Struct({ on: Schema.Literal("take"), ...amounting })
const Give = Schema.Struct({ on: Schema.Literal("give"), ...amounting })

/**
 * Sums of the cash that is taken of each line. Every taking is a fact of its line, so that of two
 * orders that take of one line at the same time the second conflicts and is judged again with the
 * rest.
 */
export const cashLines = Collection.define<TakenLine, typeof Take.Type | typeof Give.Type>(
  "cash-line",
  {
    doc: "How much of a line of a bank statement orders have taken.",
    id: nameOf,
    record: TakenLine,
    fact: Schema.Union([Take, Give]),
    evolve: (self, fact) =>
      match(fact)
        .with({ on: "take" }, ({ amount }) => ({ ...self, taken: Decimal.add(self.taken, amount) }))
        .with({ on: "give" }, ({ amount }) => ({
          ...self,
          taken: Decimal.subtract(self.taken, amount)
        }))
        .exhaustive(),
    keptBy: "engine",
    filters: {
      /** The statement of a line that orders have taken of. */
      takenOf: ({ statementId, taken }) => (Decimal.isPositive(taken) ? statementId : null)
    },
    invariants: {
      "no more is taken of a line than it has": ({ amount, taken }) =>
        Decimal.atMost(Decimal.zero, taken) && Decimal.atMost(taken, amount)
    }
  }
)

/** An order that bank lines pay. */
export const Order = Schema.Struct({
  kind: Schema.Literals(["subscription", "redemption"]),
  orderId: Schema.String
})
export type Order = typeof Order.Type

/** Key of an order among the takings of all. */
export const orderKeyOf = ({ kind, orderId }: Order): string => `${kind}/${orderId}`

/** Cash of a line of the statement in force. */
const EntryPlace = Schema.Struct({ line: Integer.schema, ...amounting })
export type EntryPlace = typeof EntryPlace.Type

const Pays = Schema.Literals(["cash", "refund"])

export const CashTaking = Schema.Struct({
  ...Order.fields,
  pays: Pays,
  /** The line as the call named it; a correction of its statement does not change it. */
  named: CashLine,
  /** The statement in force that has the cash now. */
  statementId: CashLine.fields.statementId,
  /** Lines of that statement that the cash is in. */
  places: Schema.Array(EntryPlace),
  /** Cash that a correction had no line for: it pays nothing. */
  lost: Decimal.schema,
  /** `reserved` by a write that the ledger has not committed; `used` by the order; `returned` by it. */
  state: Schema.Literals(["reserved", "used", "returned"])
})
export type CashTaking = typeof CashTaking.Type

const Reserve = Schema.Struct({
  on: Schema.Literal("reserve"),
  pays: Pays,
  named: CashLine
})
const Use = Schema.Struct({ on: Schema.Literal("use") })
const Return = Schema.Struct({ on: Schema.Literal("return") })
/** Another statement replaced the line's: the cash lies in lines of that one. */
const Move = Schema.Struct({
  on: Schema.Literal("move"),
  statementId: CashLine.fields.statementId,
  places: Schema.Array(EntryPlace),
  lost: Decimal.schema
})
const Fact = Schema.Union([Reserve, Use, Return, Move])
type Fact = typeof Fact.Type

/** Fold: the taking after `fact`. */
const evolve = (self: CashTaking, fact: Fact): CashTaking =>
  match(fact)
    .with({ on: "reserve" }, (named) => ({ ...self, ...reservedAs(named) }))
    .with({ on: "use" }, () => ({ ...self, state: "used" as const }))
    .with({ on: "return" }, () => ({
      ...self,
      places: [],
      lost: Decimal.zero,
      state: "returned" as const
    }))
    .with({ on: "move" }, ({ on: _, ...moved }) => ({ ...self, ...moved }))
    .exhaustive()

/** Members of a taking whose line is reserved as the call names it. */
export const reservedAs = ({ pays, named }: Pick<CashTaking, "pays" | "named">) => ({
  pays,
  named,
  statementId: named.statementId,
  places: [{ line: named.line, amount: named.amount }],
  lost: Decimal.zero,
  state: "reserved" as const
})

/** Cash of a taking that lies in lines in force. */
export const heldBy = ({ places }: Pick<CashTaking, "places">): Decimal.Decimal =>
  Decimal.sum(places.map(({ amount }) => amount))

/** Lines of the statement in force that a taking's cash is in, as an order names them. */
export const linesOf = ({
  places,
  statementId
}: Pick<CashTaking, "places" | "statementId">): ReadonlyArray<CashLine> =>
  places.map((place) => ({ statementId, ...place }))

export const takingIdOf = (
  orderLine: Order & { readonly named: Pick<CashLine, "statementId" | "line"> }
) => `${orderKeyOf(orderLine)}/${nameOf(orderLine.named)}`

export const cashTakings = Collection.define<CashTaking, Fact>("cash-taking", {
  doc: "How much of a line of a bank statement one order took, and where that cash lies now.",
  id: takingIdOf,
  record: CashTaking,
  fact: Fact,
  evolve,
  keptBy: "engine",
  filters: {
    order: orderKeyOf,
    /** Takings of orders that used cash which a correction had no line for. */
    losing: ({ lost, state }) => (state === "used" && Decimal.isPositive(lost) ? "true" : null),
    /** The statement whose replacement moves the taking. */
    statementId: ({ state, statementId }) => (state === "returned" ? null : statementId)
  },
  invariants: {
    "a taking has the cash that was named, in lines or lost": (self) =>
      self.state === "returned" ||
      Decimal.equals(Decimal.add(heldBy(self), self.lost), self.named.amount)
  }
})
