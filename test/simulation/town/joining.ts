/**
 * Joining of a town: holders are onboarded, accept or decline, sign, are admitted, renewed,
 * succeeded and closed.
 */
import type { Caller } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import type { Contract } from "./ledger-observer.ts"
import * as People from "./people.ts"
import * as Precheck from "./precheck.ts"
import { submit } from "./asking.ts"
import { type Fund, type Holder, type Town, work } from "./town.ts"
import * as Wallets from "./wallets.ts"

/** Largest number of holders: a town gets hundreds, one after the other. */
export const holdersMax = 300

export const anyFund = (town: Town): Fund => {
  const fund = town.funds[town.die.roll(town.funds.length)]
  if (fund === undefined) throw new Error("no fund")
  return fund
}

/** A holder at random; more often one of the newest, so that what began continues. */
export const anyHolder = (town: Town): Holder | undefined => {
  const { die, holders } = town
  const count = holders.length
  if (count === 0) return undefined
  const at = die.once(3) ? count - 1 - die.roll(Math.min(count, 12)) : die.roll(count)
  return holders[at]
}

const enrolled = (town: Town, holder: Holder) => {
  town.holders.push(holder)
  town.byParty.set(holder.party, holder)
  town.byId.set(holder.holderId, holder)
}

/** A newcomer, or the same one again, is onboarded. */
export const onboards = Effect.fnUntraced(function* (town: Town) {
  const { die, holders } = town
  const again = die.once(30) ? anyHolder(town) : undefined
  if (again === undefined && holders.length >= holdersMax) return
  const holderId = again?.holderId ?? `h${holders.length + 1}`
  const wallet = again ?? (yield* Wallets.party(`wallet-${holderId}-${++town.count}`))
  const admissions = town.funds
    .filter(() => !die.once(3))
    .map(({ instrumentId }) => ({ instrumentId }))
  const kind = die.once(6) ? "holder.register" : "holder.onboard"
  const body = {
    holderId,
    party: wallet.party,
    taxResidences: [],
    ...(kind === "holder.onboard" ? { admissions } : {})
  }
  const act = { kind, asks: [] }
  const refusal = yield* submit(town, { by: People.maker(town, kind), body, act })
  if (refusal !== null || again !== undefined) return
  enrolled(town, {
    ...wallet,
    holderId,
    stateByEvents: "pending",
    predecessor: null,
    successor: null
  })
})

/** Whether a contract is valid for 20 seconds more: the ledger's time differs from the wallet's. */
const isInTime = (one: Contract, now: Instant.Instant): boolean =>
  ["expiresAt", "validUntil"].every((name) => {
    const end = Wallets.member(one, name)
    return end === "" || Instant.of(end) > now + 20_000_000_000n
  })

/** Answers the proposals in a holder's wallet, in order of precedence. */
export const answers = Effect.fnUntraced(function* (town: Town, holder: Holder) {
  const { die } = town
  const { party } = holder
  const now = yield* Instant.now
  const invitation = Wallets.find(town, party, "HolderInvitation")
  if (invitation !== undefined) {
    const choice = die.once(25) ? "Decline" : "Accept"
    const said = Templates.exercise(Templates.HolderInvitation, invitation.cid, choice, {})
    yield* Wallets.act(town, holder, `${choice} invitation`, said)
    return true
  }
  const registered = Wallets.find(town, party, "HolderRegistration")
  if (registered === undefined) return false
  if (
    Wallets.find(town, party, "SignedTerms") === undefined &&
    Wallets.find(town, party, "AcceptedTerms") === undefined
  ) {
    const terms = {
      venue: town.venue,
      holder: party,
      holderId: holder.holderId,
      documentHash: "ab".repeat(32),
      signedAt: now
    }
    yield* Wallets.act(town, holder, "signs terms", Templates.create(Templates.SignedTerms, terms))
    return true
  }
  // A wallet marks expired offers, which no party accepts.
  const offer = Wallets.find(town, party, "AdmissionOffer", (one) => isInTime(one, now))
  if (offer !== undefined) {
    const choice = die.once(12) ? "Decline" : "Accept"
    const said = Templates.exercise(Templates.AdmissionOffer, offer.cid, choice, {})
    yield* Wallets.act(town, holder, `${choice} admission`, said)
    return true
  }
  return false
})

