/** Writes of standing approvals: grant by four eyes, revoke by one person. */
import { Effect, Option, Result, Schema } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import { refuse, refused, type Refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as Amount from "../../kernel/Amount.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, optionally, phrase, sentence } from "../../writes/Summary.ts"
import {
  Action,
  isOpen,
  judged,
  type StandingApproval,
  StandingApprovalId,
  standingApprovals,
  StandingApprovalState
} from "./StandingApproval.ts"
import * as Gates from "./StandingApprovalGates.ts"
import { openOf } from "./StandingApprovalLookups.ts"
import * as StandingApprovalView from "./StandingApprovalView.ts"

const Body = Schema.Struct({
  /** Made by the engine when the caller names none. */
  standingApprovalId: Field.optional(StandingApprovalId),
  instrumentId: InstrumentId,
  action: Action.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("distribution.execute" as const))
  ),
  /** Absent: from the grant on. */
  from: Field.optional(Instant.schema),
  until: Instant.schema,
  /** Largest number of executions; absent: any. */
  maxUses: Field.optional(Integer.between({ minimum: 1, maximum: 1_000_000 })),
  /** Largest sum of the nets of all executions; absent: any. */
  maxNet: Field.optional(Amount.cashLimit),
  rateChange: sets.RateChange.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("alert" as const))
  ),
  partial: sets.PartialDistribution.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("carry" as const))
  )
})
type Body = typeof Body.Type

const idOf = ({ standingApprovalId }: Pick<Body, "standingApprovalId">) =>
  RecordId.made(standingApprovalId, "a standing approval")

const hrefOf = (id: string): string => `/v1/standing-approvals/${id}`

/** Grants of an instrument run one after the other, so that only one approval of it is open. */
const lockApprovals = (instrumentId: string) =>
  Effect.flatMap(Records, (records) => records.lock(`standing-approval:${instrumentId}`))

const grant = Operation.define("standing-approval.grant", {
  doc: "Grants a standing approval: the scheduler executes the instrument's due distributions under it.",
  summary: ({ instrumentId, maxUses, until }, { resource }) =>
    sentence`Grants standing approval ${resource.id}: due distributions of instrument ${instrumentId} are executed until ${until}${optionally(maxUses, (maxUses) => phrase`, at most ${maxUses} of them`)}.`,
  route: "POST /v1/standing-approvals",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "standing-approval",
    id: (input) => idOf(input),
    href: (input) => hrefOf(idOf(input)),
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  complete: (input, makeId) =>
    input.standingApprovalId === null
      ? { ...input, standingApprovalId: Schema.decodeSync(StandingApprovalId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(standingApprovals, (input) => [idOf(input)], ["scheduled", "active"]),
  result: StandingApprovalView.StandingApprovalView,
  refuses: ["already-exists", "not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(granting(input, act), ({ rows }) => rows),
  run: Effect.fn("standing-approval.grant")(function* (input, act) {
    const records = yield* Records
    const { instrument, from, rows } = yield* granting(input, act)
    yield* Effect.fromResult(judge(rows))
    const { now } = act
    const { instrumentId, action, until, maxNet, maxUses, rateChange, partial } = input
    const opened = yield* records.open(
      standingApprovals,
      judged({
        standingApprovalId: idOf(input),
        instrumentId,
        action,
        from,
        until,
        maxUses,
        maxNet,
        currency: instrument.manifest.currency,
        rateChange,
        partial,
        uses: 0,
        usedNet: Decimal.zero,
        grantedBy: act.actor,
        // A rehearsal has no signature yet.
        approvedBy: act.signedBy[0] ?? "",
        grantedAt: now,
        revokedBy: null,
        revokedAt: null,
        judgedAt: now
      }),
      act
    )
    return StandingApprovalView.of(opened)
  })
})

/**
 * Loads the instrument and checks the grant. Refuses `already-exists`, then `state-conflict` where
 * another approval of the instrument is scheduled or active.
 */
const granting = Effect.fnUntraced(function* (input: Body, { now }: OperationAct) {
  const records = yield* Records
  const { instrumentId, standingApprovalId: id } = input
  yield* lockApprovals(instrumentId)
  if (id !== null && Option.isSome(yield* records.find(standingApprovals, id))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A standing approval of this id exists." })
    )
  }
  const found = yield* records.get(instruments, instrumentId)
  const instrument = yield* Effect.fromResult(recorded(found))
  const open = yield* openOf(instrumentId)
  if (open !== null) {
    return yield* Effect.fail(
      refused("state-conflict", {
        check: StandingApprovalState.name,
        detail: `The standing approval ${open.standingApprovalId} of the instrument is ${open.state}.`,
        recovery: "Revoke it first, or wait until it ends."
      })
    )
  }
  const { manifest, policyVersion } = yield* inForce(instrument, now)
  const { standingApprovalLongest: longest } = yield* Settings
  const from = input.from ?? now
  const rows = Gates.againstGrant({
    manifest,
    policyVersion,
    from,
    until: input.until,
    now,
    longest
  })
  return { instrument, from, rows }
})

const ById = Schema.Struct({ standingApprovalId: StandingApprovalId })

const revoke = Operation.define("standing-approval.revoke", {
  doc: "Revokes a standing approval at once: nothing more is executed under it.",
  summary: (_, subject) =>
    sentence`Revokes standing approval ${subject.resource.id}${concerning(subject)} at once.`,
  route: "POST /v1/standing-approvals/{standingApprovalId}:revoke",
  makers: ["operator", "approver", "risk"],
  approvers: 0,
  resource: {
    kind: "standing-approval",
    id: ({ standingApprovalId }) => standingApprovalId,
    href: ({ standingApprovalId }) => hrefOf(standingApprovalId),
    concerns: Concerns.ofRecord(standingApprovals, ({ standingApprovalId }) => standingApprovalId)
  },
  input: ById,
  result: StandingApprovalView.StandingApprovalView,
  refuses: ["not-found", "state-conflict"],
  run: Effect.fn("standing-approval.revoke")(function* ({ standingApprovalId }, act) {
    const records = yield* Records
    const self = yield* records.get(standingApprovals, standingApprovalId)
    yield* Effect.fromResult(revocable(self))
    const fact = { on: "revoke", at: act.now, by: act.actor } as const
    return StandingApprovalView.of(yield* records.append(standingApprovals, self, fact, act))
  })
})

/** Refuses `state-conflict` for an approval that has ended. */
const revocable = (
  self: Pick<StandingApproval, "state">
): Result.Result<void, Refused<"state-conflict">> =>
  isOpen(self)
    ? Result.void
    : refuse("state-conflict", {
        check: StandingApprovalState.name,
        detail: `The standing approval is ${self.state}.`
      })

export const operations = [grant, revoke] as const
