/**
 * Conditions of an act, one row each, sorted by gate: the judge of writes and the answer of prechecks.
 */
import { Predicate, Result, Schema } from "effect"
import { type ConditionName, conditions, description } from "./Conditions.ts"
import { type Gate, gates, refuse, type Refused, type RefusalDetails } from "./Refusal.ts"

/** Result of one condition of an act; it refuses with the slug `rule-refused`. */
export interface Judgement {
  readonly refuses: boolean
  /** Members of the refusal; of a condition that holds, its gate and its name alone. */
  readonly refusal: RefusalDetails & { readonly gate: Gate; readonly check: string }
}

/** The conditions that belong to a gate: a refusal of a business rule is always one of these. */
export type GatedName = {
  [N in ConditionName]: (typeof conditions)[N]["gate"] extends null ? never : N
}[ConditionName]

/** Details of a use: added to the row of its condition, or in place of its members. */
type Details = {
  readonly [M in Exclude<keyof RefusalDetails, "check" | "instead">]?:
    | RefusalDetails[M]
    | null
    | undefined
}

/**
 * Members of the refusal of a condition that does not hold: the gate and the recovery of its row in
 * the table, and the details of the use, which win over the row's.
 */
export const failed = (
  name: ConditionName,
  details: Details = {}
): RefusalDetails & { readonly check: ConditionName } => {
  const { gate, recovery } = conditions[name]
  const said = Object.entries({ gate, recovery, ...details })
  return {
    ...Object.fromEntries(said.filter(([, value]) => Predicate.isNotNullish(value))),
    check: name
  }
}

/** One condition of an act: what must hold, and the details of the refusal where it does not. */
export const condition = (name: GatedName, holds: boolean, details?: Details): Judgement => ({
  refuses: !holds,
  refusal: holds
    ? { gate: details?.gate ?? conditions[name].gate, check: name }
    : (failed(name, details) as Judgement["refusal"])
})

const rankOf = ({ refusal }: Judgement): number => gates.indexOf(refusal.gate)

/**
 * Sorted by the order of the gates; conditions of one gate keep their order
 * (docs/domain/every-record.md#gate-order).
 */
export const inOrder = (objections: ReadonlyArray<Judgement>): ReadonlyArray<Judgement> =>
  objections.toSorted((a, b) => rankOf(a) - rankOf(b))

/** Gates whose refusals are concealed from investors and apps (docs/domain/holders.md#concealment). */
export const concealedGates: ReadonlySet<string> = new Set<Gate>(["restriction", "screening"])

/**
 * The refusal of the first gate that refuses, whatever the order of the rows. A refusal that an
 * investor must not learn of carries in `instead` the first other refusal, so that its refused act
 * says the same as its precheck and nothing of what is hidden.
 */
export const judge = (
  objections: ReadonlyArray<Judgement>
): Result.Result<void, Refused<"rule-refused">> => {
  const refusals = inOrder(objections).flatMap(({ refuses, refusal }) => (refuses ? [refusal] : []))
  const [first] = refusals
  if (first === undefined) return Result.void
  if (!concealedGates.has(first.gate)) return refuse("rule-refused", first)
  const instead = refusals.find(({ gate }) => !concealedGates.has(gate))
  return refuse("rule-refused", instead === undefined ? first : { ...first, instead })
}

/** One condition as a precheck shows it; detail and recovery only where it refuses. */
export const GateCheck = Schema.Struct({
  gate: Schema.Literals(gates),
  check: Schema.String.annotate({ description }),
  ok: Schema.Boolean,
  detail: Schema.NullOr(Schema.String),
  recovery: Schema.NullOr(Schema.String)
}).annotate({
  identifier: "GateCheck",
  description: "One check of one gate: whether the act passes it, and what helps where it does not."
})
export type GateCheck = typeof GateCheck.Type

/** Every condition in the order of the gates, as a precheck shows the rows that judge the act. */
export const gateChecksOf = (objections: ReadonlyArray<Judgement>): ReadonlyArray<GateCheck> =>
  inOrder(objections).map(({ refuses, refusal: { gate, check, detail, recovery } }) => ({
    gate,
    check,
    ok: !refuses,
    detail: refuses ? (detail ?? null) : null,
    recovery: refuses ? (recovery ?? null) : null
  }))
