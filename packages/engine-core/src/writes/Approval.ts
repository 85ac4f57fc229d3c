/**
 * Four-eyes action: maker, signatures, and the stored request that runs once enough have signed.
 */
import { Result, Schema } from "effect"
import { match } from "ts-pattern"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Machine from "../kernel/Machine.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"
import { type Refused, unless } from "../kernel/Refusal.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { LedgerEnd } from "../kernel/LedgerEnd.ts"
import { Role } from "../vocabulary/Role.ts"
import type { Caller } from "./Caller.ts"
import * as Concern from "./Concern.ts"
import * as Figures from "./Figures.ts"
import { Resource } from "./Resource.ts"
import { about } from "../records/EventDeclaration.ts"
import { ApprovalMachine } from "./ApprovalMachine.ts"

const approvalMembers = {
  state: ApprovalMachine.schema,
  kind: OperationKind.schema,
  makerRole: Role.schema
}
const approval = about("any", Schema.Struct(approvalMembers))

/** Events of a four-eyes action. */
export const approvalEvents = {
  "approval.requested": approval,
  "approval.signed": approval,
  "approval.approved": approval,
  "approval.rejected": about(
    "any",
    Schema.Struct({ ...approvalMembers, withdrawn: Schema.Boolean })
  ),
  "approval.lapsed": approval
} as const

export const Signature = Schema.Struct({
  sub: Schema.String,
  /** Name claim of the signer; absent in signatures that were written before this member. */
  name: Schema.optionalKey(Schema.NullOr(Schema.String)),
  role: Role.schema,
  at: Instant.schema,
  /** Hash of the signed figures; absent where the write has none. */
  figuresHash: Schema.optionalKey(Schema.String)
})

export const Approval = Schema.Struct({
  actionKey: Schema.String,
  kind: OperationKind.schema,
  state: ApprovalMachine.schema,
  resource: Resource,
  instrumentId: Schema.NullOr(Schema.String),
  holderId: Schema.NullOr(Schema.String),
  /** Every holder that the write concerns, where they are several; absent: `holderId` alone. */
  holderIds: Schema.optionalKey(Schema.Array(Schema.String)),
  method: Schema.String,
  path: Schema.String,
  fingerprint: Schema.String,
  /** The request as it was made, completed by the engine; an approval runs it. */
  request: PlainSchema,
  /**
   * The request as it was sent, for views: the ids of the path and the members of the body, no default
   * added, secrets masked. Absent: it is `request`, as in records that were written before this member.
   */
  given: Schema.optionalKey(PlainSchema),
  /** Sealed secrets, by member of the request, which shows a few digits of each. */
  sealed: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  maker: Schema.String,
  makerName: Schema.NullOr(Schema.String),
  makerEmail: Schema.NullOr(Schema.String),
  makerRole: Role.schema,
  madeAt: Instant.schema,
  required: Integer.schema,
  signatures: Schema.Array(Signature),
  /** The figures that await signatures; absent where the write declares none. */
  figures: Schema.optionalKey(Figures.Figures),
  figuresHash: Schema.optionalKey(Schema.String),
  /** The figures before the latest ones, whose signatures are void; absent: they have not moved. */
  moved: Schema.optionalKey(Figures.MovedFigures),
  /** End of the ledger by which the write was judged first; absent where none was asked. */
  ledgerEnd: Schema.optionalKey(LedgerEnd),
  /** Idempotency key of the maker's call, sent or derived from its body. */
  key: Schema.String,
  rejectedBy: Schema.NullOr(Schema.String),
  rejectedAt: Schema.NullOr(Instant.schema),
  /** Idempotency key of the rejecting call; null when none was sent. */
  rejectedKey: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  /** The operation that the last signature opened; null before. */
  operationId: Schema.NullOr(Schema.String),
  expiresAt: Schema.NullOr(Instant.schema),
  requestId: Schema.String,
  traceId: Schema.NullOr(Schema.String),
  traceFlags: Schema.optionalKey(Integer.schema)
})
export type Approval = typeof Approval.Type

const Signed = Schema.Struct({ on: Schema.Literal("sign"), signature: Signature })
const Approved = Schema.Struct({
  on: Schema.Literal("approve"),
  signature: Signature,
  operationId: Schema.String
})
const Refusal = Schema.Struct({
  on: Schema.Literals(["reject", "withdraw"]),
  by: Schema.String,
  at: Instant.schema,
  key: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String)
})
/** The figures moved, and the signatures are void: found at a signature, or at the run. */
const Moved = Schema.Struct({
  on: Schema.Literals(["reopen", "void"]),
  /** Instant at which it was found; absent in facts that were written before this member. */
  at: Schema.optionalKey(Instant.schema),
  figures: Figures.Figures,
  figuresHash: Schema.String
})
const Lapsed = Schema.Struct({ on: Schema.Literal("lapse") })
export const Fact = Schema.Union([Signed, Approved, Refusal, Moved, Lapsed])
export type Fact = typeof Fact.Type

export const signedBy = (self: Pick<Approval, "signatures">): ReadonlyArray<string> =>
  self.signatures.map((signature) => signature.sub)

/**
 * Checks that a caller may sign: it is an approver, no auditor, and not the maker
 * (docs/contract/four-eyes.md#who-may-approve).
 */
