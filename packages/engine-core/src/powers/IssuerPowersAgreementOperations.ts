/** Write of issuer powers agreements: the venue proposes one to issuer and registrar. */
import { Effect, Schema } from "effect"
import * as ProposalSteps from "../agreements/ProposalSteps.ts"
import { assetOf, InstrumentId, instruments } from "../instruments/instrument/Instrument.ts"
import { recorded } from "../instruments/instrument/InstrumentGates.ts"
import { condition, judge, type Judgement } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Party from "../kernel/Party.ts"
import { Records } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import { IssuerPowersAgreementProposal } from "../templates/Powers.ts"
import { create, exercise } from "../templates/Template.ts"
import * as Lasting from "../writes/LastingLookups.ts"
import * as Operation from "../writes/Operation.ts"
import { ending, sentence } from "../writes/Summary.ts"
import { issuerPowersAgreement, issuerPowersAgreements, powers } from "./IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementView from "./IssuerPowersAgreementView.ts"

const idOf = (operationId: string): string => operationId.replace(/^op_/, "ipa_")

const inTime = (until: Instant.Instant | null, now: Instant.Instant): Judgement =>
  condition("agreement-in-time", until === null || Instant.isAfter(until, now))

/**
 * An instrument has one such agreement at a time: while one is agreed another proposal is refused,
 * and a newer proposal replaces one that waits, in the same transaction
 * (docs/domain/agreements.md#one-life).
 */
export const propose = Operation.defineOnLedger("issuer-powers-agreement.propose", {
  doc: "Asks an issuer and its registrar for powers over the units of holders who consent.",
  summary: ({ instrumentId, powers, until }) =>
    sentence`Asks the issuer and the registrar of instrument ${instrumentId} for the powers ${powers.join(" and ")}${ending(until)}.`,
  route: "POST /v1/instruments/{instrumentId}/issuer-powers-agreement:propose",
  makers: ["operator", "compliance"],
  approvers: 1,
  resource: {
    kind: "issuer-powers-agreement",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Schema.Struct({
    instrumentId: InstrumentId,
    issuer: Party.schema,
    powers,
    /** True if a holder may revoke its consent without the venue. */
    consentRevocable: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))),
    until: Field.optional(Instant.schema)
  }),
  lasts: Lasting.whileIn(issuerPowersAgreements, (_, { operationId }) => [idOf(operationId)], [
    "proposed",
    "agreed"
  ]),
  result: IssuerPowersAgreementView.IssuerPowersAgreementView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("issuer-powers-agreement.propose")(function* (body, act) {
    const records = yield* Records
    const { instrumentId, until } = body
    const instrument = yield* Effect.fromResult(
      recorded(yield* records.get(instruments, instrumentId))
    )
    const replaced = yield* ProposalSteps.replacedBy(issuerPowersAgreement, {
      instrumentId,
      detail: "An issuer powers agreement of this instrument is agreed."
    })
    yield* Effect.fromResult(judge([inTime(until, act.now)]))
    const proposal = create(IssuerPowersAgreementProposal, {
      venue: act.venue,
      issuerPowersAgreementId: idOf(act.operationId),
      instrument: assetOf(instrument),
      issuer: body.issuer,
      registrar: instrument.registrar,
      powers: body.powers,
      consentRevocable: body.consentRevocable,
      until,
      accepted: []
    })
    return ProposalSteps.replacing(proposal, replaced, (cid) =>
      exercise(IssuerPowersAgreementProposal, cid, "Withdraw", {})
    )
  }),
  finish: (_, act) =>
    Effect.map(
      ProposalSteps.opened(issuerPowersAgreements, idOf(act.operationId)),
      IssuerPowersAgreementView.of
    )
})
