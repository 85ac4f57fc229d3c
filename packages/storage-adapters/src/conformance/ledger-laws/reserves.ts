/**
 * Laws of reserves: what is locked stays locked, the reserve counts for itself, and terms are in
 * force at their instant. A hostile venue makes each attempt, with the right of its own party alone.
 */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

const decimal = Decimal.of
const begin = Instant.fromNanos(0n)
const afterAMonth = Instant.add(begin, Duration.days(30))

type ContractsReceipt = Parameters<typeof Scene.createdIn>[0]

/** The last contract of an entity that a transaction has left. */
const left = (receipt: ContractsReceipt, entity: string): string => {
  const made = Scene.createdIn(receipt).findLast(
    ({ template, inAcs }) => template.entity === entity && inAcs
  )
  if (made === undefined) throw new Error(`no ${entity}`)
  return made.contractId
}

/** A reserve of one asset, which is worth 1, its holder, and a holder of units with an asset of its own. */
const begun = (setup: { readonly minCover: string; readonly loosenDelay: number }) =>
  Effect.gen(function* () {
    const scene = yield* Scene.open
    const { registrar: issuer } = scene
    const [bank, custodian, depositor] = [
      yield* scene.party("bank"),
      yield* scene.party("custodian"),
      yield* scene.party("depositor")
    ]
    const { venue } = scene.venue
    const by =
      (reader: Pick<typeof scene.venue, "submit">) =>
      (command: Ledger.Command): Effect.Effect<Ledger.Receipt, Ledger.SubmitError> =>
        reader.submit(Scene.submission(scene, command))
    const acts = {
      venue: by(scene.venue),
      issuer: by(issuer),
      bank: by(bank),
      custodian: by(custodian),
      depositor: by(depositor)
    }
    const instrument = { admin: issuer.party, id: "instrument" }
    const asset = { admin: bank.party, id: "cash" }
    const parties = { venue, issuer: issuer.party, holder: custodian.party }
    const terms = (minCover: string): Templates.ReserveTerms => ({
      minCover: decimal(minCover),
      assets: [{ asset, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null }]
    })
    const offered = yield* acts.venue(
      Templates.create(Templates.AdmissionOffer, {
        venue,
        registrar: issuer.party,
        instrumentId: instrument.id,
        holder: depositor.party,
        credentialId: "credential",
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      })
    )
    const credentialCid = left(
      yield* acts.depositor(
        Templates.exercise(Templates.AdmissionOffer, left(offered, "AdmissionOffer"), "Accept", {})
      ),
      "Credential"
    )
    const proposed = yield* acts.venue(
      Templates.create(Templates.ReserveProposal, {
        ...parties,
        reserveId: "reserve",
        instrument,
        unit: "EUR",
        decimals: 2,
        priceDecimals: 10,
        parValue: Decimal.one,
        initialSharePrice: null,
        loosenDelay: setup.loosenDelay,
        terms: terms(setup.minCover),
        accepted: []
      })
    )
    const signed = (party: typeof issuer.party, contractId: string) =>
      Templates.exercise(Templates.ReserveProposal, contractId, "Accept", { party })
    const half = yield* acts.issuer(signed(issuer.party, left(proposed, "ReserveProposal")))
    const whole = yield* acts.custodian(signed(custodian.party, left(half, "ReserveProposal")))

    /** Gives a party so much of the asset, which its registrar issues. */
    const give = (to: typeof bank, amount: string) =>
      Effect.gen(function* () {
        const issued = yield* acts.bank(
          Templates.createAndExercise(
            Templates.Holding,
            {
              registrar: bank.party,
              owner: bank.party,
              provider: venue,
              instrument: asset,
              amount: decimal(amount),
              restricted: false,
              lock: null,
              label: "",
              meta: {}
            },
            "OfferTransfer",
            { receiver: to.party, amount: decimal(amount), executeBefore: afterAMonth }
          )
        )
        const accept = Templates.exercise(
          Templates.TransferOffer,
          left(issued, "TransferOffer"),
          "Accept",
          { credentialCid: null }
        )
        return left(yield* by(to)(accept), "Holding")
      })

    const agreement = yield* acts.venue(
      Templates.create(Templates.LockAgreementProposal, {
        venue,
        lockAgreementId: "lock",
        reserveId: "reserve",
        asset,
        holder: custodian.party,
        amount: decimal("100"),
        accepted: []
      })
    )
    const agreed = yield* acts.bank(
      Templates.exercise(
        Templates.LockAgreementProposal,
        left(agreement, "LockAgreementProposal"),
        "Accept",
        { party: bank.party, reserveCid: null, holdingCids: [] }
      )
    )
    const locked = yield* acts.custodian(
      Templates.exercise(
        Templates.LockAgreementProposal,
        left(agreed, "LockAgreementProposal"),
        "Accept",
        {
          party: custodian.party,
          reserveCid: left(whole, "Reserve"),
          holdingCids: [yield* give(custodian, "100")]
        }
      )
    )
    return {
      scene,
      acts,
      parties: { ...parties, depositor: depositor.party },
      readers: [scene.venue, issuer, bank, custodian, depositor],
      depositor,
      instrument,
      asset,
      terms,
      give: (amount: string) => give(depositor, amount),
      credentialCid,
      agreementCid: left(locked, "LockAgreement"),
      state: { reserveCid: left(locked, "Reserve"), lockedCid: left(locked, "Holding") }
    }
  })

