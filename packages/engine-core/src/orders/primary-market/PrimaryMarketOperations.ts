/** Write that proposes a primary market to the fund and the registrar. */
import { Effect, Schema } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import {
  assetOf,
  InstrumentId,
  instruments,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import { notBacked, recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { condition, judge, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarketProposal } from "../../templates/Market.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { ending, sentence } from "../../writes/Summary.ts"
import { primaryMarket, primaryMarkets } from "./PrimaryMarket.ts"
import * as PrimaryMarketView from "./PrimaryMarketView.ts"

/** Largest number of attestors of a market. */
const attestorsMax = 32

const Body = Schema.Struct({
  instrumentId: InstrumentId,
  fund: Party.schema,
  paymentAsset: Field.asset,
  terms: Schema.Struct({
    attestors: Schema.Array(Party.schema).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(attestorsMax),
      Schema.isUnique({ expected: "parties that do not repeat" })
    ),
    required: Integer.between({ minimum: 1, maximum: attestorsMax }),
    /** The oracle whose points price the orders; the instrument's own when absent. */
    oracle: Field.optional(Party.schema)
  }),
  until: Field.optional(Instant.schema)
})
type Body = typeof Body.Type

const idOf = (operationId: string): string => operationId.replace(/^op_/, "mkt_")

export const propose = Operation.defineOnLedger("primary-market.propose", {
  doc: "Asks a fund and its registrar for a market whose orders are paid on the ledger.",
  summary: ({ instrumentId, until }) =>
    sentence`Asks the fund and the registrar of instrument ${instrumentId} for a market that is paid on the ledger${ending(until)}.`,
  route: "POST /v1/instruments/{instrumentId}/primary-market:propose",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "primary-market",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  lasts: Lasting.whileIn(primaryMarkets, (_, { operationId }) => [idOf(operationId)], [
    "proposed",
    "agreed"
  ]),
  result: PrimaryMarketView.PrimaryMarketView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("primary-market.propose")(function* (body, act) {
    const records = yield* Records
    const instrument = yield* Effect.fromResult(
      recorded(yield* records.get(instruments, body.instrumentId))
    )
    const replaced = yield* ProposalSteps.replacedBy(primaryMarket, {
      instrumentId: body.instrumentId,
      detail: "A primary market of this instrument is agreed."
    })
    yield* Effect.fromResult(judge(against(body, { instrument, now: act.now })))
    const oracle = body.terms.oracle ?? instrument.manifest.oracle
    if (oracle === null) throw new Error("a market that passed its gates has an oracle")
    const proposal = create(PrimaryMarketProposal, {
      venue: act.venue,
      marketId: idOf(act.operationId),
      instrument: assetOf(instrument),
      fund: body.fund,
      registrar: instrument.registrar,
      cash: body.paymentAsset,
      attestors: body.terms.attestors,
      required: body.terms.required,
      oracle,
      until: body.until,
      accepted: []
    })
    return ProposalSteps.replacing(proposal, replaced, (cid) =>
      exercise(PrimaryMarketProposal, cid, "Withdraw", {})
    )
  }),
  finish: (_, act) =>
    Effect.map(ProposalSteps.opened(primaryMarkets, idOf(act.operationId)), PrimaryMarketView.of)
})

/** Checks of a proposed market's terms. */
const against = (
  { terms, until }: Body,
  { instrument, now }: { readonly instrument: RecordedInstrument; readonly now: Instant.Instant }
): ReadonlyArray<Judgement> => {
  const { manifest, policyVersion } = instrument
  const oracle = terms.oracle ?? manifest.oracle
  return [
    notBacked(instrument),
    condition("oracle-named", oracle !== null, { policyVersion, recovery: "Name the oracle." }),
    condition("oracle-of-instrument", manifest.oracle === null || oracle === manifest.oracle, {
      policyVersion
    }),
    condition("attestors-suffice", terms.required <= terms.attestors.length, { policyVersion }),
    condition("market-in-time", until === null || Instant.isAfter(until, now))
  ]
}
