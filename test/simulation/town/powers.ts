/** Issuer powers by chance: agreed, consented to, used on those who consent, and tried on those who do not. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { holds } from "../books.ts"
import type { Exercise } from "./ledger-observer.ts"
import { written } from "./figures.ts"
import * as Controls from "./controls.ts"
import * as Joining from "./joining.ts"
import { anyFund, anyHolder } from "./joining.ts"
import type { Asks, When } from "./model.ts"
import * as People from "./people.ts"
import { submit } from "./asking.ts"
import { type Holder, note, type Outcome, type Town } from "./town.ts"
import * as Wallets from "./wallets.ts"

/**
 * Checks each forced move on the ledger by its contracts alone: a consent of the owner and a
 * credential of the receiver.
 */
export const watches = (town: Town) => (one: Exercise) => {
  if (one.choice !== "ForceMove") return
  note(town, "forced on the ledger")
  const consent = town.observer.activeContract(String(one.arg["consentCid"]))
  const credential = town.observer.activeContract(String(one.arg["receiverCredentialCid"]))
  holds(consent?.entity === "IssuerPowersConsent", "units were forced without a consent")
  holds(credential?.entity === "Credential", "units were forced to one without a credential")
  if (consent === undefined || credential === undefined) return
  holds(
    Wallets.member(consent, "holder") !== Wallets.member(credential, "holder"),
    "units were forced to where they were"
  )
}

export const proposes = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const { fund, instrumentId } = anyFund(town)
  const kind = "issuer-powers-agreement.propose"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { instrumentId },
    body: {
      issuer: fund.party,
      powers: die.pick([["force-transfer", "recover"], ["force-transfer", "recover"], ["recover"]]),
      consentRevocable: !die.once(4)
    },
    act: { kind, asks: [] }
  })
})

/** Issuer or registrar answers a proposal, or ends an agreement. */
export const agrees = Effect.fnUntraced(function* (town: Town) {
  const { die, observer } = town
  const [proposal] = observer.all("IssuerPowersAgreementProposal").values()
  const agreements = [...observer.all("IssuerPowersAgreement").values()]
  const agreement = agreements[die.roll(Math.max(1, agreements.length))]
  const one = proposal ?? agreement
  const fund = town.funds.find(
    ({ instrumentId }) => one !== undefined && Wallets.assetOf(one) === instrumentId
  )
  if (one === undefined || fund === undefined) return yield* proposes(town)
  const by = die.pick([fund.fund, fund.registrar])
  const party = { party: by.party }
  if (proposal === undefined) {
    if (!die.once(30)) return yield* proposes(town)
    const said = Templates.exercise(Templates.IssuerPowersAgreement, one.cid, "End", party)
    return yield* Wallets.act(town, by, "ends powers", said)
  }
  const choice = die.once(15) ? "Decline" : "Accept"
  const said = Templates.exercise(Templates.IssuerPowersAgreementProposal, one.cid, choice, party)
  yield* Wallets.act(town, by, `${choice} powers`, said)
})

const day = 86_400_000

export const asksConsent = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const holder = die.once(3) ? anyHolder(town) : owner(town)
  if (holder === undefined) return
  const consented = Wallets.find(town, holder.party, "IssuerPowersConsent") !== undefined
  if (consented && !die.once(10)) return
  const now = Number((yield* Instant.now) / 1_000_000n)
  const at = (millis: number) => new Date(millis).toISOString()
  const kind = "issuer-powers-consent.offer"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId },
    body: {
      ...(die.once(2) ? {} : { instrumentId: anyFund(town).instrumentId }),
      ...(die.once(4) ? { expiresAt: at(now + (1 + die.roll(3)) * day) } : {}),
      ...(die.once(6) ? { validUntil: at(now + (1 + die.roll(5)) * day) } : {})
    },
    act: { kind, asks: [] }
  })
})

/** A holder answers a proposed consent, or revokes its consent. */
export const consents = Effect.fnUntraced(function* (town: Town, holder: Holder) {
  const { die } = town
  const offer = Wallets.find(town, holder.party, "IssuerPowersConsentOffer")
  if (offer !== undefined) {
    const choice = die.once(8) ? "Decline" : "Accept"
    const said = Templates.exercise(Templates.IssuerPowersConsentOffer, offer.cid, choice, {})
    yield* Wallets.act(town, holder, `${choice} consent`, said)
    return true
  }
  const consent = Wallets.find(town, holder.party, "IssuerPowersConsent")
  if (consent === undefined || !die.once(40)) return false
  const said = Templates.exercise(Templates.IssuerPowersConsent, consent.cid, "Withdraw", {})
  yield* Wallets.act(town, holder, "withdraws consent", said)
  return true
})

const order = { authority: "A court", reference: "7/26", documentHash: "ab".repeat(32) }

const holding = (town: Town, holder: Holder): ReadonlyArray<string> =>
  town.funds
    .map(({ instrumentId }) => instrumentId)
    .filter((instrumentId) => town.observer.units(instrumentId, holder.party) > 0n)

/** A holder with units if some tries find one; else any holder. */
export const owner = (town: Town): Holder | undefined => {
  for (let tries = 0; tries < 6; tries++) {
    const found = anyHolder(town)
    if (found !== undefined && holding(town, found).length > 0) return found
  }
  return anyHolder(town)
}

interface Moved {
  readonly from: { readonly holderId: string; readonly party: string }
  readonly to: { readonly holderId: string; readonly party: string }
  readonly instrumentId: string
}

