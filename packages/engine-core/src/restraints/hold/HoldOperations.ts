/** Writes of holds: pause by one person, release by two approvers. */
import { Effect, Option, Schema } from "effect"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Gates from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Finding, FindingId, findings } from "../../findings/Finding.ts"
import { itemOf as runItemOf } from "../../findings/RunQueue.ts"
import * as Field from "../../templates/Field.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, count, sentence } from "../../writes/Summary.ts"
import { type Hold, HoldId, holds, decide } from "./Hold.ts"
import { blocksOf } from "./HoldOpeningRules.ts"
import type { HoldFollowers } from "./HoldFollowers.ts"
import * as Release from "./HoldReleaseRules.ts"
import { holdSlots, slotIdOf } from "./HoldSlot.ts"
import { lockOf } from "./HoldOpeningSteps.ts"
import * as HoldView from "./HoldView.ts"

const Reason = ReadableText.prose(500)

const PauseInput = Schema.Struct({
  instrumentId: InstrumentId,
  /** Made by the engine when the caller names none. */
  holdId: Field.optional(HoldId),
  reason: Reason,
  /** Expected end, informative only: no hold ends by the clock. */
  until: Field.optional(Instant.schema)
})
type PauseInput = typeof PauseInput.Type

const holdIdOf = ({ holdId }: Pick<PauseInput, "holdId">): HoldId => RecordId.made(holdId, "a hold")

const hrefOf = (holdId: string): string => `/v1/holds/${holdId}`

/**
 * An instrument may have several pauses, each released by itself. A tightening act has no gates,
 * and an `until` in the past is not refused: a pause that waited in a queue must not fail over an
 * informative date.
 */
export const pausing = (follow: HoldFollowers) =>
  Operation.define("instrument.pause", {
    doc: "Pauses an instrument at once: a hold opens that blocks everything until it is released.",
    summary: ({ instrumentId }, { resource }) =>
      sentence`Pauses instrument ${instrumentId} by hold ${resource.id}.`,
    route: "POST /v1/instruments/{instrumentId}:pause",
    makers: ["operator", "risk"],
    approvers: 0,
    resource: {
      kind: "hold",
      id: (input) => holdIdOf(input),
      href: (input) => hrefOf(holdIdOf(input)),
      instrumentId: ({ instrumentId }) => instrumentId
    },
    input: PauseInput,
    complete: (input, makeId) =>
      input.holdId === null ? { ...input, holdId: Schema.decodeSync(HoldId)(makeId()) } : input,
    lasts: Lasting.whileIn(holds, (input) => [holdIdOf(input)], ["open"]),
    result: HoldView.HoldView,
    refuses: ["already-exists", "not-found"],
    run: Effect.fn("instrument.pause")(function* (input, act) {
      const records = yield* Records
      const { instrumentId, registrar } = yield* records.get(instruments, input.instrumentId)
      yield* lockOf(instrumentId)
      const hold = yield* records.open(
        holds,
        {
          holdId: holdIdOf(input),
          instrumentId,
          registrar,
          source: "manual",
          blocks: blocksOf.manual,
          reason: input.reason,
          findings: [],
          runId: null,
          cover: null,
          state: "open",
          openedAt: act.now,
          by: act.actor,
          until: input.until,
          releasedAt: null,
          releasedBy: [],
          override: null
        },
        act
      )
      yield* follow.holdDistributions(hold, act)
      return HoldView.of(hold)
    })
  })

/** Largest number of findings that one release accepts by id. */
const acceptMax = 1_000

const Releasing = Schema.Struct({
  holdId: HoldId,
  /** Reason; required where findings are accepted, and stored with them. */
  reason: Field.optional(Reason),
  /** Ids of the findings of the hold that are accepted. */
  accept: Schema.Array(FindingId)
    .check(Schema.isMaxLength(acceptMax), Schema.isUnique())
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}).check(
  Schema.makeFilter(({ accept, reason }) =>
    accept.length > 0 && reason === null
      ? { path: ["reason"], issue: "what is accepted is accepted for a reason" }
      : undefined
  )
)