type ReserveScene = Effect.Success<ReturnType<typeof begun>>
type State = ReserveScene["state"]

/** The supply that a venue would state which hides every unit. */
const supply = Decimal.zero

const startMint = (
  { acts, parties, asset }: ReserveScene,
  state: State,
  mintId: string,
  deposit: string
) =>
  acts.venue(
    Templates.exercise(Templates.Reserve, state.reserveCid, "StartMint", {
      mintId,
      depositor: parties.depositor,
      asset,
      deposit: decimal(deposit),
      units: decimal(deposit),
      executeBefore: afterAMonth,
      supply,
      holdingCids: [state.lockedCid],
      pointCids: []
    })
  )

/** Starts a mint that its depositor accepts with an allocation. */
const readyMint = (begun: ReserveScene, mintId: string, deposit: string) =>
  Effect.gen(function* () {
    const { acts, parties, give, state } = begun
    const started = yield* startMint(begun, state, mintId, deposit)
    const allocated = yield* acts.depositor(
      Templates.exercise(Templates.Holding, yield* give(deposit), "Allocate", {
        allocationId: mintId,
        executor: parties.venue,
        receiver: parties.holder,
        amount: decimal(deposit),
        settleBefore: afterAMonth
      })
    )
    const accepted = yield* acts.depositor(
      Templates.exercise(Templates.MintOrder, left(started, "MintOrder"), "Accept", {
        allocationCid: left(allocated, "Allocation")
      })
    )
    return { orderCid: left(accepted, "MintOrder"), receipts: [started, allocated, accepted] }
  })

const settleMint = (begun: ReserveScene, state: State, orderCid: string) =>
  begun.acts.venue(
    Templates.exercise(Templates.MintOrder, orderCid, "Settle", {
      ...state,
      lockAgreementCid: begun.agreementCid,
      supply,
      credentialCid: begun.credentialCid,
      configurationCid: null,
      depositCredentialCid: null,
      intentCid: null,
      holdingCids: [state.lockedCid],
      pointCids: []
    })
  )

/** Contracts that a settled mint leaves: the reserve, and the holding that is locked for it. */
const stateAfter = (begun: ReserveScene, settled: ContractsReceipt): State => {
  const locked = Scene.createdIn(settled).findLast(
    ({ template, payload, inAcs }) =>
      inAcs && template.entity === "Holding" && payload["owner"] === begun.parties.holder
  )
  return { reserveCid: left(settled, "Reserve"), lockedCid: locked?.contractId ?? "" }
}

