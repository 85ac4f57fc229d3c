/** Steps that take the statements of a file in within its call. */
import { Effect, Layer, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as CompiledCodec from "../../kernel/CompiledCodec.ts"
import { failed } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Ids } from "../../ports/Ids.ts"
import { none, type Reading, StatementSource } from "../../ports/StatementSource.ts"
import type { Blobs } from "../../ports/storage/Blobs.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type { WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import * as Idempotency from "../../writes/Idempotency.ts"
import * as KeyedCall from "../../writes/KeyedCall.ts"
import * as Logged from "../../writes/Logged.ts"
import { traceOf } from "../../writes/OpenWrite.ts"
import * as SourceSteps from "../external-source/SourceSteps.ts"
import * as DayLookups from "./DayLookups.ts"
import * as DayRules from "./DayRules.ts"
import {
  type ExternalStatement,
  externalStatements,
  fileIdOf,
  orderOf
} from "./ExternalStatement.ts"
import {
  type IntakeAnswer,
  ReceivedStatement,
  type IntakeCall,
  senders,
  StatementIntake,
  StatementReceipt
} from "./Intake.ts"
import * as IntakeSteps from "./IntakeSteps.ts"
import * as RecordSteps from "./RecordSteps.ts"
import * as StageSteps from "./StageSteps.ts"
import * as StatementView from "./StatementView.ts"

const path = "/v1/external-statements"

const encodeView = CompiledCodec.encoder(ReceivedStatement)
const encodeReceipt = CompiledCodec.encoder(StatementReceipt)

/** Answer to a sender: the newest record of its file, or a receipt where it may not read it. */
const receivedOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  { caller, replayed }: Pick<IntakeCall, "caller"> & Pick<IntakeAnswer, "replayed">
) {
  const { businessDate, contentHash, externalStatementId, fileStatements } = statement
  const records = yield* Records
  const found =
    fileStatements === undefined
      ? [statement]
      : yield* records.many(externalStatements, [...fileStatements])
  const statements = found
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .map((each) => ({
      externalStatementId: each.externalStatementId,
      businessDate: each.businessDate,
      recorded: fileIdOf(each) === fileIdOf(statement)
    }))
  const value = caller.roles.includes("operator")
    ? encodeView({ ...StatementView.of(statement), statements })
    : encodeReceipt({ businessDate, contentHash, externalStatementId, statements })
  return {
    value: value as unknown as Plain,
    location: `${path}/${externalStatementId}`,
    replayed
  } satisfies IntakeAnswer
})

/** Loads the statement that a key names; a missing one is a defect. */
const statementOf = (target: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.catchTag(
      records.get(externalStatements, Idempotency.parseTarget(target).id),
      "Refused",
      () => Effect.die(new Error(`a key names ${target}, which is not there`))
    )
  )

/** The statement that the call's key names already; undefined: none yet. */
const earlier = Effect.fnUntraced(function* ({ caller }: IntakeCall, keyed: KeyedCall.CallKey) {
  const target = yield* KeyedCall.earlier(keyed)
  if (target === undefined) return undefined
  return yield* receivedOf(yield* statementOf(target), { caller, replayed: true })
})

/** Runs `effect` under the call's key, which names this statement from then on. */
const underKey = Effect.fnUntraced(function* <E, R>(
  { caller }: IntakeCall,
  {
    keyed,
    id,
    isNew
  }: { readonly keyed: KeyedCall.CallKey; readonly id: string; readonly isNew: boolean },
  effect: Effect.Effect<void, E, R>
) {
  const target = Idempotency.target("statement", id)
  const ended = yield* KeyedCall.alone(keyed, { target }, (bound) =>
    bound.first
      ? Effect.as(effect, { target, replayed: !isNew })
      : Effect.succeed({ target: bound.target, replayed: true })
  )
  // Loaded after the commit, which sets the times that later reads show.
  const statement = yield* statementOf(ended.target)
  return yield* receivedOf(statement, { caller, replayed: ended.replayed })
})