const asksOf = ({ from, instrumentId, to }: Moved, power: "forced" | "recovery"): Asks => ({
  instrumentId,
  hold: "deal",
  admitted: to.party,
  screened: to.holderId,
  consent: from.party,
  differs: [from.party, to.party],
  // A restriction of any mode keeps units from a receiver by force, as it keeps orders from a holder.
  ...(power === "forced"
    ? { passing: { holderId: to.holderId, what: "order-in" as const } }
    : { unrestricted: to.holderId })
})

/**
 * Checks the moves of a forced act: each went to a receiver that every gate allows, and a
 * recovery's to the named successor.
 */
const moved = (town: Town, power: "forced" | "recovery") => (when: When, result: Outcome) => {
  const moves = (result["moves"] ?? []) as ReadonlyArray<Moved>
  holds(moves.length > 0, "a forced act moved nothing")
  for (const one of moves) {
    const why = town.model.forbids(asksOf(one, power), when)
    holds(why === null, `${power} move to ${one.to.holderId} through a closed gate: ${why}`)
    note(town, `${power} move`)
    if (power !== "recovery") continue
    const { successor } = town.byId.get(one.from.holderId) ?? {}
    holds(successor?.party === one.to.party, `${one.from.holderId} was recovered to a stranger`)
  }
}

const has = (town: Town, party: string, entity: string, instrumentId: string): boolean =>
  Wallets.find(
    town,
    party,
    entity,
    (one) =>
      Wallets.member(one, "instrumentId") === instrumentId ||
      (entity === "IssuerPowersConsent" && ["", instrumentId].includes(Wallets.assetOf(one)))
  ) !== undefined

/** A holder and one of its instruments that issuer powers reach, at random. */
const reached = (town: Town): readonly [Holder, string] | undefined => {
  const found = town.holders.flatMap((holder) =>
    holding(town, holder)
      .filter((instrumentId) => has(town, holder.party, "IssuerPowersConsent", instrumentId))
      .map((instrumentId) => [holder, instrumentId] as const)
  )
  return found[town.die.roll(Math.max(1, found.length))]
}

/** A holder that is followed, or to be, is brought on: named, invited, admitted, one thing at a time. */
export const follows = Effect.fnUntraced(function* (town: Town) {
  const [holder, instrumentId] = reached(town) ?? []
  if (holder === undefined || instrumentId === undefined) return yield* asksConsent(town)
  if (holder.successor === null) return yield* Joining.names(town, holder)
  const successor = town.byId.get(holder.successor.holderId)
  if (successor === undefined) return
  if (yield* Joining.answers(town, successor)) return
  if (Wallets.find(town, successor.party, "SignedTerms") !== undefined) {
    return yield* Joining.countersigns(town, successor)
  }
  if (town.die.once(6)) {
    return yield* Controls.restricts(town, town.die.once(2) ? holder : successor)
  }
  if (has(town, successor.party, "Credential", instrumentId)) return yield* recovers(town, holder)
  yield* Joining.offers(town, successor, instrumentId)
})

export const forces = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const [from, instrumentId] = reached(town) ?? [owner(town), anyFund(town).instrumentId]
  const admitted = town.holders.filter((one) => has(town, one.party, "Credential", instrumentId))
  const likely = admitted[die.roll(Math.max(1, admitted.length))]
  const to = die.once(10) ? from : die.once(5) ? anyHolder(town) : likely
  if (from === undefined || to === undefined) return
  const act = { asks: [], succeeds: moved(town, "forced") }
  const units = die.once(3)
    ? `,"units":${written((1n + town.observer.units(instrumentId, from.party) / 20_000n) * 10_000n)}`
    : ""
  if (die.once(2)) {
    const kind = "instrument.force-transfer"
    const other = die.once(3) ? owner(town) : undefined
    const more =
      other === undefined || other === from
        ? ""
        : `,{"holderId":"${other.holderId}","toHolderId":"${to.holderId}"}`
    return yield* submit(town, {
      by: People.maker(town, kind),
      params: { instrumentId },
      body: `{"moves":[{"holderId":"${from.holderId}","toHolderId":"${to.holderId}"${units}}${more}],"order":${JSON.stringify(order)}}`,
      act: { kind, ...act }
    })
  }
  const kind = "holder.force-transfer"
  const named = die.once(3) ? "" : `,"instruments":[{"instrumentId":"${instrumentId}"${units}}]`
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: from.holderId },
    body: `{"toHolderId":"${to.holderId}"${named},"order":${JSON.stringify(order)}}`,
    act: { kind, ...act }
  })
})

/** Units move to the successor of a holder that has registered one; of others, now and then. */
export const recovers = Effect.fnUntraced(function* (town: Town, whom?: Holder) {
  const { die } = town
  const followed = town.holders.filter(
    (one) => one.successor !== null && holding(town, one).length > 0
  )
  const from =
    whom ?? (die.once(8) ? owner(town) : followed[die.roll(Math.max(1, followed.length))])
  if (from === undefined) return
  const held = holding(town, from)
  const instrumentId = held[die.roll(Math.max(1, held.length))] ?? anyFund(town).instrumentId
  const act = { asks: [], succeeds: moved(town, "recovery") }
  if (die.once(2)) {
    const kind = "instrument.recover"
    return yield* submit(town, {
      by: People.maker(town, kind),
      params: { instrumentId },
      body: { holderIds: [from.holderId] },
      act: { kind, ...act }
    })
  }
  const kind = "holder.recover"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: from.holderId },
    body: die.once(3) ? { instruments: [instrumentId] } : {},
    act: { kind, ...act }
  })
})
