/**
 * Deduplication: duplicates of a submission, its window, and the submissions that leave a
 * completion.
 */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { options } from "./world.ts"

const ledger = SimulatedLedger.layerMemory(options)

const scene = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  const { party, token } = yield* participant.admin.addParty({ hint: "venue", kind: "local" })
  const other = yield* participant.admin.addParty({ hint: "other", kind: "local" })
  const user = yield* participant.authenticate(token)
  const command = Templates.create(Templates.AdmissionConsentProposal, {
    venue: party,
    admissionConsentId: "a",
    registrar: other.party,
    fund: other.party,
    instrumentId: "i",
    terms: ""
  })
  let attempts = 0
  const submit = (change: Partial<SimulatedLedger.Attempt> = {}) =>
    participant.submit(user, {
      commandId: "c1",
      actAs: [party],
      readAs: [],
      commands: [command],
      dedup: null,
      submissionId: `s${++attempts}`,
      workflowId: null,
      disclosed: [],
      minLedgerTime: null,
      traceparent: null,
      ...change
    })
  const completions = Effect.gen(function* () {
    const through = Option.some(yield* participant.ledgerEnd)
    const read = participant.completions(user, { parties: [party], after: Offset.zero, through })
    return (yield* Stream.runCollect(read)).flatMap((one) =>
      one._tag === "Completion"
        ? [one.outcome._tag === "Committed" ? "ok" : one.outcome.error.code]
        : []
    )
  })
  return { participant, party, other, user, submit, completions }
})

const code = <A>(effect: Effect.Effect<A, SimulatedLedger.LedgerError.LedgerError>) =>
  Effect.map(Effect.result(effect), (result) =>
    result._tag === "Success" ? "ok" : result.failure.code
  )

type Window = readonly [
  name: string,
  dedup: (first: Offset.Offset) => Ledger.Dedup | null,
  wait: Duration.Duration,
  expected: string
]

const windows: ReadonlyArray<Window> = [
  ["no window, at once", () => null, Duration.zero, "DUPLICATE_COMMAND"],
  ["no window, within the longest", () => null, Duration.days(6), "DUPLICATE_COMMAND"],
  ["no window, after the longest", () => null, Duration.days(8), "ok"],
  ["since the beginning", () => since(0), Duration.zero, "DUPLICATE_COMMAND"],
  ["since just before it", (first) => since(first - 1), Duration.zero, "DUPLICATE_COMMAND"],
  ["since its own offset", (first) => since(first), Duration.zero, "ok"],
  [
    "since an offset to come",
    (first) => since(first + 9),
    Duration.zero,
    "INVALID_DEDUPLICATION_PERIOD"
  ],
  ["an hour, within", () => lasting(Duration.hours(1)), Duration.minutes(59), "DUPLICATE_COMMAND"],
  ["an hour, after", () => lasting(Duration.hours(1)), Duration.minutes(61), "ok"],
  ["the longest", () => lasting(Duration.days(7)), Duration.zero, "DUPLICATE_COMMAND"],
  [
    "longer than the longest",
    () => lasting(Duration.days(8)),
    Duration.zero,
    "INVALID_DEDUPLICATION_PERIOD"
  ]
]

const since = (offset: number): Ledger.Dedup => ({ _tag: "Since", offset: Offset.of(offset) })
const lasting = (duration: Duration.Duration): Ledger.Dedup => ({ _tag: "For", duration })

