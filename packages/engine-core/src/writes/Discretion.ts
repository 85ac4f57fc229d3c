/** Neutral refusals for callers who must not learn of restrictions and screening. */
import { checks } from "../kernel/Checks.ts"
import { check, discreet, failed, type Shown, shown } from "../kernel/Gates.ts"
import * as Problem from "../kernel/Problem.ts"
import { gates, isRefused, type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Role } from "../vocabulary/Role.ts"

/**
 * Whether a caller of this role may learn that a restriction exists. An investor never does
 * (docs/domain/holders.md#concealment), and neither does an app, which speaks for investors. A
 * registrar reads of its own instruments' lines whether they are restricted, and no more.
 */
export const isTold = (role: Role): boolean => role !== "investor" && role !== "app"

const neutral = refused("rule-refused", failed("standing"))

/**
 * A refusal as a role may read it: investors and apps read one neutral sentence whether a
 * restriction or a screening refuses, whose and of what. Where another gate refuses too they read
 * that refusal, as in the precheck.
 */
export const refusalFor =
  (role: Role) =>
  <E extends Refused | Unavailable>(error: E): E | Refused<"rule-refused"> =>
    !isTold(role) && isRefused(error) && discreet.has(error.told.gate ?? "")
      ? otherwise(error)
      : error

const otherwise = ({ told: { instead } }: Refused): Refused<"rule-refused"> =>
  instead === undefined ? neutral : refused("rule-refused", instead)

/** The problem that is stored beside an operation's own, for callers who must not learn of it. */
export const insteadOf = (cause: Refused | Unavailable): Refused<"rule-refused"> | null =>
  isRefused(cause) && discreet.has(cause.told.gate ?? "") ? otherwise(cause) : null

/** An operation with the problem that a role may read; the stored record stays whole. */
export const operationFor = <
  O extends {
    readonly problem: Problem.Problem | null
    readonly problemInstead?: Problem.Problem
  }
>(
  operation: O,
  role: Role
): O => {
  const { problem, problemInstead } = operation
  if (isTold(role) || problem === null || !discreet.has(problem.gate ?? "")) return operation
  return { ...operation, problem: problemInstead ?? Problem.from(neutral, problem.requestId) }
}

/**
 * The checks as a role may read them. Investors and apps read one neutral row in place of those of
 * restriction and screening; it is always there, before the other checks of the gate it names. It
 * refuses only where every other check passes: a caller must know that it may not act, and where
 * another check refuses anyway nothing more need be said.
 */
export const rowsFor = (rows: ReadonlyArray<Shown>, role: Role): ReadonlyArray<Shown> => {
  if (isTold(role)) return rows
  const told = rows.filter(({ gate }) => !discreet.has(gate))
  const ok = rows.every((row) => row.ok) || told.some((row) => !row.ok)
  const before = told.filter((one) => gates.indexOf(one.gate) < gates.indexOf(checks.standing.gate))
  return [...before, ...shown([check("standing", ok)]), ...told.slice(before.length)]
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

/** Members of an event that show whether it is about a restriction. */
export interface Telling {
  readonly type: EventType
  readonly resourceKind: ResourceKind
  readonly payload: unknown
}

/**
 * Whether a role reads an event of the feed. Roles that must not learn of restrictions read neither
 * their beginning and end nor the writes and approvals about them.
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
