/** Query parameters of prechecks, and those that each act takes. */
import { Result, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import * as Codec from "../../kernel/Codec.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { type Fault, refuse, type Refused } from "../../kernel/Refusal.ts"
import { CycleId } from "../../orders/dealing-cycle/DealingCycle.ts"
import { RedemptionId } from "../../orders/redemption/Redemption.ts"
import { CashLine, CashLines, nameOf } from "../../orders/order/CashLine.ts"
import { SubscriptionId } from "../../orders/subscription/Subscription.ts"
import { MintId } from "../../reserves/reserve-order/Mint.ts"
import { ReserveRedemptionId } from "../../reserves/reserve-order/ReserveRedemption.ts"
import * as Field from "../../templates/Field.ts"
import { PaymentMode, type PrecheckAct } from "../../vocabulary/sets.ts"
import * as Counterfactual from "../../instruments/policy/Counterfactual.ts"
import * as Amount from "../../kernel/Amount.ts"

/** Codec of a bank line in a query: three texts joined by colons, which no record id contains. */
const cashLine = Codec.make({
  from: Schema.String,
  to: Schema.toType(CashLine),
  parse: (text: string) => {
    const [id = "", line = "", amount = "", ...more] = text.split(":")
    const read = Result.all({
      statementId: RecordId.parse<"ExternalStatementId">(id),
      line: Integer.parse(line),
      amount: Decimal.parse(amount)
    })
    return more.length === 0 && Result.isSuccess(read)
      ? Result.succeed(read.success)
      : Codec.fault(
          "a bank line is statementId:line:amount, such as camt-7:1:1000.00; its amount is " +
            "above zero, with at most 15 digits before the point and 10 after it"
        )
  },
  print: (line: CashLine) => `${nameOf(line)}:${Decimal.formatPlain(line.amount)}`
}).annotate({ description: "A line of a bank statement, as statementId:line:amount." })

/** A forced move in a query, joined by colons; without units, all of the holder's. */
const Move = Schema.Struct({
  holderId: HolderId,
  toHolderId: HolderId,
  units: Schema.NullOr(Amount.units)
})
type Move = typeof Move.Type
const move = Codec.make({
  from: Schema.String,
  to: Schema.toType(Move),
  parse: (text: string) => {
    const [from = "", to = "", units, ...more] = text.split(":")
    const read = Result.all({
      holderId: RecordId.parse<"HolderId">(from),
      toHolderId: RecordId.parse<"HolderId">(to),
      units: units === undefined ? Result.succeed(null) : Decimal.parse(units)
    })
    return more.length === 0 && Result.isSuccess(read)
      ? Result.succeed(read.success)
      : Codec.fault(
          "a move is holderId:toHolderId or holderId:toHolderId:units; its units are above zero, " +
            `with ${Decimal.digits}`
        )
  },
  print: ({ holderId, toHolderId, units }: Move) =>
    [holderId, toHolderId, ...(units === null ? [] : [Decimal.formatPlain(units)])].join(":")
}).annotate({
  description: "A move of one holder's units, as holderId:toHolderId:units; without units, of all."
})

/** An asset in a query: a party has no slash, so the first one ends it. */
const asset = Codec.make({
  from: Schema.String,
  to: Schema.toType(Field.asset),
  parse: (text: string) => {
    const at = text.indexOf("/")
    const admin = Party.parse(text.slice(0, at))
    const id = text.slice(at + 1)
    return at > 0 && Result.isSuccess(admin) && id.length > 0 && id.length <= RecordId.lengthMax
      ? Result.succeed({ admin: admin.success, id })
      : Codec.fault("an asset is admin/id: the party that registers it, and its id there")
  },
  print: ({ admin, id }: Field.Asset) => `${admin}/${id}`
}).annotate({
  description: "An asset, as admin/id: the party that registers it, and its id there."
})

/**
 * Parameters of the acts, by their names in the act's own body or path. `policyVersion` and `price`
 * suppose other terms or another price.
 */
export const actParams = {
  holderId: Schema.optionalKey(HolderId),
  subscriptionId: Schema.optionalKey(SubscriptionId),
  redemptionId: Schema.optionalKey(RedemptionId),
  cycleId: Schema.optionalKey(CycleId),
  mintId: Schema.optionalKey(MintId),
  reserveRedemptionId: Schema.optionalKey(ReserveRedemptionId),
  payment: Schema.optionalKey(PaymentMode.schema),
  amount: Schema.optionalKey(Amount.orderCashText),
  units: Schema.optionalKey(Amount.orderUnitsText),
  orderId: Schema.optionalKey(Schema.String),
  cash: Schema.optionalKey(Schema.Array(cashLine)),
  refunds: Schema.optionalKey(Schema.Array(cashLine)),
  validFrom: Schema.optionalKey(Instant.schema),
  validUntil: Schema.optionalKey(Instant.schema),
  expiresAt: Schema.optionalKey(Instant.schema),
  moves: Schema.optionalKey(Schema.Array(move)),
  holderIds: Schema.optionalKey(Schema.Array(HolderId)),
  month: Schema.optionalKey(Month.schema),
  acknowledgedRate: Schema.optionalKey(Amount.rateText),
  asset: Schema.optionalKey(asset),
  deposit: Schema.optionalKey(Amount.depositText),
  /** Hash of the cited order's document, the only member of it that is judged. */
  documentHash: Schema.optionalKey(Field.digest),
  ...Counterfactual.fields
} as const
const ActParameters = Schema.Struct(actParams)
export type ActParameters = typeof ActParameters.Type
type Name = keyof ActParameters

/** Record that an act is about, and its required and optional parameters. */
interface ActRequirements {
  readonly about:
    | "holder"
    | "subscription"
    | "redemption"
    | "dealing-cycle"
    | "instrument"
    | "reserve"
  readonly needs: ReadonlyArray<Name>
  readonly may: ReadonlyArray<Name>
}

const claimed = ["payment", "amount", "units", "orderId", "price"] as const

/**
 * Table of the acts that can be prechecked: those whose operations declare all their conditions.
 */
export const acts = {
  "admission.offer": {
    about: "holder",
    needs: ["holderId"],
    may: ["validFrom", "validUntil", "expiresAt"]
  },
  "subscription.claim": {
    about: "holder",
    needs: ["holderId"],
    may: ["subscriptionId", ...claimed]
  },
  "subscription.deliver": {
    about: "subscription",
    needs: ["subscriptionId"],
    may: ["cash", "price"]
  },
  "subscription.settle": {
    about: "subscription",
    needs: ["subscriptionId"],
    may: ["cash", "refunds", "price"]
  },
  "redemption.claim": {
    about: "holder",
    needs: ["holderId"],
    may: ["redemptionId", ...claimed]
  },
  "redemption.settle": {
    about: "redemption",
    needs: ["redemptionId"],
    may: ["cash", "price"]
  },
  "dealing-cycle.settle": { about: "dealing-cycle", needs: ["cycleId"], may: ["price"] },
  "distribution.execute": { about: "instrument", needs: ["month"], may: ["acknowledgedRate"] },
  "instrument.force-transfer": {
    about: "instrument",
    needs: ["moves", "documentHash"],
    may: []
  },
  "instrument.recover": { about: "instrument", needs: ["holderIds"], may: ["documentHash"] },
  // The reserve is the one that backs the instrument.
  "mint.start": {
    about: "reserve",
    needs: ["holderId", "asset", "deposit"],
    may: ["mintId", "price"]
  },
  "reserve-redemption.start": {
    about: "reserve",
    needs: ["holderId", "asset", "units"],
    may: ["reserveRedemptionId", "price"]
  }
} as const satisfies { readonly [A in PrecheckAct]?: ActRequirements }
export type PrecheckedAct = keyof typeof acts

/** Schema of the acts that a request may name. */
export const actSchema = Schema.Literals(
  Object.keys(acts) as ReadonlyArray<PrecheckedAct>
).annotate({
  description: "The act that is judged: one of PrecheckAct whose operation this release has."
})

/** Faults of the parameters: missing ones that the act needs, and ones it does not take. */
const faultsOf = (act: PrecheckedAct, parameters: ActParameters): ReadonlyArray<Fault> => {
  const { needs, may }: ActRequirements = acts[act]
  const taken = new Set<string>([...needs, ...may, "policyVersion"])
  const fault = (name: string, detail: string): Fault => ({ pointer: `/query/${name}`, detail })
  return [
    ...needs
      .filter((name) => parameters[name] === undefined)
      .map((name) => fault(name, "it is missing")),
    ...Object.keys(parameters)
      .filter((name) => !taken.has(name))
      .map((name) => fault(name, `${act} takes no such parameter`))
  ]
}

/** Members of the act's own request: the parameters without those of what-if reads. */
export const membersOf = (
  act: PrecheckedAct,
  parameters: ActParameters
): Result.Result<Readonly<Record<string, unknown>>, Refused<"invalid-request">> => {
  const errors = faultsOf(act, parameters)
  const [first] = errors
  if (first !== undefined) return refuse("invalid-request", { detail: first.detail, errors })
  const { documentHash, policyVersion: _, price: __, ...members } = encode(parameters)
  const { acknowledgedRate, amount, asset, cash, deposit, moves, refunds, units } = parameters
  return Result.succeed({
    ...members,
    ...(amount === undefined ? {} : { amount: number(amount) }),
    ...(units === undefined ? {} : { units: number(units) }),
    ...(deposit === undefined ? {} : { deposit: number(deposit) }),
    ...(asset === undefined ? {} : { asset }),
    ...(acknowledgedRate === undefined ? {} : { acknowledgedRate: number(acknowledgedRate) }),
    ...(cash === undefined ? {} : { cash: lines(cash) }),
    ...(refunds === undefined ? {} : { refunds: lines(refunds) }),
    ...(moves === undefined ? {} : { moves: moves.map((entry) => movedAs(entry)) }),
    ...(documentHash === undefined ? {} : { order: { ...cited, documentHash } })
  })
}

const encode = Schema.encodeSync(ActParameters)
const lines = Schema.encodeSync(CashLines)
const number = Schema.encodeSync(Decimal.plain)
const movedAs = ({ units, ...between }: Move) => ({
  ...between,
  ...(units === null ? {} : { units: number(units) })
})
/** Placeholders for members of a cited order that no gate and no figure reads. */
const cited = { authority: "precheck", reference: "precheck" } as const
