/**
 * Redaction for investors and apps: hides restrictions and screening in refusals, conditions, operations
 * and events (docs/domain/holders.md#concealment).
 */
import { Context } from "effect"
import { conditions } from "../kernel/Conditions.ts"
import { condition, concealedGates, failed, type GateCheck, gateChecksOf } from "../kernel/Gates.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import * as Problem from "../kernel/Problem.ts"
import { gates, isRefused, type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import { isMembers, type ShownPayloads } from "../records/EventDeclaration.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Role } from "../vocabulary/Role.ts"

/**
 * Checks whether restrictions and screening are concealed from a role: from investors, and from apps,
 * which speak for investors. A registrar reads whether a line of its own instruments is restricted.
 */
export const isConcealedFrom = (role: Role): boolean => role === "investor" || role === "app"

const isConcealedGate = (gate: string | null | undefined): boolean => concealedGates.has(gate ?? "")

const neutral = refused("rule-refused", failed("standing"))

const substitute = ({ details: { instead } }: Refused): Refused<"rule-refused"> =>
  instead === undefined ? neutral : refused("rule-refused", instead)

/**
 * Refusal as a role may read it: in place of one by restriction or screening, investors and apps
 * read the first refusal of another gate, or one neutral sentence where no other gate refuses.
 */
export const refusalFor =
  (role: Role) =>
  <E extends Refused | Unavailable>(error: E): E | Refused<"rule-refused"> =>
    isConcealedFrom(role) && isRefused(error) && isConcealedGate(error.details.gate)
      ? substitute(error)
      : error

/** Refusal to store beside a concealed one, for roles it is concealed from; null: not concealed. */
export const substituteFor = (cause: Refused | Unavailable): Refused<"rule-refused"> | null =>
  isRefused(cause) && isConcealedGate(cause.details.gate) ? substitute(cause) : null

/** Kinds of write whose result is a holder as staff reads it. */
const registrations: ReadonlySet<OperationKind> = new Set(["holder.register", "holder.onboard"])

/**
 * Result of a registration that was stored before the view for investors and apps was kept beside it:
 * without its screening, without those who answer that, and without the names of the venue's staff.
 */
const withoutScreening = (result: Plain): Plain => {
  if (!isMembers(result)) return result
  const membersOf = (list: Plain | undefined) =>
    Array.isArray(list) ? list.filter((each: Plain) => isMembers(each)) : []
  return {
    ...result,
    screening: null,
    waitingOn: membersOf(result["waitingOn"]).filter(
      ({ action }) => !String(action).startsWith("screening.")
    ),
    attributes: membersOf(result["attributes"]).map((each) => ({ ...each, setBy: "venue" }))
  }
}

/** Operation with the problem and the result that a role may read. */
export const operationFor = <
  O extends {
    readonly kind: OperationKind
    readonly problem: Problem.Problem | null
    readonly problemInstead?: Problem.Problem
    readonly result: Plain | null
    readonly resultInstead?: Plain
  }
>(
  operation: O,
  role: Role
): O => {
  if (!isConcealedFrom(role)) return operation
  const { kind, problem, problemInstead, result, resultInstead } = operation
  if (resultInstead !== undefined) return { ...operation, result: resultInstead }
  if (result !== null && registrations.has(kind)) {
    return { ...operation, result: withoutScreening(result) }
  }
  if (problem === null || !isConcealedGate(problem.gate)) return operation
  return { ...operation, problem: problemInstead ?? Problem.from(neutral, problem.requestId) }
}

/**
 * Checks as a role may read them. For investors and apps one neutral row replaces the rows of
 * restriction and screening; the row is always there, before the other conditions of the gate it names.
 * It fails only where every other condition holds: a caller must learn that it may not act, and where
 * another condition does not hold anyway, nothing more.
 */
export const rowsFor = (rows: ReadonlyArray<GateCheck>, role: Role): ReadonlyArray<GateCheck> => {
  if (!isConcealedFrom(role)) return rows
  const open = rows.filter(({ gate }) => !isConcealedGate(gate))
  const ok = rows.every((row) => row.ok) || open.some((row) => !row.ok)
  const before = open.filter(
    (row) => gates.indexOf(row.gate) < gates.indexOf(conditions.standing.gate)
  )
  return [...before, ...gateChecksOf([condition("standing", ok)]), ...open.slice(before.length)]
}

/**
 * Checks whether a role may read the figures of an act in its precheck: investors and apps read those
 * of the operations that declare them for every role.
 */
export const mayReadFigures = (
  { figuresFor }: { readonly figuresFor?: "every-role" },
  role: Role
): boolean => figuresFor === "every-role" || !isConcealedFrom(role)

/** Events that show whether a holder is restricted or screened, as a room declares them. */
export interface ConcealedEvents {
  /** Kinds of record: their events are concealed, those of writes and approvals included. */
  readonly resourceKinds: ReadonlyArray<ResourceKind>
  /** Types of event that are about records of other kinds. */
  readonly types: ReadonlyArray<EventType>
  /** Kinds of write about records of other kinds, whose own events are concealed. */
  readonly operations: ReadonlyArray<OperationKind>
  /**
   * Kinds of write of which the success alone is announced to everybody: that one awaits its approvers,
   * was rejected, lapsed or failed shows what the venue considers doing with a holder.
   */
  readonly untilDone: ReadonlyArray<OperationKind>
  /** Events that are shown with another payload. */
  readonly payloads: ShownPayloads
}

/** The concealed events of all rooms, gathered in the catalogue. */
export class ConcealedRecord extends Context.Service<ConcealedRecord, ConcealedEvents>()(
  "@bursar/engine-core/writes/Concealed"
) {}

/** Members of an event by which it is concealed. */
interface ConcealableEvent {
  readonly type: EventType
  readonly resourceKind: ResourceKind
  readonly payload: Plain
}

/** Event of the feed as a role reads it; null: it is concealed from the role. */
export const eventFor = <E extends ConcealableEvent>(
  concealed: ConcealedEvents,
  role: Role,
  event: E
): E | null => {
  if (!isConcealedFrom(role)) return event
  if (!mayReadEvent(concealed, role, event)) return null
  const { payload, type } = event
  const shown = concealed.payloads[type]
  if (shown === undefined || !isMembers(payload)) return event
  const members = shown(payload)
  return members === null ? null : { ...event, payload: members }
}

/** Checks whether a role may read an event of the feed, whatever is left of its payload. */
export const mayReadEvent = (
  { operations, resourceKinds, types, untilDone }: Omit<ConcealedEvents, "payloads">,
  role: Role,
  event: ConcealableEvent
): boolean =>
  !isConcealedFrom(role) ||
  !(
    types.includes(event.type) ||
    resourceKinds.includes(event.resourceKind) ||
    operations.some((kind) => kind === writeOf(event)) ||
    (event.type !== "operation.succeeded" && untilDone.some((kind) => kind === writeOf(event)))
  )

/** Kind of the write that an event of an operation or an action is about; null: of anything else. */
const writeOf = ({
  payload,
  type
}: {
  readonly payload: Plain
  readonly type: EventType
}): Plain | null =>
  /^(operation|approval)\./u.test(type) &&
  typeof payload === "object" &&
  payload !== null &&
  "kind" in payload
    ? (payload["kind"] ?? null)
    : null
