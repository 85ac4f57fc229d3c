/** What is said of restrictions and screening to those who may not notice them: one neutral sentence. */
import type { Shown } from "../../kernel/Gates.ts"
import * as Problem from "../../kernel/Problem.ts"
import {
  type Gate,
  gates,
  isRefused,
  type Refused,
  refused,
  type Unavailable
} from "../../kernel/Refusal.ts"
import type { OperationKind } from "../../vocabulary/OperationKind.ts"
import type { EventType } from "../../vocabulary/EventType.ts"
import type { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { isTold } from "./RestrictionSight.ts"

/** The gates whose refusals tell what an investor must not learn (domain.md section 8, feature 11). */
const discreet: ReadonlySet<string> = new Set<Gate>(["restriction", "screening"])

const standing = { gate: "admission", check: "standing", recovery: "Ask the venue." } as const
const neutral = refused("rule-refused", standing)

/**
 * A refusal as a role may see it: an investor, and the venue's own application that speaks for
 * investors, are told in the same words whether a restriction or a screening stands in the way,
 * whose, and of what.
 */
export const refusalFor =
  (role: Role) =>
  <E extends Refused | Unavailable>(error: E): E | Refused<"rule-refused"> =>
    !isTold(role) && isRefused(error) && discreet.has(error.told.gate ?? "") ? neutral : error

/** A problem that is kept with its operation, as a role may see it; what is kept stays whole. */
export const problemFor = (problem: Problem.Problem, role: Role): Problem.Problem =>
  isTold(role) || problem.gate === null || !discreet.has(problem.gate)
    ? problem
    : Problem.from(neutral, problem.requestId)

/** An operation with its problem as a role may see it. */
export const operationFor = <O extends { readonly problem: Problem.Problem | null }>(
  operation: O,
  role: Role
): O =>
  operation.problem === null
    ? operation
    : { ...operation, problem: problemFor(operation.problem, role) }

/**
 * The checks as a role may see them. Whoever is not told of restrictions and screening has one
 * neutral row that is always there, before the other checks of the gate it names. It refuses only
 * where every other check passes: whether one may act has to be known to act, and where the act is
 * refused anyway what else would refuse it does not.
 */
export const rowsFor = (rows: ReadonlyArray<Shown>, role: Role): ReadonlyArray<Shown> => {
  if (isTold(role)) return rows
  const told = rows.filter(({ gate }) => !discreet.has(gate))
  const ok = rows.every((row) => row.ok) || told.some((row) => !row.ok)
  const { gate, check, recovery } = standing
  const row: Shown = { gate, check, ok, detail: null, recovery: ok ? null : recovery }
  const before = told.filter((one) => gates.indexOf(one.gate) < gates.indexOf(gate))
  return [...before, row, ...told.slice(before.length)]
}

const hiddenEvents: ReadonlySet<EventType> = new Set<EventType>([
  "holder.restricted",
  "holder.unrestricted"
])
const hiddenKinds: ReadonlySet<string> = new Set<OperationKind>([
  "holder.restrict",
  "holder.restrict-batch",
  "restriction.lift"
])

/** What of an event says whether it is about a restriction. */
export interface Telling {
  readonly type: EventType
  readonly resourceKind: ResourceKind
  readonly payload: unknown
}

/**
 * Whether a role is shown an event of the feed. One that is not told of restrictions is shown neither
 * that one began or ended, nor the writes and the approvals that were about one.
 */
export const isShownTo = (role: Role, { type, resourceKind, payload }: Telling): boolean =>
  isTold(role) ||
  !(
    hiddenEvents.has(type) ||
    resourceKind === "restriction" ||
    (typeof payload === "object" &&
      payload !== null &&
      "kind" in payload &&
      typeof payload.kind === "string" &&
      hiddenKinds.has(payload.kind))
  )