export const mayApprove = (
  self: Approval,
  caller: Caller
): Result.Result<void, Refused<"auditor-never-approves" | "permission-denied" | "same-approver">> =>
  unless(
    [caller.roles.includes("auditor"), "auditor-never-approves"],
    [!caller.roles.includes("approver"), "permission-denied"],
    [self.maker === caller.sub, "same-approver"]
  )

/** Checks that the action's state takes signatures: refuses one that is rejected or decided. */
export const decided = (
  self: Approval
): Result.Result<void, Refused<"approval-rejected" | "approval-decided">> =>
  unless(
    [self.state === "rejected", "approval-rejected"],
    [self.state !== "awaiting", "approval-decided"]
  )

/**
 * Makes the fact of a signature: one more, or the last one, which opens the operation. A person
 * signs once, which the caller of this function has checked by `signedBy`.
 */
export const sign = (
  self: Approval,
  caller: Caller,
  { at, operationId }: { readonly at: Instant.Instant; readonly operationId: string }
): Result.Result<
  Fact,
  Refused<
    | "auditor-never-approves"
    | "permission-denied"
    | "same-approver"
    | "approval-rejected"
    | "approval-decided"
  >
> =>
  Result.gen(function* () {
    yield* mayApprove(self, caller)
    yield* decided(self)
    const signature = {
      sub: caller.sub,
      name: caller.name,
      role: "approver" as const,
      at,
      ...(self.figuresHash === undefined ? {} : { figuresHash: self.figuresHash })
    }
    return self.signatures.length + 1 >= self.required
      ? { on: "approve" as const, signature, operationId }
      : { on: "sign" as const, signature }
  })

/** Fold: the action after `fact`. */
export const evolve = (self: Approval, fact: Fact): Approval => ({
  ...self,
  ...match(fact)
    .with({ on: "sign" }, ({ signature }) => ({ signatures: [...self.signatures, signature] }))
    .with({ on: "approve" }, ({ signature, operationId }) => ({
      signatures: [...self.signatures, signature],
      operationId
    }))
    .with({ on: "reject" }, { on: "withdraw" }, ({ by, at, key, reason }) => ({
      rejectedBy: by,
      rejectedAt: at,
      rejectedKey: key,
      reason
    }))
    .with({ on: "reopen" }, { on: "void" }, ({ at, figures, figuresHash }) => ({
      signatures: [],
      operationId: null,
      figures,
      figuresHash,
      ...(at === undefined || self.figures === undefined || self.figuresHash === undefined
        ? {}
        : { moved: { at, figures: self.figures, figuresHash: self.figuresHash } })
    }))
    .with({ on: "lapse" }, () => ({}))
    .exhaustive(),
  state: Machine.follow(ApprovalMachine, self.state, fact.on)
})

const announce = (self: Approval, fact: Fact | undefined): ReadonlyArray<Announcement> => {
  const type = match(fact)
    .with(undefined, { on: "reopen" }, { on: "void" }, () => "approval.requested" as const)
    .with({ on: "sign" }, () => "approval.signed" as const)
    .with({ on: "approve" }, () => "approval.approved" as const)
    .with({ on: "reject" }, { on: "withdraw" }, () => "approval.rejected" as const)
    .with({ on: "lapse" }, () => "approval.lapsed" as const)
    .exhaustive()
  const payload = { state: self.state, kind: self.kind, makerRole: self.makerRole }
  return [
    {
      type,
      resourceKind: self.resource.kind,
      resourceId: self.resource.id,
      instrumentId: self.instrumentId,
      party: null,
      holderIds: Concern.holderIdsOf(self),
      payload:
        type === "approval.rejected" ? { ...payload, withdrawn: fact?.on === "withdraw" } : payload
    }
  ]
}

export const approvals = Collection.define<Approval, Fact>("approval", {
  doc: "A four-eyes action, from its maker's call to the decision.",
  id: (self) => self.actionKey,
  record: Approval,
  fact: Fact,
  evolve,
  keptBy: "own",
  ids: "made",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.actionKey}`,
  filters: {
    state: (self) => self.state,
    kind: (self) => self.kind,
    resourceKind: (self) => self.resource.kind,
    fingerprint: (self) => self.fingerprint,
    href: (self) => self.resource.href
  },
  ripens: ["state"],
  ripensTo: { state: ["lapsed"] },
  due: (self) =>
    self.state === "awaiting" && self.expiresAt !== null
      ? { at: self.expiresAt, fact: { on: "lapse" } }
      : undefined,
  waitingOn: (self) =>
    self.state === "awaiting" ? [{ role: "approver", action: "approve", by: self.expiresAt }] : [],
  announce,
  invariants: {
    "an approved action has exactly the distinct signers it needs": (self) =>
      self.state !== "approved" ||
      (self.signatures.length === self.required && new Set(signedBy(self)).size === self.required),
    "an awaiting action has fewer": (self) =>
      self.state !== "awaiting" || self.signatures.length < self.required,
    "every signature is for the figures it awaits with": (self) =>
      self.signatures.every(({ figuresHash }) => figuresHash === self.figuresHash),
    "the maker never signs": (self) => !signedBy(self).includes(self.maker),
    "an approved action has its operation": (self) =>
      (self.state === "approved") === (self.operationId !== null)
  }
})