const receive = Effect.fnUntraced(function* (call: IntakeCall) {
  const records = yield* Records
  const { caller, identity, named, staged } = call
  const keyed = yield* KeyedCall.keyOf(caller, {
    fingerprint: staged.fingerprint,
    sentKey: call.key
  })
  const before = yield* earlier(call, keyed)
  if (before !== undefined) return before
  const addressed = yield* IntakeSteps.address(named)
  /** Answers the statement of the same bytes, where there is one, and binds the key to it. */
  const repeated = Effect.gen(function* () {
    const same = yield* IntakeSteps.sameContent(addressed, call)
    if (Option.isNone(same)) return undefined
    const { externalStatementId: id } = same.value
    return yield* underKey(call, { keyed, id, isNew: false }, Effect.void)
  })
  const stored = yield* repeated
  if (stored !== undefined) return stored
  const reading = yield* IntakeSteps.readingOf(addressed, call)
  if (staged.size === 0) {
    const detail = "The file is empty."
    const errors = [{ pointer: "/body", detail }]
    return yield* Effect.fail(refused("invalid-request", { detail, errors }))
  }
  const read = yield* IntakeSteps.readFile(addressed, { reading, staged })
  for (const each of read) yield* IntakeSteps.demandDates(addressed, { ...each, named })
  const now = yield* Instant.now
  const file = yield* newFileOf(call, addressed, { read, reading, now })
  const fresh = file.flatMap(({ knownAs, statement }) => (knownAs === null ? [statement] : []))
  const recording = Effect.gen(function* () {
    const { requestId } = identity
    const act = { cause: { by: "request", requestId } as const, now, trace: traceOf(identity) }
    yield* RecordSteps.record(file, act)
    yield* records.audit(fresh.map((statement) => audited(call, statement)))
  })
  const id = fresh.at(-1)?.externalStatementId
  if (id === undefined) return yield* Effect.fail(nothingNew(file))
  return yield* underKey(call, { keyed, id, isNew: true }, recording).pipe(
    Effect.catchTag("Refused", (refusal) =>
      // Another call may have recorded the same bytes while this file was read.
      Effect.flatMap(refusal.slug === "rule-refused" ? repeated : Effect.undefined, (meanwhile) =>
        meanwhile === undefined ? Effect.fail(refusal) : Effect.succeed(meanwhile)
      )
    )
  )
})

/**
 * Makes the statements of a file that was read: each is new, corrects the one that the sender names, or is
 * in force already.
 */
const newFileOf = Effect.fnUntraced(function* (
  call: IntakeCall,
  addressed: IntakeSteps.FileAddress,
  {
    now,
    read,
    reading
  }: {
    readonly read: ReadonlyArray<IntakeSteps.ReadStatement>
    readonly reading: Reading
    readonly now: Instant.Instant
  }
) {
  const { named, staged } = call
  const feed = {
    externalSourceId: addressed.source.externalSourceId,
    instrumentId: addressed.instrument.instrumentId
  }
  const correcting = yield* IntakeSteps.correctingIn(read, named)
  const recordedIds = yield* DayLookups.recordedIdsIn(feed, {
    reading,
    staged,
    read,
    correcting
  }).pipe(
    // The same bytes were read once without a fault.
    Effect.catchTags({
      StatementMalformed: Effect.die,
      StatementRefused: Effect.die,
      StatementCharset: Effect.die,
      StatementTooLong: Effect.die
    })
  )
  const file = read.map((each): RecordSteps.NewStatement => {
    const corrects = each === correcting ? named.corrects : null
    const statement = RecordSteps.statementOf(call, addressed, { read: each, corrects, now })
    const knownAs = recordedIds.get(each.externalStatementId) ?? null
    return { statement, place: each.place, knownAs }
  })
  const [first, ...others] = file
  if (first === undefined) throw new Error("a file that was read has a statement")
  return [first, ...others] as const
})

/** Refusal of a file of several statements that are all in force already, of other bytes. */
const nothingNew = ([{ place, statement }, ...others]: RecordSteps.NewFile) => {
  const last = others.at(-1)?.statement ?? statement
  const detail = `Every statement of the file, of ${statement.businessDate} to ${last.businessDate}, is recorded already.`
  return refused("rule-refused", failed("statement-of-date", DayRules.at(place, detail)))
}

const audited = (
  { caller, identity, staged: { fingerprint } }: IntakeCall,
  { externalSourceId, externalStatementId, kind }: ExternalStatement
) =>
  Logged.created(Logged.originOf({ caller, identity, fingerprint }, senders), {
    action: "statement.receive",
    route: `POST ${path}`,
    resourceKind: "external-statement",
    resourceId: externalStatementId,
    detail: { externalSourceId, kind }
  })

type Needs = KeyedCall.Needs | StatementSource | WorkQueue | Ids | Crypto | Blobs | Bulk

export const layer: Layer.Layer<StatementIntake, never, Needs> = Layer.effect(
  StatementIntake,
  Effect.gen(function* () {
    const { statementSources } = yield* Settings
    const [source] = statementSources
    if (source !== undefined && (yield* StatementSource) === none) {
      const names = `the settings name the source of statements ${source.externalSourceId}`
      return yield* Effect.die(new Error(`${names}, and the engine has no reader of statements`))
    }
    yield* Effect.orDie(SourceSteps.reconcile(statementSources))
    const services = yield* Worker.servicesOf<Needs>()
    return StatementIntake.of({
      stage: (upload) => Effect.provideContext(StageSteps.stage(upload), services),
      receive: (call) => Effect.scoped(Effect.provideContext(receive(call), services))
    })
  })
)
