/**
 * Forced moves: require an agreement, the holder's own consent, and an admitted receiver other than
 * the holder.
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
const { decimal, aborts } = Dealing

const noon = Instant.of("1970-01-02T12:00:00Z")
const at = (instant: Instant.Instant) => TestClock.setTime(Instant.toEpochMillis(instant))
const justBefore = Instant.of("1970-01-02T11:59:59.999Z")

const units = (floor: Pick<Dealing.Floor, "sessionOf" | "instrument">, hint: Dealing.Hint) =>
  Dealing.balance(floor.sessionOf(hint), floor.instrument)

const credential = (
  { say, sessionOf, instrument }: Powers.Scene,
  other: Partial<Templates.Payload<typeof Templates.Credential>> = {},
  issuer: Dealing.Hint = "venue"
) =>
  Effect.map(
    say(
      [issuer, "bob"],
      Templates.create(Templates.Credential, {
        issuer: sessionOf(issuer).party,
        holder: sessionOf("bob").party,
        registrar: sessionOf("registrar").party,
        instrumentId: instrument.id,
        credentialId: "another",
        claims: [],
        validFrom: null,
        validUntil: null,
        ...other
      })
    ),
    (receipt) => Dealing.sole(receipt, "Credential")
  )

const holdingOf = (
  { say, sessionOf, instrument }: Powers.Scene,
  other: Partial<Templates.Payload<typeof Templates.Holding>> = {}
) =>
  Effect.map(
    say(
      Dealing.hints,
      Templates.create(Templates.Holding, {
        registrar: sessionOf("registrar").party,
        owner: sessionOf("alice").party,
        provider: sessionOf("venue").party,
        instrument,
        amount: decimal("1000"),
        restricted: true,
        lock: null,
        label: "",
        meta: {},
        ...other
      })
    ),
    (receipt) => Dealing.sole(receipt, "Holding")
  )

describe("a forced move", () => {
  it.effect("moves what is named, and leaves the rest with the holder", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const more = yield* Dealing.mint(scene.floor, "alice", "50")
      const moved = Powers.outcomeOf(
        yield* scene.force({
          holdingCids: [scene.units, more],
          amounts: [decimal("300.5"), decimal("50")]
        })
      )
      expect(yield* units(scene, "bob")).toBe("350.5")
      expect(yield* units(scene, "alice")).toBe("699.5")
      const received = (yield* Dealing.holdingsOf(scene.sessionOf("bob"))).map(
        (one) => one.contractId
      )
      const [left] = yield* Dealing.holdingsOf(scene.sessionOf("alice"))
      expect(moved.units).toBe(decimal("350.5"))
      expect(moved.released).toEqual([])
      expect(moved.moved).toEqual([
        {
          holdingCid: scene.units,
          amount: decimal("300.5"),
          received: moved.moved[0]?.received,
          change: left?.contractId
        },
        {
          holdingCid: more,
          amount: decimal("50"),
          received: moved.moved[1]?.received,
          change: null
        }
      ])
      expect(moved.moved.map((one) => one.received).toSorted()).toEqual(received.toSorted())
    }).pipe(Effect.provide(ledger))
  )

  it.effect("as a recovery goes to the successor it names", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const successor = scene.sessionOf("bob").party
      yield* scene.force({ cause: { kind: "recovery", orderRef: null, successor } })
      expect(yield* units(scene, "bob")).toBe("1000")
      expect(yield* units(scene, "alice")).toBe("0")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("stands beside others in one transaction, and all of them fail with one", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const carols = yield* Dealing.mint(scene.floor, "carol", "70")
      const consentCid = yield* Powers.consent(scene.floor, "carol")
      const command = (other: Partial<Powers.Forcing>) =>
        Templates.exercise(
          Templates.IssuerPowersAgreement,
          scene.agreement,
          "ForceMove",
          scene.forcing(other)
        )
      const second = (amount: string) =>
        command({ consentCid, holdingCids: [carols], amounts: [decimal(amount)] })
      const tooMuch = World.act(scene.sessionOf("venue"), command({}), second("70.1"))
      expect(yield* Effect.flip(tooMuch)).toMatchObject(aborts("the holding has fewer units"))
      expect(yield* units(scene, "alice")).toBe("1000")
      yield* World.act(scene.sessionOf("venue"), command({}), second("70"))
      expect(yield* units(scene, "bob")).toBe("1070")
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "takes every instrument of a holder whose consent names none, one that came later too",
    () =>
      Effect.gen(function* () {
        const scene = yield* Powers.scene
        const instrument = { ...scene.instrument, id: "FUND-B" }
        const consentCid = yield* Powers.consent(scene.floor, "alice", { instrument: null })
        const agreement = yield* Powers.agree({ ...scene.floor, instrument })
        const holding = yield* holdingOf(scene, { instrument })
        const receiverCredentialCid = yield* credential(scene, { instrumentId: "FUND-B" })
        const forcing = { consentCid, holdingCids: [holding], receiverCredentialCid }
        yield* scene.force(forcing, agreement)
        yield* scene.force({ consentCid })
        expect(yield* units({ ...scene, instrument }, "bob")).toBe("1000")
        expect(yield* units(scene, "bob")).toBe("1000")
      }).pipe(Effect.provide(ledger))
  )

  it.effect("a consent to all instruments covers an issuer that it does not name", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const consentCid = yield* Powers.consent(scene.floor, "alice", {
        instrument: null,
        issuers: [scene.sessionOf("bank").party]
      })
      yield* scene.force({ consentCid })
      expect(yield* units(scene, "bob")).toBe("1000")
    }).pipe(Effect.provide(ledger))
  )

  const deadlines: ReadonlyArray<
    readonly [
      string,
      string,
      (
        scene: Powers.Scene
      ) => Effect.Effect<
        readonly [Partial<Powers.Forcing>, string],
        unknown,
        SimulatedLedger.Participant
      >
    ]
  > = [
    [
      "agreement",
      "the agreement is past its time",
      (scene) =>
        Effect.map(Powers.agree(scene.floor, { until: noon }), (agreement) => [{}, agreement])
    ],
    [
      "consent",
      "the consent is past its time",
      (scene) =>
        Effect.map(Powers.consent(scene.floor, "alice", { validUntil: noon }), (consentCid) => [
          { consentCid },
          scene.agreement
        ])
    ],
    [
      "receiver's credential",
      "the credential is not in force",
      (scene) =>
        Effect.map(credential(scene, { validUntil: noon }), (receiverCredentialCid) => [
          { receiverCredentialCid },
          scene.agreement
        ])
    ]
  ]
  it.effect.each(deadlines)(
    "never is made until its %s ends, and would be made at that instant",
    ([, message, arrange]) =>
      Effect.gen(function* () {
        const scene = yield* Powers.scene
        const [forcing, agreement] = yield* arrange(scene)
        const half = { ...forcing, amounts: [decimal("500")] }
        yield* at(justBefore)
        const first = Powers.outcomeOf(yield* scene.force(half, agreement))
        yield* at(noon)
        const rest = { ...half, holdingCids: [first.moved[0]?.change ?? ""] }
        const late = yield* Effect.flip(scene.force(rest, agreement))
        expect(late).toMatchObject(aborts(message))
      }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be made by a credential that is not in force yet", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const receiverCredentialCid = yield* credential(scene, { validFrom: noon })
      yield* at(justBefore)
      expect(yield* Effect.flip(scene.force({ receiverCredentialCid }))).toMatchObject(
        aborts("the credential is not in force")
      )
      yield* at(noon)
      yield* scene.force({ receiverCredentialCid })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("ERC-7943 and CMTAT: a move to the holder itself does not unfreeze its units", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const contractId = yield* Dealing.allocate(scene.floor, {
        owner: "alice",
        holding: scene.units,
        to: "fund",
        amount: "1000",
        reference: "red-1"
      })
      const [locked] = yield* Dealing.holdingsOf(scene.sessionOf("alice"))
      const holdingCid = locked?.contractId ?? ""
      const { party } = scene.sessionOf("alice")
      for (const cause of [
        Powers.forced,
        { kind: "recovery", orderRef: null, successor: party } as const
      ]) {
        const itself = scene.force({
          holdingCids: [holdingCid],
          receiverCredentialCid: scene.credentials.alice,
          cause,
          releases: [{ holdingCid, lockedBy: "allocation", contractId }]
        })
        expect(yield* Effect.flip(itself)).toMatchObject(
          aborts("a holder's units do not move to itself")
        )
      }
      expect(yield* Dealing.holdingsOf(scene.sessionOf("alice"))).toEqual([locked])
    }).pipe(Effect.provide(ledger))
  )
})

type Arranged = readonly [forcing: Partial<Powers.Forcing>, agreement?: string]
type Arrange = (
  scene: Powers.Scene
) => Effect.Effect<Arranged, unknown, SimulatedLedger.Participant>

const withOther =
  (other: (scene: Powers.Scene) => Partial<Powers.Forcing>): Arrange =>
  (scene) =>
    Effect.succeed([other(scene)])

const recovery = (successor: Powers.Forcing["cause"]["successor"]) =>
  ({ kind: "recovery", orderRef: null, successor }) as const

const consenting =
  (
    terms: (scene: Powers.Scene) => Partial<Powers.Offered>,
    holder: Dealing.Hint = "alice"
  ): Arrange =>
  (scene) =>
    Effect.map(Powers.consent(scene.floor, holder, terms(scene)), (consentCid) => [{ consentCid }])

const agreed =
  (terms: Partial<Powers.Agreement>, other: Partial<Powers.Forcing> = {}): Arrange =>
  (scene) =>
    Effect.map(Powers.agree(scene.floor, terms), (agreement) => [other, agreement])

const holding =
  (other: (scene: Powers.Scene) => Parameters<typeof holdingOf>[1]): Arrange =>
  (scene) =>
    Effect.map(holdingOf(scene, other(scene)), (contractId) => [{ holdingCids: [contractId] }])

const receiving =
  (other: (scene: Powers.Scene) => Parameters<typeof credential>[1]): Arrange =>
  (scene) =>
    Effect.map(credential(scene, other(scene)), (receiverCredentialCid) => [
      { receiverCredentialCid }
    ])

const wrong: ReadonlyArray<readonly [what: string, message: string, arrange: Arrange]> = [
  [
    "by a power that is not agreed",
    "the agreement gives no such power",
    agreed({ powers: ["recover"] })
  ],
  [
    "as a recovery where only forced transfers are agreed",
    "the agreement gives no such power",
    (scene) =>
      agreed(
        { powers: ["force-transfer"] },
        { cause: recovery(scene.sessionOf("bob").party) }
      )(scene)
  ],
  [
    "by a power that the holder has not consented to",
    "the holder has not consented to this power",
    consenting(() => ({ powers: ["recover"] }))
  ],
  [
    "as a recovery where the holder consented to forced transfers",
    "the holder has not consented to this power",
    (scene) =>
      Effect.map(
        Powers.consent(scene.floor, "alice", { powers: ["force-transfer"] }),
        (consentCid) => [{ consentCid, cause: recovery(scene.sessionOf("bob").party) }]
      )
  ],
  [
    "under a consent for another instrument",
    "the consent is for another instrument",
    consenting(({ instrument }) => ({ instrument: { ...instrument, id: "FUND-B" } }))
  ],
  [
    "under a consent for the instrument of that name on another register",
    "the consent is for another instrument",
    consenting(({ instrument, sessionOf }) => ({
      instrument: { ...instrument, admin: sessionOf("bank").party },
      registrars: [sessionOf("bank").party]
    }))
  ],
  [
    "for an issuer that the holder has not consented to",
    "the consent is to another issuer",
    consenting(({ sessionOf }) => ({ issuers: [sessionOf("bank").party] }))
  ],
  ["under another holder's consent", "a holding is another's", consenting(() => ({}), "carol")],
  [
    "under a consent given to another venue",
    "the consent is another venue's",
    (scene) =>
      Effect.map(
        Powers.consent(
          scene.floor,
          "alice",
          {
            venue: scene.sessionOf("custodian").party,
            instrument: null,
            issuers: [scene.sessionOf("venue").party]
          },
          "custodian"
        ),
        (consentCid) => [{ consentCid }]
      )
  ],
  [
    "without an order",
    "a forced transfer cites an order",
    withOther(() => ({ cause: { kind: "forced", orderRef: null, successor: null } }))
  ],
  [
    "by force, but to a successor",
    "a forced transfer has no successor",
    withOther(({ sessionOf }) => ({
      cause: { ...Powers.forced, successor: sessionOf("bob").party }
    }))
  ],
  [
    "to another than the successor",
    "the receiver is not the successor",
    withOther(({ sessionOf }) => ({ cause: recovery(sessionOf("carol").party) }))
  ],
  [
    "as a recovery to nobody's successor",
    "the receiver is not the successor",
    withOther(() => ({ cause: recovery(null) }))
  ],
  [
    "to a receiver whose credential is for another instrument",
    "the credential is for another instrument",
    receiving(() => ({ instrumentId: "FUND-B" }))
  ],
  [
    "to a receiver whose credential is for another register",
    "the credential is for another instrument",
    receiving(({ sessionOf }) => ({ registrar: sessionOf("bank").party }))
  ],
  [
    "from another holder",
    "a holding is another's",
    (scene) =>
      Effect.map(Dealing.mint(scene.floor, "carol", "1000"), (contractId) => [
        { holdingCids: [contractId] }
      ])
  ],
  [
    "of another instrument",
    "a holding is of another instrument",
    holding(({ instrument }) => ({ instrument: { ...instrument, id: "FUND-B" } }))
  ],
  [
    "of cash",
    "a holding is of another instrument",
    holding(({ cash, sessionOf }) => ({ instrument: cash, registrar: sessionOf("bank").party }))
  ],
  ["of nothing", "nothing to move", withOther(() => ({ holdingCids: [], amounts: [] }))],
  ["of no units", "the amount must be positive", withOther(() => ({ amounts: [decimal("0")] }))],
  [
    "of less than no units",
    "the amount must be positive",
    withOther(() => ({ amounts: [decimal("-1")] }))
  ],
  [
    "of an atom more than there is",
    "the holding has fewer units",
    withOther(() => ({ amounts: [decimal("1000.0000000001")] }))
  ],
  [
    "of a holding without its amount",
    "each holding has its amount",
    withOther(() => ({ amounts: [] }))
  ],
  [
    "of an amount without its holding",
    "each holding has its amount",
    withOther(() => ({ amounts: [decimal("1"), decimal("2")] }))
  ],
  [
    "of one holding twice",
    "a holding is named twice",
    withOther(({ units: one }) => ({
      holdingCids: [one, one],
      amounts: [decimal("1"), decimal("2")]
    }))
  ]
]

describe("a forced move of units is refused", () => {
  it.effect.each(wrong)("%s", ([, message, arrange]) =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const [other, agreement] = yield* arrange(scene)
      const tried = yield* Effect.flip(scene.force(other, agreement))
      expect(tried).toMatchObject(aborts(message))
      expect(yield* units(scene, "bob")).toBe("0")
    }).pipe(Effect.provide(ledger))
  )

  const gone: ReadonlyArray<
    readonly [
      string,
      (scene: Powers.Scene) => Effect.Effect<unknown, unknown, SimulatedLedger.Participant>
    ]
  > = [
    [
      "under a consent that was taken back",
      ({ sessionOf, consentCid }) =>
        World.act(
          sessionOf("alice"),
          Templates.exercise(Templates.IssuerPowersConsent, consentCid, "Withdraw", {})
        )
    ],
    [
      "under an agreement that its issuer has ended",
      ({ sessionOf, agreement }) =>
        World.act(
          sessionOf("fund"),
          Templates.exercise(Templates.IssuerPowersAgreement, agreement, "End", {
            party: sessionOf("fund").party
          })
        )
    ],
    [
      "under an agreement that its registrar has ended",
      ({ sessionOf, agreement }) =>
        World.act(
          sessionOf("registrar"),
          Templates.exercise(Templates.IssuerPowersAgreement, agreement, "End", {
            party: sessionOf("registrar").party
          })
        )
    ],
    [
      "to a receiver whose admission was revoked",
      ({ sessionOf, credentials }) =>
        World.act(
          sessionOf("venue"),
          Templates.exercise(Templates.Credential, credentials.bob, "Revoke", {})
        )
    ]
  ]
  it.effect.each(gone)("%s", ([, end]) =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      yield* end(scene)
      expect(yield* Effect.flip(scene.force())).toMatchObject({ code: "CONTRACT_NOT_FOUND" })
      expect(yield* units(scene, "bob")).toBe("0")
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "although the units ask nothing of their holders, to one whose credential has ended",
    () =>
      Effect.gen(function* () {
        const scene = yield* Powers.scene
        const free = yield* holdingOf(scene, { restricted: false })
        const receiverCredentialCid = yield* credential(scene, { validUntil: noon })
        yield* at(noon)
        const tried = scene.force({ holdingCids: [free], receiverCredentialCid })
        expect(yield* Effect.flip(tried)).toMatchObject(aborts("the credential is not in force"))
      }).pipe(Effect.provide(ledger))
  )

  it.effect("to a receiver that another venue admitted, shown to this one", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.scene
      const contractId = yield* credential(scene, {}, "custodian")
      const participant = yield* SimulatedLedger.Participant
      const createdEventBlob = yield* World.blobOf(
        scene.sessionOf("bob"),
        contractId,
        yield* participant.ledgerEnd,
        Templates.Credential.typeRef
      )
      const tried = scene.sessionOf("venue").submit({
        ...World.submission(
          Templates.exercise(
            Templates.IssuerPowersAgreement,
            scene.agreement,
            "ForceMove",
            scene.forcing({ receiverCredentialCid: contractId })
          )
        ),
        disclosed: [{ createdEventBlob, contractId }]
      })
      expect(yield* Effect.flip(tried)).toMatchObject(aborts("the credential is not the venue's"))
    }).pipe(Effect.provide(ledger))
  )
})