/** A newcomer is onboarded and does at once what has come to its wallet, until it is admitted. */
export const arrives = Effect.fnUntraced(function* (town: Town) {
  yield* onboards(town)
  const holder = town.holders.at(-1)
  if (holder === undefined) return
  for (let turn = 0; turn < 7; turn++) {
    yield* work(town)
    yield* town.observer.look(town.step)
    if (yield* answers(town, holder)) continue
    if (Wallets.find(town, holder.party, "SignedTerms") === undefined) return
    yield* countersigns(town, holder)
  }
})

/** Terms that a holder signed are countersigned. */
export const countersigns = Effect.fnUntraced(function* (town: Town, whose?: Holder) {
  const signed = [...town.observer.all("SignedTerms").values()]
  const one = signed[town.die.roll(Math.max(1, signed.length))]
  const holder =
    whose ??
    (one === undefined || town.die.once(12)
      ? anyHolder(town)
      : town.byParty.get(Wallets.member(one, "holder")))
  if (holder === undefined) return
  const kind = "accepted-terms.accept"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId },
    act: { kind, asks: [] }
  })
})

const day = 86_400_000

/** An admission is offered, to holders with and without one. */
export const offers = Effect.fnUntraced(function* (town: Town, whose?: Holder, which?: string) {
  const holder = whose ?? anyHolder(town)
  if (holder === undefined) return
  const { die } = town
  const instrumentId = which ?? anyFund(town).instrumentId
  const now = Number((yield* Instant.now) / 1_000_000n)
  const kind = "admission.offer"
  const at = (millis: number) => new Date(millis).toISOString()
  const terms = {
    instrumentId,
    ...(die.once(4) ? { expiresAt: at(now + (1 + die.roll(4)) * day) } : {}),
    ...(die.once(6) ? { validUntil: at(now + (1 + die.roll(9)) * day) } : {}),
    ...(die.once(20) ? { expiresAt: at(now - day) } : {})
  }
  const { holderId } = holder
  const acting = (by: Caller.Caller) =>
    submit(town, {
      by,
      params: { holderId },
      body: terms,
      act: { kind, asks: [{ instrumentId, screened: holderId }] }
    })
  const named = { act: kind, holderId, ...terms }
  yield* Precheck.looked(town, named, People.maker(town, kind), acting)
})

export const withdraws = Effect.fnUntraced(function* (town: Town) {
  const holder = anyHolder(town)
  if (holder === undefined) return
  const kind = "admission.withdraw"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId, instrumentId: anyFund(town).instrumentId },
    act: { kind, asks: [] }
  })
})

/** Sets an attribute of a holder: stated, verified or withdrawn. */
export const describes = Effect.fnUntraced(function* (town: Town) {
  const holder = anyHolder(town)
  if (holder === undefined) return
  const { die } = town
  const now = Number((yield* Instant.now) / 1_000_000n)
  const kind = "holder.set-attributes"
  const state = die.pick(["valid", "valid", "pending", "rejected", "revoked"] as const)
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId },
    body: {
      attributes: [
        {
          name: die.pick(["kyc", "accredited"] as const),
          value: "yes",
          state,
          evidenceHash: "cd".repeat(32),
          ...(die.once(3) ? { validUntil: new Date(now + 5 * day).toISOString() } : {})
        }
      ]
    },
    act: { kind, asks: [] }
  })
})

/** Names a successor of a holder: a party of its own, the holder itself, or another holder. */
export const names = Effect.fnUntraced(function* (town: Town, whose?: Holder) {
  const { die } = town
  const holder = whose ?? anyHolder(town)
  if (holder === undefined || town.holders.length >= holdersMax) return
  const kind = "holder.register-successor"
  const successorId = `${holder.holderId}s${++town.count}`
  const other = die.once(8) ? (die.once(2) ? holder : anyHolder(town)) : undefined
  const wallet = other ?? (yield* Wallets.party(`wallet-${successorId}`))
  const refusal = yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId },
    body: { party: wallet.party, successorId },
    act: {
      kind,
      asks: [],
      succeeds: () => {
        holder.successor = { holderId: successorId, party: wallet.party, usableFrom: null }
        if (other !== undefined) return
        enrolled(town, {
          ...wallet,
          holderId: successorId,
          stateByEvents: "pending",
          predecessor: holder.holderId,
          successor: null
        })
      }
    }
  })
  return refusal
})

export const closes = Effect.fnUntraced(function* (town: Town) {
  const holder = anyHolder(town)
  if (holder === undefined) return
  const kind = "holder.close"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: holder.holderId },
    act: {
      kind,
      asks: [],
      succeeds: () => {
        holder.stateByEvents = "closed"
      }
    }
  })
})
