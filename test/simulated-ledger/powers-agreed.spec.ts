/**
 * Issuer powers: their agreement and the consent to them, the authority that each act needs, and
 * the parties that see a forced move.
 */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as Powers from "./powers.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts, unauthorized } = Dealing

const noon = Instant.of("1970-01-02T12:00:00Z")
const untilNoon = TestClock.setTime(Instant.toEpochMillis(noon))
const unfit = { _tag: "Refused", code: "TEMPLATE_PRECONDITION_VIOLATED" }

const { IssuerPowersAgreementProposal, IssuerPowersAgreement } = Templates
const { IssuerPowersConsentOffer, IssuerPowersConsent } = Templates

const grant = (contractId: string) =>
  Templates.exercise(IssuerPowersConsentOffer, contractId, "Accept", {})
const takeBack = (contractId: string) =>
  Templates.exercise(IssuerPowersConsent, contractId, "Withdraw", {})

describe("issuer powers", () => {
  it.effect("are agreed by the issuer and the registrar in either order", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      for (const [first, second] of [
        ["fund", "registrar"],
        ["registrar", "fund"]
      ] as const) {
        const proposal = yield* Powers.propose(floor, { until: Dealing.farDeadline })
        const once = yield* Powers.accept(floor, proposal, first)
        expect(World.created(once, "IssuerPowersAgreement")).toEqual([])
        const again = Dealing.sole(once, "IssuerPowersAgreementProposal")
        const twice = yield* Powers.accept(floor, again, second)
        expect(World.created(twice, "IssuerPowersAgreementProposal")).toEqual([])
        const contractId = Dealing.sole(twice, "IssuerPowersAgreement")
        const agreements = yield* Powers.all(floor.sessionOf("venue"), IssuerPowersAgreement)
        expect(agreements.find((one) => one.contractId === contractId)?.payload).toEqual(
          Powers.agreementOf(floor, { until: Dealing.farDeadline })
        )
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("are agreed by one word where the issuer is its own registrar", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const proposal = yield* Powers.propose(floor, { issuer: floor.sessionOf("registrar").party })
      const receipt = yield* Powers.accept(floor, proposal, "registrar")
      expect(World.created(receipt, "IssuerPowersAgreement")).toHaveLength(1)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be accepted twice by one, by somebody else, or when they are past", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const proposal = yield* Powers.propose(floor, { until: noon })
      expect(yield* Effect.flip(Powers.accept(floor, proposal, "venue"))).toMatchObject(
        aborts("only the issuer and the registrar accept")
      )
      const again = Dealing.sole(
        yield* Powers.accept(floor, proposal, "fund"),
        "IssuerPowersAgreementProposal"
      )
      expect(yield* Effect.flip(Powers.accept(floor, again, "fund"))).toMatchObject(
        aborts("this party has accepted before")
      )
      yield* untilNoon
      expect(yield* Effect.flip(Powers.accept(floor, again, "registrar"))).toMatchObject(
        aborts("the agreement would already be past")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be declined or ended by the venue", () =>
    Effect.gen(function* () {
      const { sessionOf, floor, agreement } = yield* Powers.scene
      const proposal = yield* Powers.propose(floor)
      const by = { party: sessionOf("venue").party }
      const declined = World.act(
        sessionOf("venue"),
        Templates.exercise(IssuerPowersAgreementProposal, proposal, "Decline", by)
      )
      expect(yield* Effect.flip(declined)).toMatchObject(
        aborts("only the issuer and the registrar decline")
      )
      const ended = World.act(
        sessionOf("venue"),
        Templates.exercise(IssuerPowersAgreement, agreement, "End", by)
      )
      expect(yield* Effect.flip(ended)).toMatchObject(
        aborts("only the issuer and the registrar end it")
      )
    }).pipe(Effect.provide(ledger))
  )

  const unfits: ReadonlyArray<
    readonly [string, (floor: Dealing.Floor) => Partial<Powers.Agreement>]
  > = [
    ["for nothing", () => ({ powers: [] })],
    ["twice the same", () => ({ powers: ["recover", "recover"] })],
    ["by another register's registrar", ({ sessionOf }) => ({ registrar: sessionOf("bank").party })]
  ]
  it.effect.each(unfits)("never would be proposed %s", ([, terms]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      expect(yield* Effect.flip(Powers.propose(floor, terms(floor)))).toMatchObject(unfit)
      const say = yield* Powers.together(floor.sessionOf)
      const agreed = Templates.create(
        IssuerPowersAgreement,
        Powers.agreementOf(floor, terms(floor))
      )
      expect(yield* Effect.flip(say(Dealing.hints, agreed))).toMatchObject(unfit)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be proposed as accepted by a stranger", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const say = yield* Powers.together(floor.sessionOf)
      const accepted = [floor.sessionOf("bank").party]
      const proposal = Templates.create(IssuerPowersAgreementProposal, {
        ...Powers.agreementOf(floor),
        accepted
      })
      expect(yield* Effect.flip(say(["venue", "bank"], proposal))).toMatchObject(unfit)
    }).pipe(Effect.provide(ledger))
  )
})

describe("a holder's consent", () => {
  it.effect("says what was offered", () =>
    Effect.gen(function* () {
      const { floor, sessionOf } = yield* Powers.scene
      yield* Powers.consent(floor, "bob", { validUntil: noon, expiresAt: noon, revocable: false })
      const [granted] = yield* Powers.all(sessionOf("bob"), IssuerPowersConsent)
      const { expiresAt: _, ...consented } = Powers.offered(floor, "bob", {
        validUntil: noon,
        revocable: false
      })
      expect(granted?.payload).toEqual(consented)
      expect(yield* Powers.all(sessionOf("bob"), IssuerPowersConsentOffer)).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is declined by the holder, and its offer taken back by the venue", () =>
    Effect.gen(function* () {
      const { floor, sessionOf } = yield* Powers.scene
      const first = yield* Powers.offer(floor, "bob")
      yield* World.act(
        sessionOf("bob"),
        Templates.exercise(IssuerPowersConsentOffer, first, "Decline", {})
      )
      const second = yield* Powers.offer(floor, "bob")
      yield* World.act(
        sessionOf("venue"),
        Templates.exercise(IssuerPowersConsentOffer, second, "Withdraw", {})
      )
      for (const contractId of [first, second]) {
        expect(yield* Effect.flip(World.act(sessionOf("bob"), grant(contractId)))).toMatchObject({
          code: "CONTRACT_NOT_FOUND"
        })
      }
    }).pipe(Effect.provide(ledger))
  )

  const late: ReadonlyArray<readonly [string, Partial<Powers.Offered>, string]> = [
    ["its offer ran out", { expiresAt: noon }, "the offer is past its time"],
    ["it would allow nothing", { validUntil: noon }, "the consent would already be past"]
  ]
  it.effect.each(late)("never would be granted when %s", ([, terms, message]) =>
    Effect.gen(function* () {
      const { floor, sessionOf } = yield* Powers.scene
      const contractId = yield* Powers.offer(floor, "bob", terms)
      yield* untilNoon
      expect(yield* Effect.flip(World.act(sessionOf("bob"), grant(contractId)))).toMatchObject(
        aborts(message)
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "never would be taken back by the holder although the agreement does not allow it",
    () =>
      Effect.gen(function* () {
        const { floor, sessionOf } = yield* Powers.scene
        const kept = yield* Powers.consent(floor, "bob", { revocable: false })
        expect(yield* Effect.flip(World.act(sessionOf("bob"), takeBack(kept)))).toMatchObject(
          aborts("the consent is not the holder's to take back")
        )
        const free = yield* Powers.consent(floor, "bob", { revocable: true })
        yield* World.act(sessionOf("bob"), takeBack(free))
        const left = yield* Powers.all(sessionOf("bob"), IssuerPowersConsent)
        expect(left.map(({ contractId }) => contractId)).toEqual([kept])
      }).pipe(Effect.provide(ledger))
  )

  const unfits: ReadonlyArray<
    readonly [string, (floor: Dealing.Floor) => Partial<Powers.Offered>]
  > = [
    ["to no power", () => ({ powers: [] })],
    ["to one power twice", () => ({ powers: ["force-transfer", "force-transfer"] })],
    ["to no issuer", () => ({ issuers: [] })],
    ["to no issuer of any instrument", () => ({ instrument: null, issuers: [] })],
    ["to no registrar of any instrument", () => ({ instrument: null, registrars: [] })],
    [
      "to another register's registrar",
      ({ sessionOf }) => ({ registrars: [sessionOf("bank").party] })
    ],
    [
      "to two issuers of one instrument",
      ({ sessionOf }) => ({ issuers: [sessionOf("fund").party, sessionOf("bank").party] })
    ],
    [
      "to two registrars of one instrument",
      ({ sessionOf }) => ({ registrars: [sessionOf("registrar").party, sessionOf("bank").party] })
    ]
  ]
  it.effect.each(unfits)("never would be asked for and given %s", ([, terms]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const say = yield* Powers.together(floor.sessionOf)
      const offer = Powers.offered(floor, "alice", terms(floor))
      const { expiresAt: _, ...consent } = offer
      for (const command of [
        Templates.create(IssuerPowersConsentOffer, offer),
        Templates.create(IssuerPowersConsent, consent)
      ]) {
        expect(yield* Effect.flip(say(["venue", "alice"], command))).toMatchObject(unfit)
      }
    }).pipe(Effect.provide(ledger))
  )
})

const scene = Effect.gen(function* () {
  const at = yield* Powers.scene
  const allocation = yield* Dealing.allocate(at.floor, {
    owner: "alice",
    holding: at.units,
    to: "fund",
    amount: "400",
    reference: "red-1"
  })
  const held = yield* Dealing.holdingsOf(at.sessionOf("alice"))
  const holdingCid = held.find(({ lock }) => lock === null)?.contractId ?? ""
  const locked = held.find(({ lock }) => lock !== null)?.contractId ?? ""
  const portion = { holdingCid, amount: decimal("600") }
  const using: Powers.Using = {
    instrument: at.instrument,
    issuer: at.sessionOf("fund").party,
    power: "force-transfer",
    portions: [portion],
    receiverCredentialCid: at.credentials.bob,
    releases: []
  }
  return {
    ...at,
    allocation,
    locked,
    free: holdingCid,
    using,
    proposal: yield* Powers.propose(at.floor),
    offer: yield* Powers.offer(at.floor, "carol")
  }
})
type Scene = Effect.Success<typeof scene>

const move = (at: Scene) =>
  at.forcing({
    holdingCids: [at.locked, at.free],
    amounts: [decimal("400"), decimal("600")],
    releases: [{ holdingCid: at.locked, lockedBy: "allocation", contractId: at.allocation }]
  })

const rows: ReadonlyArray<
  readonly [what: string, command: (at: Scene) => Templates.Command, alone: Dealing.Hint | null]
> = [
  [
    "makes an agreement",
    ({ floor }) => Templates.create(IssuerPowersAgreement, Powers.agreementOf(floor)),
    null
  ],
  [
    "proposes powers that the fund is said to have accepted",
    ({ floor, sessionOf }) =>
      Templates.create(IssuerPowersAgreementProposal, {
        ...Powers.agreementOf(floor),
        accepted: [sessionOf("fund").party]
      }),
    null
  ],
  [
    "accepts powers in the registrar's place",
    ({ proposal, sessionOf }) =>
      Templates.exercise(IssuerPowersAgreementProposal, proposal, "Accept", {
        party: sessionOf("registrar").party
      }),
    "registrar"
  ],
  [
    "declines powers in the fund's place",
    ({ proposal, sessionOf }) =>
      Templates.exercise(IssuerPowersAgreementProposal, proposal, "Decline", {
        party: sessionOf("fund").party
      }),
    "fund"
  ],
  [
    "takes back what the venue proposed",
    ({ proposal }) => Templates.exercise(IssuerPowersAgreementProposal, proposal, "Withdraw", {}),
    "venue"
  ],
  [
    "ends an agreement in the fund's place",
    ({ agreement, sessionOf }) =>
      Templates.exercise(IssuerPowersAgreement, agreement, "End", {
        party: sessionOf("fund").party
      }),
    "fund"
  ],
  [
    "forces a move in the venue's place",
    (at) => Templates.exercise(IssuerPowersAgreement, at.agreement, "ForceMove", move(at)),
    "venue"
  ],
  [
    "uses a consent outside a forced move",
    ({ consentCid, using }) => Templates.exercise(IssuerPowersConsent, consentCid, "Use", using),
    null
  ],
  [
    "consents in a holder's place",
    ({ floor }) => {
      const { expiresAt: _, ...consent } = Powers.offered(floor, "carol")
      return Templates.create(IssuerPowersConsent, consent)
    },
    null
  ],
  ["accepts an offer in a holder's place", ({ offer }) => grant(offer), "carol"],
  [
    "declines an offer in a holder's place",
    ({ offer }) => Templates.exercise(IssuerPowersConsentOffer, offer, "Decline", {}),
    "carol"
  ],
  [
    "takes back an offer in the venue's place",
    ({ offer }) => Templates.exercise(IssuerPowersConsentOffer, offer, "Withdraw", {}),
    "venue"
  ],
  ["takes back a holder's consent", ({ consentCid }) => takeBack(consentCid), "alice"],
  [
    "receives a holder's units by the receiver's credential",
    ({ credentials, free, sessionOf }) =>
      Templates.exercise(Templates.Credential, credentials.bob, "ReceiveTransfer", {
        holdingCid: free,
        sender: sessionOf("alice").party,
        amount: decimal("600")
      }),
    null
  ]
]

describe("nobody whose word it does not take", () => {
  it.effect.each(rows)("%s", ([, command, alone]) =>
    Effect.gen(function* () {
      const at = yield* scene
      for (const hint of Dealing.hints) {
        if (hint === alone) continue
        const tried = yield* Effect.flip(World.act(at.sessionOf(hint), command(at)))
        // A party that does not see the contract learns only that it is not found.
        expect(
          ["DAML_AUTHORIZATION_ERROR", "CONTRACT_NOT_FOUND"],
          `${hint}: ${"cause" in tried ? tried.cause : tried._tag}`
        ).toContain("code" in tried ? tried.code : tried._tag)
        if (hint === "venue") expect(tried).toMatchObject(unauthorized)
      }
      if (alone !== null) yield* World.act(at.sessionOf(alone), command(at))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("uses a consent with one word of three missing", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const use = Templates.exercise(IssuerPowersConsent, at.consentCid, "Use", at.using)
      const three = ["venue", "fund", "registrar"] as const
      for (const missing of three) {
        const others = [...three.filter((hint) => hint !== missing), "bob"] as const
        expect(yield* Effect.flip(at.say(others, use)), missing).toMatchObject(unauthorized)
      }
      yield* at.say(three, use)
      expect(yield* Dealing.balance(at.sessionOf("bob"), at.instrument)).toBe("600")
    }).pipe(Effect.provide(ledger))
  )

  const unconsented: ReadonlyArray<readonly [string, (at: Scene) => Templates.Command]> = [
    [
      "moves a holder's units",
      ({ free, sessionOf, credentials }) =>
        Templates.exercise(Templates.Holding, free, "Transfer", {
          newOwner: sessionOf("bob").party,
          amount: decimal("1"),
          credentialCid: credentials.bob
        })
    ],
    [
      "sends a holder's units through the receiver's credential",
      ({ free, sessionOf, credentials }) =>
        Templates.exercise(Templates.Credential, credentials.bob, "ReceiveTransfer", {
          holdingCid: free,
          sender: sessionOf("alice").party,
          amount: decimal("1")
        })
    ],
    [
      "takes back what a holder allocated",
      ({ allocation }) =>
        Templates.exercise(Templates.Allocation, allocation, "Allocation_Withdraw", {})
    ],
    [
      "unlocks a holder's units",
      ({ locked, sessionOf }) =>
        Templates.exercise(Templates.Holding, locked, "Unlock", {
          releasers: [sessionOf("alice").party, sessionOf("registrar").party]
        })
    ]
  ]
  it.effect.each(unconsented)(
    "without the holder, were it the venue, the issuer, the registrar and the receiver together, %s",
    ([, command]) =>
      Effect.gen(function* () {
        const at = yield* scene
        const all = ["venue", "fund", "registrar", "bob"] as const
        expect(yield* Effect.flip(at.say(all, command(at)))).toMatchObject(unauthorized)
      }).pipe(Effect.provide(ledger))
  )
})

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one))

describe("of a forced move", () => {
  const forced = Effect.gen(function* () {
    const at = yield* scene
    const receipt = yield* World.act(
      at.sessionOf("venue"),
      Templates.exercise(IssuerPowersAgreement, at.agreement, "ForceMove", move(at))
    )
    const nodesShownTo = (hint: Dealing.Hint) => World.nodes(at.sessionOf(hint), receipt)
    const choices = (hint: Dealing.Hint) =>
      Effect.map(nodesShownTo(hint), (events) =>
        events.flatMap((event) => (event._tag === "Exercised" ? [event.choice] : []))
      )
    return { seen: nodesShownTo, choices }
  })
  const transfer = ["ReceiveTransfer", "Transfer"]
  const used = ["Use", "Allocation_Withdraw", "Unlock", ...transfer, ...transfer]

  it.effect("its order and its agreement are not shown to the holder", () =>
    Effect.gen(function* () {
      const { seen, choices } = yield* forced
      expect(yield* choices("alice")).toEqual(used)
      const shownText = textOf(yield* seen("alice"))
      for (const word of ["ForceMove", Powers.digest, "orderRef", "forced"]) {
        expect(shownText).not.toContain(word)
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("the receiver is shown only that it received", () =>
    Effect.gen(function* () {
      const { seen, choices } = yield* forced
      expect(yield* choices("bob")).toEqual([...transfer, ...transfer])
      const shownText = textOf(yield* seen("bob"))
      for (const word of ["IssuerPowers", Powers.digest, "Allocation", "red-1", "Use"]) {
        expect(shownText).not.toContain(word)
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("the venue, the issuer and the registrar are shown all", () =>
    Effect.gen(function* () {
      const { choices } = yield* forced
      for (const hint of ["venue", "fund", "registrar"] as const) {
        expect(yield* choices(hint)).toEqual(["ForceMove", ...used])
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("nobody else is shown anything", () =>
    Effect.gen(function* () {
      const { seen } = yield* forced
      for (const hint of ["oracle", "attestor", "bank", "custodian", "carol"] as const) {
        expect(yield* seen(hint), hint).toEqual([])
      }
    }).pipe(Effect.provide(ledger))
  )

  const sees: ReadonlyArray<readonly [string, Templates.Template, ReadonlyArray<Dealing.Hint>]> = [
    ["a proposal", IssuerPowersAgreementProposal, ["venue", "registrar", "fund"]],
    ["the agreement", IssuerPowersAgreement, ["venue", "registrar", "fund"]],
    ["another holder's offer", IssuerPowersConsentOffer, ["venue", "registrar", "fund", "carol"]],
    ["another holder's consent", IssuerPowersConsent, ["venue", "registrar", "fund", "alice"]]
  ]
  it.effect.each(sees)("%s are seen by those whom they concern alone", ([, template, expected]) =>
    Effect.gen(function* () {
      const { sessionOf } = yield* scene
      const found: Array<Dealing.Hint> = []
      for (const hint of Dealing.hints) {
        if ((yield* Powers.all(sessionOf(hint), template)).length > 0) found.push(hint)
      }
      expect(found).toEqual(expected)
    }).pipe(Effect.provide(ledger))
  )
})
