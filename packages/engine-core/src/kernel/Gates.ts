/**
 * Conditions of an act, one row each, sorted by gate: the judge of writes and the answer of prechecks.
 */
import { Predicate, Result, Schema } from "effect"
import type { OwnWord } from "../vocabulary/OwnWord.ts"
import { type ConditionName, type ConditionRow, conditions, description } from "./Conditions.ts"
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
): RefusalDetails & { readonly check: ConditionName } => failedBy(conditions[name], name, details)

const failedBy = <N extends string>(
  { gate, recovery }: Pick<ConditionRow, "gate" | "recovery">,
  name: N,
  details: Details
): RefusalDetails & { readonly check: N } => {
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

/** Row of a condition of a room: it belongs to a gate, since a room's refusals are business rules. */
export type RoomConditionRow = ConditionRow & { readonly gate: Gate }

/** Conditions that a room declares: their rows, and the maker of their judgements. */
export interface RoomConditions<N extends OwnWord = OwnWord> {
  readonly rows: Readonly<Record<N, RoomConditionRow>>
  /** One condition of an act, as `condition` makes those of the engine. */
  readonly condition: (name: N, holds: boolean, details?: Details) => Judgement
}

/** Declares the conditions of a room; each name begins with `x-`. */
export const declare = <const N extends OwnWord>(
  rows: Readonly<Record<N, RoomConditionRow>>
): RoomConditions<N> => ({
  rows,
  condition: (name, holds, details = {}) => ({
    refuses: !holds,
    refusal: holds
      ? { gate: details.gate ?? rows[name].gate, check: name }
      : (failedBy(rows[name], name, details) as Judgement["refusal"])
  })
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
  check: Schema.String.annotate({ title: "Condition", description }),
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
