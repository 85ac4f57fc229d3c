/**
 * Core of the simulated ledger: judges one submission as duplicate, refused, rejected or committed,
 * with offset and time.
 */
import { Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Duration, Result } from "effect"
import type * as Entry from "./Entry.ts"
import * as Identifiers from "./Identifiers.ts"
import * as Interpreter from "./Interpreter.ts"
import * as LedgerError from "./LedgerError.ts"
import type { Registry } from "./Registry.ts"
import type { LastCommit, LoadedLedger } from "./SimStore.ts"

/** The limits of the ledger, as a real node has them. */
export interface Settings {
  readonly dedupMax: Duration.Duration
  readonly timeTolerance: Duration.Duration
  readonly inputsMax: number
  readonly gap: "sparse" | "dense"
}

export const defaults: Settings = {
  dedupMax: Duration.days(7),
  timeTolerance: Duration.seconds(60),
  inputsMax: 2_000,
  gap: "sparse"
}

/** State of the ledger; mutable, because a copy would be as large as the ledger. */
export interface State {
  readonly ledgerId: string
  readonly participantId: string
  offset: Offset.Offset
  clockFloor: Instant.Instant
  prunedOffset: Offset.Offset
  /** Commits at or before this offset are no longer in `commits`. */
  forgottenOffset: Offset.Offset
  readonly contracts: Map<string, Entry.Contract>
  /** The last commit of each change id, oldest first. */
  readonly commits: Map<string, LastCommit>
}

export const load = (loaded: LoadedLedger): State => ({
  ...loaded.head,
  forgottenOffset: loaded.forgottenOffset,
  contracts: new Map([...loaded.contracts].map((contract) => [contract.contractId, contract])),
  commits: new Map(loaded.commits)
})

export interface Request {
  readonly userId: string
  readonly actAs: ReadonlyArray<Party.Party>
  readonly readAs: ReadonlyArray<Party.Party>
  readonly commandId: string
  readonly submissionId: string
  readonly commands: ReadonlyArray<Ledger.Command>
  readonly dedup: Ledger.Dedup | null
  readonly workflowId: string | null
  readonly disclosed: ReadonlyArray<Ledger.DisclosedContract>
  readonly minLedgerTime: Instant.Instant | null
  readonly traceparent: string | null
  /** Inputs that a wallet signed for; the transaction must use exactly these. */
  readonly pinned: ReadonlyArray<string> | null
}

/** Time of a submission, and the faults injected into it. */
interface Moment {
  readonly clock: Instant.Instant
  /** Nanoseconds by which the effective time leads the record time. */
  readonly skew: bigint
  /** Rejection by an injected fault; null: none. */
  readonly verdict: LedgerError.LedgerError | null
}

