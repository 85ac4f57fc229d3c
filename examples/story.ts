/** Bodies of the writes that the examples and the demo make. */
import type { Party } from "@bursar/engine-core/kernel"
import { instrument, type Terms } from "#demo/Instrument.ts"

export { instrument, type Terms } from "#demo/Instrument.ts"

/** Terms of an instrument whose units exist only against assets that are locked for it. */
export const backed = (
  terms: Omit<Terms, "oracle" | "valuation"> & { readonly oracle: Party.Party }
) => ({
  ...instrument({ ...terms, valuation: "par" }),
  legalName: "Example Reserve Note",
  display: { displayName: "Example Reserve Note", symbol: "ERN" }
})

export const consent = (issuer: { readonly fund: Party.Party }) => ({
  ...issuer,
  terms: "The venue may admit holders whose identity it has verified."
})

export const market = (parties: {
  readonly fund: Party.Party
  readonly registrar: Party.Party
  readonly attestors: ReadonlyArray<Party.Party>
  readonly oracle: Party.Party
}) => ({
  fund: parties.fund,
  paymentAsset: { admin: parties.registrar, id: "USD" },
  terms: {
    attestors: parties.attestors,
    required: parties.attestors.length,
    oracle: parties.oracle
  }
})

export const holder = (holder: {
  readonly holderId: string
  readonly party: Party.Party
  readonly instrumentId: string
}) =>
  ({
    holderId: holder.holderId,
    party: holder.party,
    legalName: "Ines Investor Holdings",
    classification: "entity",
    taxResidences: [{ country: "US" }],
    admissions: [{ instrumentId: holder.instrumentId }]
  }) as const

export const claim = (order: {
  readonly subscriptionId: string
  readonly instrumentId: string
  readonly holderId: string
  readonly amount: string
}) => order

/** The line of a bank statement that paid an order, which the venue names at the delivery. */
export const paid = (payment: {
  readonly statementId: string
  readonly line?: number
  readonly amount: string
}) => ({
  cash: [{ statementId: payment.statementId, line: payment.line ?? 1, amount: payment.amount }]
})