const release = Operation.define("hold.release", {
  doc: "Releases a hold, each blocking finding behind it cleared or accepted by its id with a reason.",
  summary: ({ accept = [] }, subject) =>
    sentence`Releases hold ${subject.resource.id}${concerning(subject)}, accepting ${count(accept.length, "finding")}.`,
  route: "POST /v1/holds/{holdId}:release",
  makers: ["operator", "risk"],
  approvers: 2,
  resource: {
    kind: "hold",
    id: ({ holdId }) => holdId,
    href: ({ holdId }) => hrefOf(holdId),
    concerns: Concerns.ofRecord(holds, ({ holdId }) => holdId)
  },
  input: Releasing,
  result: HoldView.HoldView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: Effect.fn("hold.release.gates")(function* (input) {
    const { behind, hold } = yield* loaded(input.holdId)
    return Release.against({ hold, findings: behind, accept: input.accept })
  }),
  figures: Effect.fn("hold.release.figures")(function* ({ holdId, accept }) {
    const { behind, hold } = yield* loaded(holdId)
    const { sha256 } = yield* Crypto
    const figures = Release.figuresOf(hold, Release.overridden(behind, accept), sha256)
    return { figures, tolerance: Decimal.zero }
  }),
  run: Effect.fn("hold.release")(function* ({ holdId, accept, reason }, act) {
    const records = yield* Records
    const { behind, hold } = yield* loaded(holdId)
    yield* Effect.fromResult(Gates.judge(Release.against({ hold, findings: behind, accept })))
    const overridden = Release.overridden(behind, accept)
    const override =
      overridden.length === 0 || reason === null
        ? null
        : { findings: overridden.map(({ findingId }) => findingId), reason }
    if (override !== null) yield* acceptFindings(overridden, { hold, reason: override.reason }, act)
    yield* vacate(hold, act)
    // The instrument keeps its verdict until a run judges it without the hold.
    const { instrumentId } = hold
    yield* records.enqueue([runItemOf({ trigger: "release", instrumentId, causedBy: hold.holdId })])
    const { now: at, operationId, signedBy: by } = act
    const fact = { on: "release", at, by, override, operationId } as const
    return HoldView.of(yield* records.append(holds, hold, fact, act))
  })
})

export const operations = [release] as const

/** Loads a hold that may be released, and its findings. Refuses `not-found` or `state-conflict`. */
const loaded = Effect.fnUntraced(function* (holdId: HoldId) {
  const records = yield* Records
  const hold = yield* records.get(holds, holdId)
  yield* Effect.fromResult(decide(hold, "release"))
  return { hold, behind: yield* records.many(findings, hold.findings) }
})

const acceptFindings = (
  overridden: ReadonlyArray<Stored<Finding>>,
  { hold, reason }: { readonly hold: Hold; readonly reason: string },
  act: OperationAct
) =>
  Effect.flatMap(Records, (records) =>
    Effect.forEach(
      overridden,
      (finding) => {
        const { unexplained } = finding
        const { now: at, operationId } = act
        const accepted = { unexplained, reason, holdId: hold.holdId, operationId, at }
        return records.append(findings, finding, { on: "accept", accepted }, act)
      },
      { discard: true }
    )
  )

/** Frees the slot of the hold's source, so that the next blocking finding opens a new hold. */
const vacate = Effect.fnUntraced(function* (hold: Hold, act: OperationAct) {
  if (hold.source === "manual") return
  const records = yield* Records
  const slot = yield* records.find(holdSlots, slotIdOf(hold))
  if (Option.isNone(slot) || slot.value.holdId !== hold.holdId) {
    throw new Error(`the hold ${hold.holdId} was open without its slot`)
  }
  yield* records.append(holdSlots, slot.value, { on: "set", holdId: null }, act)
})