const mint = (begun: ReserveScene, mintId: string, deposit: string) =>
  Effect.gen(function* () {
    const { orderCid, receipts } = yield* readyMint(begun, mintId, deposit)
    const settled = yield* settleMint(begun, begun.state, orderCid)
    return { state: stateAfter(begun, settled), receipts: [...receipts, settled] }
  })

const refuses = (what: string, attempt: Effect.Effect<Ledger.Receipt, Ledger.SubmitError>) =>
  Effect.gen(function* () {
    expect(yield* Scene.failure(attempt), what).toMatchObject({ _tag: "Refused" })
  })

/** Has the issuer accept other terms; returns the reserve that is left. */
const amend = ({ acts, parties, terms }: ReserveScene, state: State, minCover: string) =>
  Effect.gen(function* () {
    const proposed = yield* acts.venue(
      Templates.create(Templates.AmendmentProposal, {
        ...parties,
        amendmentId: "amendment",
        reserveId: "reserve",
        terms: terms(minCover)
      })
    )
    const accepted = yield* acts.issuer(
      Templates.exercise(
        Templates.AmendmentProposal,
        left(proposed, "AmendmentProposal"),
        "Accept",
        { reserveCid: state.reserveCid }
      )
    )
    return { ...state, reserveCid: left(accepted, "Reserve") }
  })

const day = 86_400_000_000