const commandIdPattern = /^[A-Za-z0-9 #:_/.-]{1,255}$/

/** An entry to append (a commit or a rejected completion), or a refusal that leaves no trace. */
export const judge = (
  world: { readonly registry: Registry; readonly settings: Settings; readonly state: State },
  request: Request,
  moment: Moment
): Result.Result<Entry.Entry, LedgerError.LedgerError> => {
  const { settings, state } = world
  const recordTime = Instant.toMicros(Instant.max(moment.clock, state.clockFloor))
  if (!commandIdPattern.test(request.commandId)) {
    return Result.fail(LedgerError.make("INVALID_FIELD", "commandId is not 1 to 255 characters"))
  }
  if (!isKept(request)) {
    return Result.fail(
      LedgerError.make("INVALID_ARGUMENT", "a text is too long or holds what no store keeps")
    )
  }
  if (request.actAs.length === 0) {
    return Result.fail(LedgerError.make("MISSING_FIELD", "The field actAs is missing"))
  }
  const changeId = Identifiers.changeId(request)
  const window = dedupWindow(world, request.dedup, recordTime)
  if (Result.isFailure(window)) return Result.fail(window.failure)
  const place = { changeId, recordTime, offset: nextOffset(world, changeId) }
  const earlier = state.commits.get(changeId)
  if (earlier !== undefined && window.success(earlier)) {
    return Result.succeed(rejected(request, place, duplicate(earlier)))
  }
  const archivedCid = request.pinned?.find((id) => !state.contracts.has(id))
  if (archivedCid !== undefined) {
    return Result.succeed(rejected(request, place, inactive(archivedCid)))
  }
  const ran = atLedgerTime(world, request, { ...place, skew: moment.skew })
  if (Result.isFailure(ran)) return Result.fail(ran.failure)
  const verdict =
    moment.verdict ??
    outOfBound(settings, ran.success.effectiveAt, recordTime) ??
    otherInputs(request.pinned, ran.success.interpretation)
  return Result.succeed(
    verdict === null ? committed(request, place, ran.success) : rejected(request, place, verdict)
  )
}

/** Checks that every store can keep the request's texts, so that no store refuses a commit. */
const isKept = (request: Request): boolean =>
  [request.submissionId, request.workflowId, request.traceparent].every(
    (text) => text === null || (text.length <= 1_024 && isText(text))
  ) &&
  request.commands.every((command) =>
    command._tag === "Create"
      ? isValue(command.args)
      : isValue(command.arg) && (command._tag === "Exercise" || isValue(command.args))
  )

const isText = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

const isValue = (value: Ledger.LfValue): boolean =>
  typeof value === "string"
    ? isText(value)
    : value === null ||
      typeof value === "boolean" ||
      Object.entries(value).every(([name, member]) => isText(name) && isValue(member))

/** Applies an entry to the state. */
export const apply = (state: State, entry: Entry.Entry, settings: Settings): void => {
  const { completion } = entry
  state.offset = entry.offset
  state.clockFloor = Instant.max(state.clockFloor, completion.recordTime)
  for (const contractId of entry.archived) state.contracts.delete(contractId)
  for (const contract of entry.created) state.contracts.set(contract.contractId, contract)
  if (completion.outcome._tag === "Committed") {
    state.commits.delete(completion.changeId)
    state.commits.set(completion.changeId, {
      offset: completion.offset,
      recordTime: completion.recordTime,
      submissionId: completion.submissionId,
      updateId: completion.outcome.updateId
    })
  }
  forget(state, Instant.fromNanos(completion.recordTime - nanos(settings.dedupMax)))
}

const forget = (state: State, before: Instant.Instant): void => {
  for (const [changeId, commit] of state.commits) {
    if (commit.recordTime >= before) return
    state.commits.delete(changeId)
    state.forgottenOffset = commit.offset
  }
}

export const nanos = (duration: Duration.Duration): bigint =>
  BigInt(Math.round(Duration.toMillis(duration) * 1_000)) * 1_000n

const nextOffset = (
  { state, settings }: { readonly state: State; readonly settings: Settings },
  changeId: string
): Offset.Offset => {
  const next = Offset.next(state.offset)
  if (settings.gap === "dense") return next
  const seed = Identifiers.seed({ ledgerId: state.ledgerId, changeId, offset: next })
  return Offset.of(next + ((seed[0] ?? 0) % 3))
}

/**
 * Finds an earlier commit within the deduplication window, or refuses a window that is not
 * available.
 */
const dedupWindow = (
  { state, settings }: { readonly state: State; readonly settings: Settings },
  dedup: Ledger.Dedup | null,
  now: Instant.Instant
): Result.Result<(earlier: LastCommit) => boolean, LedgerError.LedgerError> => {
  if (dedup?._tag === "Since") {
    const { offset } = dedup
    if (offset < state.prunedOffset) return Result.fail(pruned(state.prunedOffset))
    return offset < state.forgottenOffset || offset > state.offset
      ? Result.fail(badWindow(state, settings))
      : Result.succeed((earlier) => earlier.offset > offset)
  }
  const length = dedup?.duration ?? settings.dedupMax
  if (Duration.isGreaterThan(length, settings.dedupMax)) {
    return Result.fail(badWindow(state, settings))
  }
  const from = now - nanos(length)
  return Result.succeed((earlier) => earlier.recordTime >= from)
}

interface Place {
  readonly changeId: string
  readonly offset: Offset.Offset
  readonly recordTime: Instant.Instant
}

interface RunOutcome {
  readonly effectiveAt: Instant.Instant
  readonly interpretation: Interpreter.Interpretation
  readonly seed: Uint8Array
}

/**
 * A transaction's inputs are determined by running it; where one was created later than its ledger
 * time, it runs again at a later time.
 */
const atLedgerTime = (
  world: { readonly registry: Registry; readonly settings: Settings; readonly state: State },
  request: Request,
  place: Place & { readonly skew: bigint }
): Result.Result<RunOutcome, LedgerError.LedgerError> => {
  const { contracts, ledgerId } = world.state
  const seed = Identifiers.seed({ ledgerId, changeId: place.changeId, offset: place.offset })
  const earliest = Instant.toMicros(Instant.fromNanos(place.recordTime + place.skew))
  let effectiveAt =
    request.minLedgerTime === null
      ? earliest
      : Instant.max(earliest, Instant.toMicros(request.minLedgerTime))
  for (let attempt = 0; attempt < 4; attempt++) {
    const ran = Interpreter.interpret(
      {
        registry: world.registry,
        active: (contractId) => contracts.get(contractId),
        seed,
        offset: place.offset,
        now: effectiveAt,
        inputsMax: world.settings.inputsMax
      },
      request
    )
    if (Result.isFailure(ran)) return Result.fail(ran.failure)
    let latest = effectiveAt
    for (const { createdAt } of ran.success.inputs.values()) latest = Instant.max(latest, createdAt)
    if (latest === effectiveAt) {
      return Result.succeed({ effectiveAt, interpretation: ran.success, seed })
    }
    effectiveAt = latest
  }
  return Result.fail(LedgerError.make("DAML_FAILURE", "no ledger time fits all inputs"))
}

const completed = (request: Request, place: Place) => ({
  _tag: "Completion" as const,
  ...place,
  userId: request.userId,
  commandId: request.commandId,
  submissionId: request.submissionId,
  actAs: request.actAs
})

const rejected = (request: Request, place: Place, error: LedgerError.LedgerError): Entry.Entry => ({
  offset: place.offset,
  completion: { ...completed(request, place), outcome: { _tag: "Rejected", error } },
  transaction: null,
  created: [],
  archived: []
})

const committed = (request: Request, place: Place, ran: RunOutcome): Entry.Entry => {
  const updateId = Identifiers.updateId(ran.seed)
  return {
    offset: place.offset,
    completion: { ...completed(request, place), outcome: { _tag: "Committed", updateId } },
    transaction: {
      ...place,
      updateId,
      commandId: request.commandId,
      userId: request.userId,
      workflowId: request.workflowId,
      actAs: request.actAs,
      effectiveAt: ran.effectiveAt,
      traceparent: request.traceparent,
      nodes: ran.interpretation.nodes
    },
    created: ran.interpretation.created,
    archived: ran.interpretation.archived
  }
}

const duplicate = (earlier: LastCommit): LedgerError.LedgerError =>
  LedgerError.make(
    "DUPLICATE_COMMAND",
    "A command with the given command ID has already been successfully processed",
    {
      context: {
        completion_offset: earlier.offset.toString(),
        existing_submission_id: earlier.submissionId
      }
    }
  )

export const pruned = (earliest: Offset.Offset): LedgerError.LedgerError =>
  LedgerError.make(
    "PARTICIPANT_PRUNED_DATA_ACCESSED",
    `Everything at or before offset ${earliest} is pruned`,
    { context: { earliest_offset: earliest.toString() } }
  )

export const afterEnd = (end: Offset.Offset): LedgerError.LedgerError =>
  LedgerError.make("OFFSET_AFTER_LEDGER_END", `The offset is after the ledger end ${end}`, {
    context: { ledger_end: end.toString() }
  })

const badWindow = (state: State, settings: Settings): LedgerError.LedgerError =>
  LedgerError.make("INVALID_DEDUPLICATION_PERIOD", "The deduplication period is not supported", {
    context: {
      longest_duration: `${Duration.toSeconds(settings.dedupMax)}s`,
      earliest_offset: Offset.max(state.forgottenOffset, state.prunedOffset).toString()
    }
  })

const inactive = (contractId: string): LedgerError.LedgerError =>
  LedgerError.make("LOCAL_VERDICT_INACTIVE_CONTRACTS", `Contract ${contractId} is not active`, {
    resources: [["CONTRACT_ID", contractId]]
  })

const outOfBound = (
  settings: Settings,
  effectiveAt: Instant.Instant,
  recordTime: Instant.Instant
): LedgerError.LedgerError | null => {
  const apart = effectiveAt > recordTime ? effectiveAt - recordTime : recordTime - effectiveAt
  return apart <= nanos(settings.timeTolerance)
    ? null
    : LedgerError.make(
        "LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND",
        `ledger time ${Instant.format(effectiveAt)} is too far from record time ${Instant.format(recordTime)}`
      )
}

const otherInputs = (
  pinned: ReadonlyArray<string> | null,
  ran: Interpreter.Interpretation
): LedgerError.LedgerError | null =>
  pinned === null || (pinned.length === ran.inputs.size && pinned.every((id) => ran.inputs.has(id)))
    ? null
    : LedgerError.make(
        "LOCAL_VERDICT_FAILED_MODEL_CONFORMANCE_CHECK",
        "the transaction is no longer the one that was prepared"
      )
