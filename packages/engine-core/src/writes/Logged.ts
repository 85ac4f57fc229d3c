/** Audit records of a write: its request, each signature, its start and its end. */
import * as Audit from "../records/Audit.ts"
import * as Problem from "../kernel/Problem.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Approval } from "./Approval.ts"
import { type Caller, type RequestIdentity, roleOf } from "./Caller.ts"
import type { AnyOperation, Operation } from "./Operation.ts"
import type { OperationRecord } from "./OperationRecord.ts"

/** The log says null for what the engine opens by itself, which has no role. */
const actorOf = ({ actor, role }: Pick<OperationRecord, "actor" | "role">): string | null =>
  role === null ? null : actor

/** `POST /v1/instruments/{instrumentId}:pause` in its two words. */
const called = (route: string): Pick<Audit.Entry, "method" | "route"> => {
  const space = route.indexOf(" ")
  return { method: route.slice(0, space), route: route.slice(space + 1) }
}

const about = ({
  resource
}: Pick<OperationRecord | Approval, "resource">): Pick<
  Audit.Entry,
  "resourceKind" | "resourceId"
> => ({
  resourceKind: resource.kind,
  resourceId: resource.id
})

/** Caller of an accepted call, its ids, and the fingerprint of its content. */
interface AcceptedCall {
  readonly caller: Pick<Caller, "sub" | "roles">
  readonly identity: RequestIdentity
  readonly fingerprint: string
}

/** Origin of a call for its audit record: caller, role, and request. */
interface CallOrigin {
  readonly actor: string
  readonly role: Role | null
  readonly requestId: string
  readonly traceId: string | null
  readonly keyId: string | null
  /** Fingerprint of the call. */
  readonly bodyHash: string
}

/** The origin of a call by one of the admitted roles. */
export const originOf = (
  { caller, identity, fingerprint }: AcceptedCall,
  admitted: ReadonlyArray<Role>
): CallOrigin => ({
  actor: caller.sub,
  role: roleOf(caller, admitted) ?? null,
  requestId: identity.requestId,
  traceId: identity.traceId,
  keyId: identity.keyId,
  bodyHash: fingerprint
})

/** A write that ended in its call, which is answered 201. */
export const created = (
  origin: CallOrigin,
  {
    route,
    ...written
  }: Pick<Audit.Entry, "action" | "resourceKind" | "resourceId" | "detail"> & {
    readonly route: string
  }
): Audit.Entry =>
  Audit.entry({ ...written, ...called(route), ...origin, stage: "succeeded", status: 201 })

/** A write that was accepted and became an operation. */
export const requested = (
  operation: AnyOperation,
  record: OperationRecord,
  call: AcceptedCall | null
): Audit.Entry =>
  Audit.entry({
    action: record.kind,
    stage: "requested",
    ...about(record),
    operationId: record.operationId,
    ...(call === null
      ? { requestId: record.requestId }
      : {
          ...(operation.route === null ? {} : called(operation.route)),
          ...originOf(call, operation.makers),
          status: 202
        })
  })

/** A four-eyes action that was made. */
export const awaiting = (operation: Operation, action: Approval, call: AcceptedCall): Audit.Entry =>
  Audit.entry({
    action: action.kind,
    stage: "awaiting",
    ...called(operation.route),
    ...originOf(call, operation.makers),
    ...about(action),
    actionKey: action.actionKey,
    status: 202
  })

/** The two ways an approver signs: by the action's own verb, or by repeating the call. */
export const approveRoute = "POST /v1/approvals/{actionKey}:approve"
const rejectRoute = "POST /v1/approvals/{actionKey}:reject"

/** A signature; the last one opened the operation. `action` is as the signature left it. */
export const signed = (
  action: Approval,
  call: Omit<AcceptedCall, "fingerprint"> & { readonly route: string; readonly status: 202 | 204 }
): Audit.Entry =>
  Audit.entry({
    action: "approval.approve",
    stage: action.state === "approved" ? "approved" : "signed",
    ...called(call.route),
    // The signed request is the stored one, whichever route the signature came by.
    ...originOf({ ...call, fingerprint: action.fingerprint }, ["approver"]),
    ...about(action),
    operationId: action.operationId,
    actionKey: action.actionKey,
    status: call.status
  })

/** A signature that was refused because the figures moved; earlier signatures are void. */
export const voided = (
  action: Approval,
  call: Omit<AcceptedCall, "fingerprint"> & { readonly route: string }
): Audit.Entry =>
  Audit.entry({
    action: "approval.approve",
    stage: "voided",
    ...called(call.route),
    ...originOf({ ...call, fingerprint: action.fingerprint }, ["approver"]),
    ...about(action),
    actionKey: action.actionKey,
    status: 422,
    problem: "rule-refused"
  })

/** The figures had moved at the run: nothing ran, and the action awaits again. */
export const voidedAtRun = (action: Approval, record: LoggedOperation): Audit.Entry =>
  Audit.entry({
    action: action.kind,
    stage: "voided",
    ...about(action),
    operationId: record.operationId,
    actionKey: action.actionKey,
    requestId: record.requestId,
    traceId: record.traceId
  })

/** A rejection, or its maker's withdrawal. */
export const rejected = (
  action: Approval,
  call: Omit<AcceptedCall, "fingerprint"> & { readonly how: "reject" | "withdraw" }
): Audit.Entry =>
  Audit.entry({
    action: "approval.reject",
    stage: "rejected",
    ...called(rejectRoute),
    ...originOf(
      { ...call, fingerprint: action.fingerprint },
      call.how === "withdraw" ? [action.makerRole] : ["approver"]
    ),
    ...about(action),
    actionKey: action.actionKey,
    status: 200,
    detail: { how: call.how }
  })

type LoggedOperation = Pick<
  OperationRecord,
  | "kind"
  | "actor"
  | "role"
  | "resource"
  | "operationId"
  | "actionKey"
  | "requestId"
  | "traceId"
  | "problem"
>

/** A step of an operation that a worker, or the projection, took: under the call that opened it. */
const ran = (record: LoggedOperation, stage: "started" | "succeeded" | "failed"): Audit.Entry =>
  Audit.entry({
    action: record.kind,
    stage,
    actor: actorOf(record),
    role: record.role,
    ...about(record),
    operationId: record.operationId,
    actionKey: record.actionKey,
    requestId: record.requestId,
    traceId: record.traceId
  })

/** Entry of an operation's first lease. */
export const started = (record: LoggedOperation): Audit.Entry => ran(record, "started")

/** The operation's end; a failed one says by which refusal. */
export const ended = (
  record: LoggedOperation,
  problem: Pick<Problem.Problem, "type" | "status"> | null
): Audit.Entry => ({
  ...ran(record, problem === null ? "succeeded" : "failed"),
  status: problem?.status ?? null,
  problem: problem === null ? null : Problem.slugOf(problem)
})
