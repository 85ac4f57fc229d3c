/** Judgement of an act for its precheck: the rows of its conditions, and the figures that it derives. */
import { Effect } from "effect"
import * as Gates from "../../kernel/Gates.ts"
import type { Gate, Refused, Unavailable } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type * as Read from "../../reads/Read.ts"
import type { OperationAct } from "../../records/Act.ts"
import type * as LedgerReach from "../../records/LedgerReach.ts"
import type { Records } from "../../records/Records.ts"
import type * as Figures from "../../writes/Figures.ts"
import type { Operation } from "../../writes/Operation.ts"

/** Refusals that precede the gates, of the act and of its precheck alike. */
export const refusals = [
  "not-found",
  "permission-denied",
  "invalid-request",
  "already-exists"
] as const

/** The act as the caller would make it at the pin; no operation has this id. */
export const actOf = ({ caller, pin, role, venue }: Read.ReadContext): OperationAct => ({
  cause: { by: "operation", operationId: "precheck" },
  now: pin.judgedAt,
  operationId: "precheck",
  venue,
  actor: caller.sub,
  role,
  signedBy: [],
  sealed: null
})

/**
 * Rows of the conditions that the operation itself declares. A refusal that prevents the other conditions,
 * such as for an instrument that the manifest does not record, is the only row. So is the state of
 * a record that does not allow the act: its row has the gate `policy` and the name of the state
 * set.
 */
export const rowsOf = (operation: Operation, input: unknown, act: OperationAct) => {
  if (operation.gates === undefined) throw new Error(`${operation.kind} declares no gates`)
  return operation.gates(input, act).pipe(
    Effect.map(Gates.gateChecksOf),
    Effect.catchTag("Refused", (refusal) => {
      const { check, detail, recovery } = refusal.details
      const gate = gateOf(refusal)
      if (gate === undefined || check === undefined) return sameRefusal(refusal)
      const row = { ok: false, detail: detail ?? null, recovery: recovery ?? null }
      return Effect.succeed<ReadonlyArray<Gates.GateCheck>>([{ gate, check, ...row }])
    })
  )
}

const gateOf = ({ slug, details: { gate } }: Refused): Gate | undefined => {
  if (slug === "state-conflict") return "policy"
  return slug === "rule-refused" ? gate : undefined
}

type Precheckable = (typeof refusals)[number]

const isPrecheckable = (refusal: Refused): refusal is Refused<Precheckable> =>
  refusals.some((slug) => slug === refusal.slug)

const sameRefusal = (refusal: Refused): Effect.Effect<never, Refused<Precheckable>> =>
  isPrecheckable(refusal)
    ? Effect.fail(refusal)
    : Effect.die(new Error(`a precheck may not answer the refusal ${refusal.slug}`))

/** The figures that an operation derives; null where it declares none or refuses before them. */
export const derivedBy = (
  operation: Operation,
  input: unknown,
  act: OperationAct
): Effect.Effect<
  Figures.DerivedFigures["figures"] | null,
  Unavailable,
  Records | Bulk | Crypto | LedgerReach.LedgerReach
> =>
  operation.figures === undefined
    ? Effect.succeed(null)
    : operation.figures(input, act).pipe(
        Effect.map(({ figures }) => figures),
        Effect.catchTag("Refused", () => Effect.succeed(null))
      )
