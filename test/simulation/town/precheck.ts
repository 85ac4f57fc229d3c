/** An act is looked at before it is made: what the precheck says of it, the act then says too. */
import { type Caller, Queries } from "@bursar/engine-core"
import { Effect, Result, Schema } from "effect"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as Calls from "../../engine/calls.ts"
import { holds } from "../books.ts"
import { type Refusal, refusalOf } from "./asking.ts"
import { note, tell, type Town } from "./town.ts"

const risk = Calls.person("risk-1", "risk")
const decode = Schema.decodeUnknownSync(PrecheckQueries.get.params)

/** Result of a precheck: the refusal of the act itself, or the first check that does not pass. */
export type Foreseen =
  | { readonly is: "refused"; readonly refusal: Refusal }
  | {
      readonly is: "judged"
      readonly first: { readonly gate: string; readonly check: string } | null
    }

/** Asks, as somebody who may see it whole. */
export const foresees = Effect.fnUntraced(function* (
  town: Town,
  params: Readonly<Record<string, string>>
) {
  const queries = yield* Queries
  const answer = yield* Effect.result(
    queries.one(PrecheckQueries.get, { caller: risk, params: decode(params), point: {} })
  )
  if (Result.isFailure(answer)) {
    const refusal = refusalOf(answer.failure)
    note(town, "precheck refused")
    return { is: "refused", refusal } satisfies Foreseen
  }
  const { allowed, gates } = answer.success.value
  const bad = gates.find(({ ok }) => !ok)
  holds(allowed === (bad === undefined), "a precheck allows what one of its checks does not")
  note(town, `precheck ${allowed ? "allowed" : "not allowed"}`)
  const first = bad === undefined ? null : { gate: bad.gate, check: bad.check }
  return { is: "judged", first } satisfies Foreseen
})

/** Slugs that no gate refuses with: they are judged before or beside a precheck's checks. */
const beside = new Set(["permission-denied", "invalid-request", "already-exists"])

/** Holds what became of the act against what was foreseen a moment before. */
export const compare = (town: Town, foreseen: Foreseen, kind: string, refusal: Refusal | null) => {
  if (refusal !== null && beside.has(refusal.slug)) return
  const outcome = refusal === null ? "nothing" : `${refusal.slug} ${refusal.gate} ${refusal.check}`
  tell(town, `the precheck of ${kind} said the same: ${outcome}`)
  if (foreseen.is === "refused") {
    holds(
      refusal?.slug === foreseen.refusal.slug,
      `a precheck of ${kind} was refused ${foreseen.refusal.slug}, the act ${outcome}`
    )
    return
  }
  const { first } = foreseen
  // The state of a record is no gate of the act's: its precheck shows it under policy.
  const gate = refusal?.slug === "state-conflict" ? "policy" : refusal?.gate
  holds(
    first === null ? refusal === null : gate === first.gate && refusal?.check === first.check,
    `a precheck of ${kind} said ${JSON.stringify(first)}, the act ${outcome}`
  )
}

/** One act in three is looked at first. */
export const looked = Effect.fnUntraced(function* <E, R>(
  town: Town,
  params: Readonly<Record<string, string>> & { readonly act: string },
  by: Caller.Caller,
  act: (by: Caller.Caller) => Effect.Effect<Refusal | null, E, R>
) {
  const acting = act(by)
  // An app is told of neither restrictions nor screening, by either.
  if (by.roles.includes("app") || !town.die.once(3)) return yield* acting
  const foreseen = yield* foresees(town, params)
  const { length } = town.awaiting
  const mayRepeat = town.awaiting.some(
    ({ act: { kind }, maker }) => kind === params.act && maker === by.sub
  )
  const refusal = yield* acting
  // A repeated call answers the action that already awaits approval: nothing was judged again.
  if (refusal === null && mayRepeat && town.awaiting.length === length) return refusal
  compare(town, foreseen, params.act, refusal)
  return refusal
})
