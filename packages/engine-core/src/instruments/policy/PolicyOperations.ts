/** Write that sets a new policy version. */
import { Effect, Option, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { directionIn, optionally, phrase, sentence } from "../../writes/Summary.ts"
import * as TermChange from "../../writes/TermChange.ts"
import {
  InstrumentId,
  type Instrument,
  instruments,
  isRecorded,
  lastVersion,
  type RecordedInstrument
} from "../instrument/Instrument.ts"
import { recorded } from "../instrument/InstrumentGates.ts"
import { faults } from "../instrument/InstrumentRules.ts"
import { type Manifest, changes as terms } from "../instrument/Manifest.ts"
import { assetKeyOf } from "../register/Holding.ts"
import { supplies } from "../register/Supply.ts"
import { changesOf } from "./PolicyDirection.ts"
import { judge } from "./PolicyGates.ts"
import { amended, unfixed } from "./PolicyRules.ts"
import { idOf, policyVersions } from "./PolicyVersion.ts"
import * as PolicyView from "./PolicyView.ts"

/** Whether units were ever minted: the supply has a record, even where it is zero again. */
const isMinted = (instrument: RecordedInstrument) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.find(supplies, assetKeyOf(instrument)), Option.isSome)
  )

/** Loads a version that the instrument names. */
const versionOf = (version: {
  readonly instrumentId: InstrumentId
  readonly policyVersion: number
}) =>
  Effect.flatMap(Records, (records) => records.get(policyVersions, idOf(version))).pipe(
    Effect.catchTag("Refused", () => Effect.die(new Error(`policy ${idOf(version)} has no record`)))
  )

/**
 * Ends earlier versions: withdraws a scheduled one, and supersedes the one in force or sets its
 * end.
 */
const retire = Effect.fnUntraced(function* (
  { instrumentId, next, policyVersion }: RecordedInstrument,
  { from, isAhead }: { readonly from: Instant.Instant; readonly isAhead: boolean },
  act: OperationAct
) {
  const records = yield* Records
  const current = yield* versionOf({ instrumentId, policyVersion })
  yield* records.append(
    policyVersions,
    current,
    { on: isAhead ? "limit" : "supersede", until: from },
    act
  )
  if (next === null) return
  const waiting = yield* versionOf({ instrumentId, policyVersion: next.policyVersion })
  yield* records.append(policyVersions, waiting, { on: "replace" }, act)
})

interface AcceptedTerms {
  readonly manifest: Manifest
  readonly effectiveFrom: Instant.Instant | null
  readonly changes: ReadonlyArray<TermChange.TermChange>
}

const accept = Effect.fnUntraced(function* (
  instrument: Stored<Instrument> & RecordedInstrument,
  { changes, effectiveFrom, manifest }: AcceptedTerms,
  act: OperationAct
) {
  const records = yield* Records
  const { instrumentId, termsSince } = instrument
  // Never before the start of the version in force, which the clock may have begun just now.
  const from = effectiveFrom ?? (termsSince === null ? act.now : Instant.max(act.now, termsSince))
  const isAhead = effectiveFrom !== null
  const policyVersion = lastVersion(instrument) + 1
  yield* retire(instrument, { from, isAhead }, act)
  yield* records.append(
    instruments,
    instrument,
    isAhead
      ? { on: "schedule", next: { policyVersion, effectiveFrom: from, manifest } }
      : { on: "set", policyVersion, termsSince: from, manifest },
    act
  )
  return yield* records
    .open(
      policyVersions,
      {
        instrumentId,
        policyVersion,
        state: isAhead ? "scheduled" : "current",
        effectiveFrom: from,
        until: null,
        setBy: act.actor,
        changes,
        manifest
      },
      act
    )
    .pipe(
      Effect.catchTag("Refused", () => Effect.die(new Error("a policy version was opened twice")))
    )
})

const Input = Schema.Struct({
  instrumentId: InstrumentId,
  /** The version to be replaced: the scheduled one, else the one in force. */
  replaces: Field.optional(Schema.String),
  /** Start of the version; absent or null: at once. */
  effectiveFrom: Field.optional(Instant.schema),
  ...terms
})

/** Makes the requested terms, and their changes against those accepted before. */
const versionFrom = (
  instrument: RecordedInstrument,
  { instrumentId: _id, replaces: _, effectiveFrom, ...changed }: typeof Input.Type,
  now: Instant.Instant
) => {
  const manifest = amended(instrument.next?.manifest ?? instrument.manifest, changed)
  const to =
    effectiveFrom === null
      ? { manifest, next: null }
      : { manifest: instrument.manifest, next: { effectiveFrom, manifest } }
  return { manifest, changes: changesOf({ from: instrument, to }, now) }
}

/** Loads the instrument, and makes the requested terms from those accepted before. */
const proposedVersion = Effect.fnUntraced(function* (
  input: typeof Input.Type,
  { now }: OperationAct
) {
  const records = yield* Records
  const found = yield* records.get(instruments, input.instrumentId)
  const instrument = yield* Effect.fromResult(recorded(found))
  return { instrument, ...versionFrom(instrument, input, now) }
})

export const set = Operation.define("policy.set", {
  doc: "Sets the terms an instrument's later orders are judged under; If-Match names the version replaced.",
  summary: ({ effectiveFrom, instrumentId }, { figures }) =>
    sentence`Changes the terms of instrument ${instrumentId}${optionally(effectiveFrom, (from) => phrase` from ${from} on`)}: ${directionIn(figures)}.`,
  changes: Effect.fnUntraced(function* (input, { now }) {
    const records = yield* Records
    const instrument = Option.getOrNull(yield* records.find(instruments, input.instrumentId))
    if (instrument === null || !isRecorded(instrument)) return []
    return versionFrom(instrument, input, now).changes
  }),
  route: "POST /v1/instruments/{instrumentId}/policy:set",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}/policy`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  ifMatch: "replaces",
  input: Input,
  lasts: Lasting.whileIn(
    policyVersions,
    ({ instrumentId }, { result }) => [
      `${instrumentId}:${Lasting.integerOf(result, "policyVersion")}`
    ],
    ["scheduled", "current"]
  ),
  result: PolicyView.PolicyVersionView,
  refuses: ["invalid-request", "not-found", "state-conflict", "rule-refused"],
  figures: Effect.fn("policy.set.figures")(function* (input, act) {
    const { sha256 } = yield* Crypto
    const { changes } = yield* proposedVersion(input, act)
    return { figures: TermChange.figuresOf(changes, sha256), tolerance: Decimal.zero }
  }),
  run: Effect.fn("policy.set")(function* (input, act) {
    const { replaces, effectiveFrom } = input
    const { changes, instrument, manifest } = yield* proposedVersion(input, act)
    const errors = faults(manifest)
    if (errors.length > 0) {
      return yield* Effect.fail(
        refused("invalid-request", { detail: "The terms contradict each other.", errors })
      )
    }
    yield* Effect.fromResult(
      judge({
        instrument,
        replaces,
        effectiveFrom,
        unfixed: unfixed(instrument.manifest, manifest),
        manifest,
        isMinted: yield* isMinted(instrument),
        now: act.now
      })
    )
    return PolicyView.of(yield* accept(instrument, { manifest, effectiveFrom, changes }, act))
  })
})
