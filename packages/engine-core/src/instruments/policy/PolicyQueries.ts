/** Queries of an instrument's policy: the version in force, and the list of versions. */
import { Effect, Schema } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { InstrumentId, isRecorded } from "../instrument/Instrument.ts"
import { instrumentInSight } from "../instrument/InstrumentLookups.ts"
import { idOf, policyVersions, PolicyVersionMachine } from "./PolicyVersion.ts"
import * as PolicyView from "./PolicyView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  investor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

export const get = Read.one({
  name: "instruments.policy",
  doc: "Answers the version of an instrument's policy that is in force at the point of the read.",
  route: "GET /v1/instruments/{instrumentId}/policy",
  audience,
  pinned: true,
  params: Schema.Struct({ instrumentId: InstrumentId }),
  value: PolicyView.PolicyVersionView,
  refuses: ["not-found"],
  run: Effect.fn("instruments.policy")(function* ({ instrumentId }, asking) {
    const instrument = yield* instrumentInSight(instrumentId, asking)
    if (!isRecorded(instrument)) {
      return yield* Effect.fail(
        refused("not-found", { detail: "The manifest does not hold this instrument." })
      )
    }
    const records = yield* Records
    return PolicyView.of(yield* records.get(policyVersions, idOf(instrument), asking.pin))
  })
})

export const list = Read.list({
  name: "instruments.policy-versions",
  doc: "Lists the versions of an instrument's policy, newest first.",
  route: "GET /v1/instruments/{instrumentId}/policy/versions",
  audience,
  pinned: true,
  collection: policyVersions,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    state: Schema.optionalKey(Schema.Array(PolicyVersionMachine.schema))
  }),
  item: PolicyView.PolicyVersionView,
  direction: "desc",
  order: "newest first",
  changes: false,
  acted: "never",
  parent: ({ instrumentId }, asking) => Effect.asVoid(instrumentInSight(instrumentId, asking)),
  where: ({ instrumentId, state }) => ({
    instrumentId: [instrumentId],
    ...(state === undefined ? {} : { state })
  }),
  view: (found) => Effect.succeed(found.map(PolicyView.of))
})

export const queries = [get, list] as const
