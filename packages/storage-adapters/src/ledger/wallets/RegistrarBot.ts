/**
 * Bot of a registrar: configures instruments, answers proposals, mints and burns on request,
 * delivers distributions.
 */
import { Decimal, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as Agreements from "./Agreements.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Policy from "./Policy.ts"
import * as Powers from "./Powers.ts"
import * as Reserves from "./Reserves.ts"
import * as World from "./World.ts"

const identifier = Schema.Struct({
  source: Schema.String,
  id: Schema.String,
  scheme: Schema.String
})
const requirement = Schema.Struct({
  issuer: Party.schema,
  property: Schema.String,
  value: Schema.String
})
const requirements = Schema.optionalKey(Schema.Array(requirement))

/** An instrument on the registrar's register. */
export const Instrument = Schema.Struct({
  instrumentId: Schema.String,
  /** Party that administers the instrument: the venue. */
  provider: Party.schema,
  issuer: Party.schema,
  /** Id of the instrument at the registrar; the registrar's own by default. */
  defaultIdentifier: Schema.optionalKey(identifier),
  additionalIdentifiers: Schema.optionalKey(Schema.Array(identifier)),
  holderRequirements: requirements,
  issuerRequirements: requirements
})
export type Instrument = typeof Instrument.Type

/** Options of a registrar's program. */
export interface Options {
  readonly instruments: ReadonlyArray<Instrument>
  readonly policy: Policy.Policy
  /** Payments of cash that the registrar made; without them lines of cash wait. */
  readonly payments?: Deliveries.Payments
}

/**
 * Plan of a registrar: it configures its instruments, and mints, burns and admits as its policy
 * accepts.
 */
export const plan = ({ instruments, policy, payments = [] }: Options): World.Plan =>
  Agreements.all(
    configurations(instruments),
    consents(policy),
    markets(policy),
    Powers.agreements(policy),
    Reserves.issuing(policy),
    Reserves.locks(policy),
    mints(policy),
    burns(policy),
    Deliveries.plan({ policy, payments })
  )

const configurations =
  (instruments: ReadonlyArray<Instrument>): World.Plan =>
  (world) =>
    instruments
      .filter(({ instrumentId }) => Agreements.configurationOf(world, instrumentId) === undefined)
      .map((instrument) => configure(world.party, instrument))

/** Configures an instrument. */
export const configure = (registrar: Party.Party, instrument: Instrument): World.Act => {
  const { instrumentId, provider, issuer } = instrument
  return {
    name: "configure-instrument",
    about: instrumentId,
    change: {
      commandId: `configure-instrument:${instrumentId}`,
      commands: [
        Templates.create(Templates.InstrumentConfiguration, {
          registrar,
          provider,
          issuer,
          instrument: { admin: registrar, id: instrumentId },
          defaultIdentifier: instrument.defaultIdentifier ?? {
            source: Party.hint(registrar),
            id: instrumentId,
            scheme: "internal"
          },
          additionalIdentifiers: instrument.additionalIdentifiers ?? [],
          holderRequirements: instrument.holderRequirements ?? [],
          issuerRequirements: instrument.issuerRequirements ?? []
        })
      ]
    },
    details: { instrumentId }
  }
}

/** Accepts markets of the instruments on its register. */
export const markets = (policy: Policy.Policy): World.Plan =>
  Agreements.primaryMarkets(policy, ({ registrar }, party) => registrar === party)

/** Consents that holders are admitted to the register of an instrument. */
export const consents =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.AdmissionConsentProposal).flatMap(({ contractId, payload }) => {
      if (payload.registrar !== world.party) return []
      const to = { template: Templates.AdmissionConsentProposal, contractId } as const
      const details = { instrumentId: payload.instrumentId }
      switch (Policy.judge(policy, [contractId, payload.instrumentId])) {
        case "accept":
          return [World.answer("accept-consent", { ...to, choice: "Accept" }, {}, details)]
        case "reject":
          return [World.answer("decline-consent", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** Mints units to holders with a valid credential; other requests wait. */
export const mints =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.MintRequest).flatMap(({ contractId, payload }) => {
      const { instrument, holder, reference, amount, executeBefore } = payload
      if (instrument.admin !== world.party) return []
      const to = { template: Templates.MintRequest, contractId } as const
      const details = { reference: reference.id, amount: Decimal.formatPlain(amount), holder }
      const ids = [contractId, instrument.id, reference.id, holder]
      const verdict = Policy.judge(policy, ids)
      if (verdict === "reject") {
        return [World.answer("reject-mint", { ...to, choice: "Reject" }, {}, details)]
      }
      const credentialCid = Agreements.credentialOf(world, { holder, instrument })
      const late = executeBefore !== null && world.now >= executeBefore
      if (verdict === "wait" || credentialCid === null || late) return []
      const configurationCid = Agreements.configurationOf(world, instrument.id)?.contractId ?? null
      const argument = { credentialCid, configurationCid }
      return [World.answer("accept-mint", { ...to, choice: "Accept" }, argument, details)]
    })

/**
 * Burns units for a redemption that exists and has the same units. A request without a price waits;
 * an expired one is rejected, which unlocks its units.
 */
export const burns =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.BurnRequest).flatMap(({ contractId, payload }) => {
      const { registrar, instrument, holder, reference, amount } = payload
      if (registrar !== world.party) return []
      const to = { template: Templates.BurnRequest, contractId } as const
      const details = { reference: reference.id, amount: Decimal.formatPlain(amount), holder }
      const verdict = Policy.judge(policy, [contractId, instrument.id, reference.id, holder])
      if (verdict === "reject" || world.now >= payload.executeBefore) {
        return [World.answer("reject-burn", { ...to, choice: "Reject" }, {}, details)]
      }
      return verdict === "wait" || !isOwed(world, payload)
        ? []
        : [World.answer("accept-burn", { ...to, choice: "Accept" }, {}, details)]
    })

type BurnRequest = Templates.Payload<typeof Templates.BurnRequest>

const isOwed = (world: World.World, { reference, holder, amount, instrument }: BurnRequest) =>
  reference.kind !== "redemption" ||
  World.find(world, Templates.PricedRedemption).some(
    ({ payload }) =>
      payload.redemptionId === reference.id &&
      payload.holder === holder &&
      payload.instrument.id === instrument.id &&
      Decimal.equals(payload.units, amount)
  )

/**
 * Issues opening cash of an asset that the registrar administers: creates a holding of its own and
 * offers it to the owner.
 */
export const issue = (
  registrar: Party.Party,
  {
    instrumentId,
    provider,
    receiver,
    amount,
    executeBefore,
    reference
  }: {
    readonly instrumentId: string
    readonly provider: Party.Party
    readonly receiver: Party.Party
    readonly amount: Decimal.Decimal
    readonly executeBefore: Templates.Payload<typeof Templates.TransferOffer>["executeBefore"]
    /** Idempotency key of the issue. */
    readonly reference: string
  }
): World.Act => {
  return {
    name: "issue",
    about: reference,
    change: {
      commandId: `issue:${reference}`,
      commands: [
        Templates.createAndExercise(
          Templates.Holding,
          {
            registrar,
            owner: registrar,
            provider,
            instrument: { admin: registrar, id: instrumentId },
            amount,
            restricted: false,
            lock: null,
            label: "",
            meta: {}
          },
          "OfferTransfer",
          { receiver, amount, executeBefore }
        )
      ]
    },
    details: { instrumentId, amount: Decimal.formatPlain(amount), receiver }
  }
}
