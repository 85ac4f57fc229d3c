/** Facts from the ledger about issuer powers consents: offered, answered by the holder, ended. */
import { Effect, Option } from "effect"
import { inForce } from "../restraints/restriction/RestrictionLookups.ts"
import { isUnderOrder } from "./CitedOrderLookups.ts"
import { holders } from "../holders/holder/Holder.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/FromLedger.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../records/Records.ts"
import {
  IssuerPowersConsent as IssuerPowersConsentTemplate,
  IssuerPowersConsentOffer
} from "../templates/Powers.ts"
import type { Payload } from "../templates/Template.ts"
import {
  endsAt,
  type IssuerPowersConsent,
  issuerPowersConsents,
  type Fact,
  IssuerPowersConsentMachine
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"

const consent = LedgerRecord.transitionsOf({
  collection: issuerPowersConsents,
  machine: IssuerPowersConsentMachine,
  resourceKind: "issuer-powers-consent"
})

/** Copies a consent to its holder's record, where it is the holder's latest of its scope. */
const copyToHolder = Effect.fnUntraced(function* (
  self: IssuerPowersConsent,
  node: Node,
  as: "first" | "again"
) {
  const records = yield* Records
  const { cid, holderId, instrumentId, issuerPowersConsentId, state } = self
  const found = yield* records.find(holders, holderId)
  if (Option.isNone(found)) return
  const latest = found.value.consents.find(
    (shownConsent) => shownConsent.instrumentId === instrumentId
  )
  if (as === "again" && latest?.issuerPowersConsentId !== issuerPowersConsentId) return
  yield* records.append(
    holders,
    found.value,
    {
      on: "consent",
      consent: { issuerPowersConsentId, instrumentId, state, cid, endsAt: endsAt(self) },
      at: node.effectiveAt
    },
    node.act
  )
})

const opened = Effect.fnUntraced(function* (
  payload: Payload<typeof IssuerPowersConsentTemplate>,
  node: Node,
  as: Pick<IssuerPowersConsent, "state" | "expiresAt" | "grantedAt">
) {
  const records = yield* Records
  const { holderId, issuerPowersConsentId } = payload
  const holder = yield* records.find(holders, holderId)
  if (Option.isNone(holder) || holder.value.party !== payload.holder) {
    return yield* consent.keepBreach(node, issuerPowersConsentId, {
      on: "offer",
      detail: "There is no such holder."
    })
  }
  const self = yield* LedgerRecord.open(
    issuerPowersConsents,
    {
      issuerPowersConsentId,
      holderId: holder.value.holderId,
      party: payload.holder,
      instrumentId: payload.instrument?.id ?? null,
      issuers: payload.issuers,
      powers: payload.powers,
      revocable: payload.revocable,
      validUntil: payload.validUntil,
      offeredAt: node.effectiveAt,
      offset: node.offset,
      endedAt: null,
      cid: node.contractId,
      ...as
    },
    node
  )
  yield* copyToHolder(self, node, "first")
})

const moved = (id: string, node: Node, fact: Fact) =>
  Effect.gen(function* () {
    const records = yield* Records
    yield* consent.move(id, node, fact.on, () => fact)
    const after = yield* records.find(issuerPowersConsents, id)
    if (Option.isSome(after)) yield* copyToHolder(after.value, node, "again")
  })

/**
 * Ends an offer that the holder declined or the venue withdrew; an expired one has ended already.
 */
const endOffer = (
  { issuerPowersConsentId }: Payload<typeof IssuerPowersConsentOffer>,
  node: Node,
  on: "decline" | "replace"
) =>
  consent.withRecord(issuerPowersConsentId, node, on, (self) =>
    self.state === "expired"
      ? Effect.void
      : moved(issuerPowersConsentId, node, { on, at: node.effectiveAt })
  )

const offer = TypedFromLedger.of(IssuerPowersConsentOffer, {
  created: (payload, node) =>
    opened(payload, node, { state: "offered", expiresAt: payload.expiresAt, grantedAt: null }),
  exercised: {
    Accept: ({ payload, result: { contractId: cid } }, node) =>
      moved(payload.issuerPowersConsentId, node, { on: "grant", cid, at: node.effectiveAt }),
    Decline: ({ payload }, node) => endOffer(payload, node, "decline"),
    Withdraw: ({ payload }, node) => endOffer(payload, node, "replace")
  }
})

/**
 * Expectation of a holder's revocation, not a gate: the contract lets the holder revoke its consent
 * at any time. Where the holder is restricted, or an order against it is open, the consent ends too,
 * and the breach is recorded for reconciliation (docs/domain/powers.md#consent).
 */
const keepExpectation = Effect.fnUntraced(function* (
  self: Stored<IssuerPowersConsent>,
  node: Node
) {
  const { holderId, instrumentId, issuerPowersConsentId } = self
  const restrictions = yield* inForce({
    holderIds: [holderId],
    ...(instrumentId === null ? {} : { instrumentId })
  })
  const why =
    restrictions.length > 0
      ? "it is restricted"
      : (yield* isUnderOrder(holderId))
        ? "an order against it is open"
        : null
  if (why === null) return
  yield* consent.keepBreach(node, issuerPowersConsentId, {
    on: "revoke",
    detail: `The holder revoked its consent while ${why}.`
  })
})

const granted = TypedFromLedger.of(IssuerPowersConsentTemplate, {
  // Outside a snapshot the acceptance of the offer grants the consent.
  created: (payload, node) =>
    Snapshot.isOf(node)
      ? opened(payload, node, {
          state: "granted",
          expiresAt: null,
          grantedAt: node.effectiveAt
        })
      : Effect.void,
  exercised: {
    Withdraw: ({ payload: { issuerPowersConsentId: id } }, node) =>
      consent.withRecord(id, node, "revoke", (self) =>
        self.state === "expired"
          ? Effect.void
          : Effect.andThen(
              keepExpectation(self, node),
              moved(id, node, { on: "revoke", at: node.effectiveAt })
            )
      )
  }
})

export const fromLedger = [offer, granted] as const