describe("a second submission of a commandId", () => {
  it.effect.each(windows)("%s", ([, dedup, wait, expected]) =>
    Effect.gen(function* () {
      const { submit } = yield* scene
      const first = yield* submit()
      yield* TestClock.adjust(wait)
      expect(yield* code(submit({ dedup: dedup(first.offset) }))).toBe(expected)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be taken for new since an offset whose commits are forgotten", () =>
    Effect.gen(function* () {
      const { submit } = yield* scene
      const first = yield* submit()
      yield* TestClock.adjust("8 days")
      yield* submit({ commandId: "c2" })
      const again = submit({ dedup: since(first.offset - 1) })
      const refused = yield* Effect.flip(again)
      expect(refused.code).toBe("INVALID_DEDUPLICATION_PERIOD")
      expect(refused.context["earliest_offset"]).toBe(first.offset.toString())
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would not tell where the first one lies", () =>
    Effect.gen(function* () {
      const { submit } = yield* scene
      const first = yield* submit()
      const refused = yield* Effect.flip(submit())
      expect(refused.context).toEqual({
        completion_offset: first.offset.toString(),
        existing_submission_id: "s1"
      })
    }).pipe(Effect.provide(ledger))
  )
})

describe("completions", () => {
  it.effect("an asynchronous rejection takes an offset, a synchronous refusal none", () =>
    Effect.gen(function* () {
      const { participant, submit, completions } = yield* scene
      const ends: Array<number> = []
      const mark = Effect.map(participant.ledgerEnd, (end) => void ends.push(end))
      yield* mark
      yield* submit()
      yield* mark
      yield* code(submit())
      yield* mark
      yield* code(submit({ commandId: "c2", commands: [] }))
      yield* mark
      const far = { commandId: "c3", minLedgerTime: Instant.of("2999-01-01T00:00:00Z") }
      yield* code(submit(far))
      yield* mark
      const [empty, committed, duplicate, synchronous, late] = ends
      expect([empty, synchronous]).toEqual([0, duplicate])
      expect(committed).toBeLessThan(duplicate ?? 0)
      expect(synchronous).toBeLessThan(late ?? 0)
      expect(yield* completions).toEqual([
        "ok",
        "DUPLICATE_COMMAND",
        "LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND"
      ])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a rejection does not block the retry", () =>
    Effect.gen(function* () {
      const { submit } = yield* scene
      const far = { minLedgerTime: Instant.of("2999-01-01T00:00:00Z") }
      expect(yield* code(submit(far))).toBe("LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND")
      expect(yield* code(submit())).toBe("ok")
    }).pipe(Effect.provide(ledger))
  )
})

type Refusal = readonly [expected: string, change: Partial<SimulatedLedger.Attempt>]

const unknown = { packageName: "nobody", module: "M", entity: "E" }
const proposal = Templates.AdmissionConsentProposal.typeRef
const cid = "00".repeat(33)
const exercise = (changes: Partial<Ledger.Exercise>): Refusal[1] => ({
  commands: [
    { _tag: "Exercise", target: proposal, contractId: cid, choice: "Accept", arg: {}, ...changes }
  ]
})
const create = (template: Ledger.TypeRef, args: Ledger.LfRecord): Refusal[1] => ({
  commands: [{ _tag: "Create", template, args }]
})

const refusals: ReadonlyArray<Refusal> = [
  ["MISSING_FIELD", { commands: [] }],
  ["MISSING_FIELD", { actAs: [] }],
  ["INVALID_FIELD", { commandId: "" }],
  ["INVALID_FIELD", { commandId: "ü" }],
  ["INVALID_FIELD", { commandId: "x".repeat(256) }],
  ["INVALID_ARGUMENT", { workflowId: "a\0b" }],
  ["INVALID_ARGUMENT", create(proposal, { terms: "\uD800" })],
  ["PACKAGE_NAMES_NOT_FOUND", create(unknown, {})],
  [
    "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME",
    create({ ...proposal, entity: "Nothing" }, {})
  ],
  ["COMMAND_PREPROCESSING_FAILED", create(proposal, { venue: "no party" })],
  ["CONTRACT_NOT_FOUND", exercise({})],
  [
    "INVALID_DISCLOSED_CONTRACT",
    { disclosed: [{ createdEventBlob: Buffer.from("{}").toString("base64") }] }
  ]
]

describe("a submission is refused", () => {
  it.effect.each(refusals)("with %s (%o)", ([expected, change]) =>
    Effect.gen(function* () {
      const { participant, submit } = yield* scene
      expect(yield* code(submit(change))).toBe(expected)
      expect(yield* participant.ledgerEnd).toBe(0)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("with the right id when a contract is used in a wrong way", () =>
    Effect.gen(function* () {
      const { submit, party } = yield* scene
      const { nodes } = yield* submit()
      const contractId = nodes[0]?.contractId ?? ""
      const use = (changes: Partial<Ledger.Exercise>) =>
        code(submit({ commandId: "c2", ...exercise({ contractId, ...changes }) }))
      expect(yield* use({ choice: "Nothing" })).toBe("COMMAND_PREPROCESSING_FAILED")
      expect(yield* use({ target: Templates.SignedTerms.typeRef })).toBe("WRONGLY_TYPED_CONTRACT")
      expect(yield* use({ target: Templates.HoldingV1.typeRef })).toBe(
        "CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE"
      )
      expect(yield* use({ choice: "Archive" })).toBe("ok")
      const nothing = Templates.create(Templates.SettlementIntent, {
        venue: party,
        settlementId: "s",
        reference: { kind: "k", id: "i" },
        legs: [],
        requestedAt: Instant.fromNanos(0n),
        allocateBefore: Instant.fromNanos(0n),
        settleBefore: Instant.fromNanos(0n)
      })
      expect(yield* code(submit({ commandId: "c3", commands: [nothing] }))).toBe(
        "TEMPLATE_PRECONDITION_VIOLATED"
      )
    }).pipe(Effect.provide(ledger))
  )
})
