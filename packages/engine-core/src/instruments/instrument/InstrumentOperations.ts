/** Writes of an instrument's record. */
import { Effect, Option } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as Operation from "../../writes/Operation.ts"
import { untold } from "../policy/PolicyTerms.ts"
import { policyVersions } from "../policy/PolicyVersion.ts"
import { configurations, keyOf } from "./Configuration.ts"
import { configurationsMax, instruments, isRecorded } from "./Instrument.ts"
import { faults } from "./InstrumentRules.ts"
import * as InstrumentView from "./InstrumentView.ts"
import { Body } from "./Manifest.ts"

/** The policy an instrument is recorded with; every later one comes by policy.set. */
const policyVersion = 1

export const record = Operation.define("instrument.record", {
  doc: "Records an instrument in the venue's manifest, with the terms its orders are judged under.",
  route: "POST /v1/instruments",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  complete: (input) =>
    input.valuation === "par" && input.parValue === null
      ? { ...input, parValue: Decimal.one }
      : input,
  result: InstrumentView.Recorded,
  refuses: ["invalid-request", "already-exists"],
  run: Effect.fn("instrument.record")(function* ({ instrumentId, registrar, ...said }, act) {
    const records = yield* Records
    const manifest = { ...said, ...untold }
    const errors = faults(manifest)
    if (errors.length > 0) {
      return yield* Effect.fail(
        refused("invalid-request", { detail: "The terms contradict each other.", errors })
      )
    }
    const known = yield* records.find(instruments, instrumentId)
    if (Option.isSome(known) && isRecorded(known.value)) {
      return yield* Effect.fail(
        refused("already-exists", { detail: "The manifest holds an instrument of this id." })
      )
    }
    // The venue's manifest says whose instrument it is, whoever configured the id first.
    const live = yield* records.list(configurations, {
      where: { live: [keyOf({ instrumentId, registrar })] },
      limit: configurationsMax
    })
    const terms = { policyVersion, manifest }
    const recorded = {
      registrar,
      configurations: live.map(({ record }) => record.contractId),
      termsSince: act.now,
      ...terms
    }
    yield* records.open(
      policyVersions,
      {
        instrumentId,
        state: "current",
        effectiveFrom: act.now,
        until: null,
        setBy: act.actor,
        changes: [],
        ...terms
      },
      act
    )
    const after = Option.isNone(known)
      ? yield* records.open(instruments, { instrumentId, next: null, ...recorded }, act)
      : yield* records.record(instruments, known.value, { on: "record", ...recorded }, act)
    return InstrumentView.recorded(after)
  })
})