/** Laws of the templates of reserves. */
export const laws: ReadonlyArray<Law> = grouped("reserves", [
  {
    id: "R1",
    name: "what is locked for a reserve is moved by no party alone, its holder and the venue among them",
    proves: "Locked assets back the units.",
    mistake: "A lock that its owner may lift alone.",
    check: Effect.gen(function* () {
      const scene = yield* begun({ minCover: "1", loosenDelay: day })
      const { state } = yield* mint(scene, "m1", "50")
      const { acts, parties } = scene
      const holding = <K extends "Transfer" | "Unlock" | "Allocate" | "OfferTransfer" | "Merge">(
        choice: K,
        argument: Templates.Argument<typeof Templates.Holding, K>
      ) => Templates.exercise(Templates.Holding, state.lockedCid, choice, argument)
      const amount = decimal("150")
      const to = parties.holder
      const attempts: ReadonlyArray<readonly [what: string, command: Ledger.Command]> = [
        ["a transfer", holding("Transfer", { newOwner: to, amount, credentialCid: null })],
        ["an unlock by its holder", holding("Unlock", { releasers: [to] })],
        ["an unlock by the venue", holding("Unlock", { releasers: [parties.venue] })],
        ["an unlock by both", holding("Unlock", { releasers: [to, parties.venue] })],
        [
          "an offer",
          holding("OfferTransfer", { receiver: to, amount, executeBefore: afterAMonth })
        ],
        [
          "an allocation",
          holding("Allocate", {
            allocationId: "a1",
            executor: parties.venue,
            receiver: parties.depositor,
            amount,
            settleBefore: afterAMonth
          })
        ]
      ]
      for (const [what, command] of attempts) {
        yield* refuses(`${what}, of the holder`, acts.custodian(command))
        yield* refuses(`${what}, of the venue`, acts.venue(command))
      }
    })
  },
  {
    id: "R2",
    name: "of two mints that fit only one at a time the second is refused, whatever supply the venue states",
    proves: "The reserve counts for itself what is outstanding.",
    mistake: "A count taken from the venue's argument.",
    check: Effect.gen(function* () {
      const scene = yield* begun({ minCover: "1.5", loosenDelay: day })
      const first = yield* readyMint(scene, "m1", "150")
      const second = yield* readyMint(scene, "m2", "150")
      const settled = yield* settleMint(scene, scene.state, first.orderCid)
      const state = stateAfter(scene, settled)
      yield* refuses(
        "the second on the reserve before",
        settleMint(scene, scene.state, second.orderCid)
      )
      yield* refuses("the second on the reserve after", settleMint(scene, state, second.orderCid))
      yield* refuses("the first again", settleMint(scene, state, first.orderCid))
      yield* refuses("a third that does not fit", startMint(scene, state, "m3", "150"))
      // One of 50 leaves 300 of what is locked against 200 outstanding: exactly the cover.
      yield* startMint(scene, state, "m4", "50")
    })
  },
  {
    id: "R3",
    name: "terms that loosen are in force from their instant and no earlier",
    proves: "Holders have the agreed time to leave.",
    mistake: "Pending terms taken for those in force.",
    check: Effect.gen(function* () {
      const waiting = yield* begun({ minCover: "1.5", loosenDelay: day })
      const pending = yield* amend(waiting, waiting.state, "1")
      yield* refuses("a mint that only other terms cover", startMint(waiting, pending, "m1", "300"))
      yield* startMint(waiting, pending, "m2", "200")
      const atOnce = yield* begun({ minCover: "1.5", loosenDelay: 0 })
      const inForce = yield* amend(atOnce, atOnce.state, "1")
      yield* startMint(atOnce, inForce, "m1", "300")
    })
  },
  {
    id: "R4",
    name: "terms that tighten are in force with their acceptance",
    proves: "A tightening protects from its signature on.",
    mistake: "Every amendment made to wait.",
    check: Effect.gen(function* () {
      const scene = yield* begun({ minCover: "1.5", loosenDelay: day })
      const { orderCid } = yield* readyMint(scene, "m1", "200")
      const state = yield* amend(scene, scene.state, "2")
      yield* refuses("a mint that was ready before", settleMint(scene, state, orderCid))
      yield* refuses("a mint that starts after", startMint(scene, state, "m2", "200"))
      yield* startMint(scene, state, "m3", "100")
    })
  },
  {
    id: "R5",
    name: "the active contracts of a reserve are the fold of its updates at each step, for each of its parties",
    proves: "Issuer, holder and venue see one reserve.",
    mistake: "A contract that is replaced and shown to one of them twice.",
    check: Effect.gen(function* () {
      const scene = yield* begun({ minCover: "1", loosenDelay: day })
      const { receipts } = yield* mint(scene, "m1", "50")
      for (const { offset } of receipts) {
        for (const reader of scene.readers) {
          const range = { after: scene.scene.since, through: offset }
          const updates = yield* Scene.transactions(reader, range)
          const active = yield* Scene.active(reader, offset)
          expect(active, "the active contracts after a step").toEqual(Scene.fold(updates))
        }
      }
    })
  },
  {
    id: "R6",
    name: "a depositor sees its order and never a lock agreement or an amendment of the reserve",
    proves: "A depositor learns nothing of the reserve's terms.",
    mistake: "Orders whose consequences are shown whole to their depositor.",
    check: Effect.gen(function* () {
      const scene = yield* begun({ minCover: "1", loosenDelay: day })
      const { state } = yield* mint(scene, "m1", "50")
      yield* amend(scene, state, "1.1")
      const through = yield* scene.scene.venue.ledgerEnd
      const seen = yield* Scene.transactions(scene.depositor, {
        after: scene.scene.since,
        through
      })
      const entities = new Set(
        seen.flatMap(({ events }) =>
          events.flatMap((event) => (event._tag === "Created" ? [event.template.entity] : []))
        )
      )
      expect(entities.has("MintOrder"), "whether it sees its order").toBe(true)
      for (const entity of ["LockAgreement", "LockAgreementProposal", "AmendmentProposal"]) {
        expect(entities.has(entity), `whether it sees a ${entity}`).toBe(false)
      }
    })
  }
])
