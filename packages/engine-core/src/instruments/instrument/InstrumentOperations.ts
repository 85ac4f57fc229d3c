/** Write that records an instrument in the venue's manifest. */
import { Effect, Option } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import { defaults } from "../policy/PolicyTerms.ts"
import { policyVersions } from "../policy/PolicyVersion.ts"
import { configurations, keyOf } from "./Configuration.ts"
import { configurationsMax, instruments, isRecorded } from "./Instrument.ts"
import { payable, swungForward } from "./InstrumentGates.ts"
import { faults } from "./InstrumentRules.ts"
import * as InstrumentView from "./InstrumentView.ts"
import { Body } from "./Manifest.ts"

/** Number of the policy version that an instrument is recorded with. */
const policyVersion = 1

export const record = Operation.define("instrument.record", {
  doc: "Records an instrument in the venue's manifest, with the terms its orders are judged under.",
  summary: ({ currency, instrumentId, valuation }) =>
    sentence`Records instrument ${instrumentId}, valued ${valuation} in ${currency}.`,
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
  result: InstrumentView.RecordedInstrumentView,
  refuses: ["invalid-request", "already-exists", "rule-refused"],
  run: Effect.fn("instrument.record")(function* ({ instrumentId, registrar, ...terms }, act) {
    const records = yield* Records
    const manifest = { ...terms, ...defaults }
    const errors = faults(manifest)
    if (errors.length > 0) {
      return yield* Effect.fail(
        refused("invalid-request", { detail: "The terms contradict each other.", errors })
      )
    }
    const configured = yield* records.find(instruments, instrumentId)
    if (Option.isSome(configured) && isRecorded(configured.value)) {
      return yield* Effect.fail(
        refused("already-exists", { detail: "The manifest holds an instrument of this id." })
      )
    }
    const first = { policyVersion: null, replaced: null }
    yield* Effect.fromResult(judge([...payable(manifest, first), swungForward(manifest, first)]))
    // The manifest decides the registrar, whichever registrar configured the id first.
    const live = yield* records.list(configurations, {
      where: { live: [keyOf({ instrumentId, registrar })] },
      limit: configurationsMax
    })
    const version = { policyVersion, manifest }
    const recorded = {
      registrar,
      configurations: live.map(({ record }) => record.contractId),
      termsSince: act.now,
      ...version
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
        ...version
      },
      act
    )
    const after = Option.isNone(configured)
      ? yield* records.open(
          instruments,
          { instrumentId, next: null, backedBy: null, ...recorded },
          act
        )
      : yield* records.append(instruments, configured.value, { on: "record", ...recorded }, act)
    return InstrumentView.recorded(after)
  })
})
