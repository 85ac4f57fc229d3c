/**
 * Kinds of movements by their causes, and the first movements of a venue on a ledger without its
 * beginning.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Participant } from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { HoldingV1 } from "#core/templates/Interfaces.ts"
import * as LotLookups from "#core/instruments/lot/LotLookups.ts"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import * as HoldingLookups from "#core/instruments/register/HoldingLookups.ts"
import { type Holding, holdings } from "#core/instruments/register/Holding.ts"
import * as MovementClaims from "#core/instruments/register/MovementClaimLookups.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import { contracts } from "#core/projection/Contract.ts"
import type { Whole } from "#core/projection/FromLedger.ts"
import * as Story from "../operations/story.ts"
import * as Venue from "../operations/venue.ts"
import { pinAt } from "./stored-lots.ts"

const at = Instant.of("2026-07-30T10:00:00Z")
const party = Party.make({ hint: "somebody", fingerprint: `1220${"ab".repeat(32)}` })
const act = { cause: { by: "request" as const, requestId: "r" }, now: at, offset: Offset.of(1) }

const whole = (
  template: Templates.Template,
  choice: string,
  arg: Ledger.LfRecord,
  contractId = "c1"
): Whole => ({
  act,
  venue: party,
  offset: Offset.of(2),
  updateId: "u",
  operationId: null,
  effectiveAt: at,
  ledgerTime: at,
  from: "update",
  events: [
    {
      _tag: "Exercised",
      nodeId: 3,
      lastDescendant: 9,
      contractId,
      template: template.typeRef,
      iface: Option.some(HoldingV1.typeRef),
      choice,
      arg,
      result: {},
      actors: [],
      consuming: true,
      witnesses: [],
      inAcs: true
    }
  ]
})

const received = (kind: string): Ledger.LfRecord => ({
  amount: "1.0000000000",
  reference: { kind, id: "x1" },
  configurationCid: null
})

const burnRequest = (kind: string): Ledger.LfRecord => ({
  registrar: party,
  provider: party,
  holder: party,
  custodian: null,
  instrument: { admin: party, id: "fund-a" },
  amount: "1.0000000000",
  holdingCid: "ab",
  reference: { kind, id: "x1" },
  requestedAt: "2026-07-30T10:00:00.000000Z",
  executeBefore: "2026-07-30T10:00:00.000000Z"
})

const claimed = (movement: Whole) =>
  Effect.map(MovementClaims.of(movement), (claims) =>
    claims.map(
      ({ nodeId, until, kinds, reference }) =>
        `${nodeId}–${until} ${kinds.into} ${kinds.outOf} ${kinds.across} ${
          reference === null ? "–" : `${reference.resourceKind} ${reference.id}`
        }`
    )
  )

describe("what a movement is named after", () => {
  const plain = "mint burn transfer –"
  const { Credential, Allocation, TransferOffer, PrimaryMarket, Holding, Lot } = Templates
  it.effect.each<[string, Whole, ReadonlyArray<string>]>([
    [
      "units received for a subscription",
      whole(Credential, "Receive", received("subscription")),
      ["3–9 subscription burn transfer subscription x1"]
    ],
    [
      "units received for a distribution",
      whole(Credential, "Receive", received("distribution")),
      ["3–9 distribution burn transfer distribution x1"]
    ],
    [
      "units received for a mint against a reserve",
      whole(Credential, "Receive", received("mint")),
      ["3–9 mint burn transfer mint x1"]
    ],
    [
      "units received for what the registrar alone knows name no record",
      whole(Credential, "Receive", received("constructor")),
      [`3–9 ${plain}`]
    ],
    [
      "an argument that does not decode names nothing",
      whole(Credential, "Receive", {}),
      [`3–9 ${plain}`]
    ],
    [
      "units burned in a cycle",
      whole(PrimaryMarket, "BurnFor", {
        redemptionId: "r7",
        holder: party,
        unitsAllocationCid: "ab",
        units: "1.0000000000"
      }),
      ["3–9 mint redemption transfer redemption r7"]
    ],
    ["an allocation", whole(Allocation, "Allocation_ExecuteTransfer", {}), [`3–9 ${plain}`]],
    ["an offer", whole(TransferOffer, "Accept", {}), [`3–9 ${plain}`]],
    ["a holding's own choice, whichever", whole(Holding, "Whatever", {}), [`3–9 ${plain}`]],
    ["what only contains acts is none", whole(Lot, "Settle", {}), []]
  ])("%s", ([, update, expected]) =>
    Effect.gen(function* () {
      assert.deepEqual(yield* claimed(update), [...expected])
    }).pipe(Venue.engine())
  )

  it.effect("a burn after the request it answers, and plainly where nobody knows that", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const open = (contractId: string, kind: string) =>
        records.open(
          contracts,
          {
            contractId,
            template: Templates.key(Templates.BurnRequest.typeRef),
            packageId: "p",
            payload: burnRequest(kind) as never,
            signatories: [party],
            observers: [],
            contractCreatedAt: at,
            createdOffset: Offset.of(1),
            archivedOffset: null
          },
          act
        )
      yield* records.transact(Effect.andThen(open("c1", "redemption"), open("c2", "other")))
      const burned = (contractId: string) =>
        claimed(whole(Templates.BurnRequest, "Accept", {}, contractId))
      assert.deepEqual(yield* burned("c1"), ["3–9 mint redemption transfer redemption x1"])
      assert.deepEqual(yield* burned("c2"), [`3–9 ${plain}`])
      assert.deepEqual(yield* burned("c3"), [`3–9 ${plain}`])
    }).pipe(Venue.engine())
  )
})

describe("a projection that began from a snapshot", () => {
  it.effect("has the supply of its holdings, where no movement recorded one", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Venue.act(cast.registrar, Story.configuration(cast.registrar, cast))
      const records = yield* Records
      const offset = yield* Venue.offsetNow
      for (const [contractId, amount] of [
        ["00aa", "100"],
        ["00ab", "50"]
      ] as const) {
        const holding = {
          contractId: contractId as Holding["contractId"],
          registrar: cast.registrar.party,
          instrumentId: "fund-a",
          owner: cast.registrar.party,
          amount: Decimal.of(amount),
          lock: null,
          endedOffset: null
        }
        yield* records.transact(records.open(holdings, holding, { ...act, offset }))
      }
      const { head } = (yield* Venue.register({ instrumentId: Story.instrumentId }, {})).value
      assert.deepEqual([head.supplyOnLedger, head.difference].map(Decimal.formatPlain), [
        "150",
        "-150"
      ])
    }).pipe(Venue.engine())
  )

  it.effect("counts what was there already, and tells only what moved since", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      const holding = (amount: string) =>
        Templates.create(Templates.Holding, {
          registrar: cast.registrar.party,
          owner: cast.registrar.party,
          provider: cast.venue,
          instrument: { admin: cast.registrar.party, id: "fund-a" },
          amount: Decimal.of(amount),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      yield* Venue.actUnseen(cast.registrar, Story.configuration(cast.registrar, cast))
      yield* Venue.actUnseen(cast.registrar, holding("100"), holding("50"))
      const participant = yield* Participant
      yield* participant.admin.prune(yield* participant.ledgerEnd)
      // The first update for the projection: it begins at the ledger's end, and reads later updates
      // only.
      yield* Venue.settle
      const id = { instrumentId: Story.instrumentId }
      const asset = { registrar: cast.registrar.party, instrumentId: "fund-a" }
      const counts = Effect.map(HoldingLookups.holderCounts([asset]), (found) => [
        ...found.values()
      ])
      const supply = (point: { readonly at?: Offset.Offset }) =>
        Effect.map(Venue.register(id, { point }), ({ value }) =>
          [value.head.supplyOnLedger, value.head.difference].map(Decimal.formatPlain)
        )
      assert.deepEqual((yield* Venue.list(MovementQueries.ofInstrument, id)).value, [])
      assert.deepEqual(yield* supply({}), ["150", "0"])
      assert.deepEqual(yield* counts, [1])
      const before = yield* Venue.offsetNow
      const lotsAt = (offset: number) =>
        Effect.map(
          LotLookups.openLotsOf({ ...asset, parties: [cast.registrar.party] }, pinAt(offset)),
          (found) =>
            [...found.values()]
              .flat()
              .map(({ cost, units, remaining }) =>
                [units, remaining].map(Decimal.formatPlain).concat(String(cost)).join(" ")
              )
        )
      // One lot of the party, from any number of holdings.
      assert.deepEqual(yield* lotsAt(before), ["150 150 null"])
      const [one] = yield* Effect.flatMap(Records, (records) =>
        records.list(holdings, { limit: 1 })
      )
      const burned = one?.record.contractId ?? ""
      yield* Venue.act(cast.registrar, Templates.exercise(Templates.Holding, burned, "Burn", {}))
      yield* Venue.act(cast.registrar, holding("7"))
      const moved = (yield* Venue.list(MovementQueries.ofInstrument, id)).value
      const left = Decimal.formatPlain(moved[0]?.balanceAfter ?? Decimal.zero)
      assert.include(["50", "100"], left)
      assert.deepEqual(
        moved.map(({ seq, kind }) => `${seq} ${kind}`),
        ["1 burn", "2 mint"]
      )
      assert.deepEqual(yield* supply({ at: before }), ["150", "0"])
      assert.deepEqual(yield* supply({}), [String(Number(left) + 7), "0"])
      assert.deepEqual(yield* lotsAt(before), ["150 150 null"])
      const after = yield* lotsAt(yield* Venue.offsetNow)
      assert.deepEqual(after, [`150 ${left} null`, "7 7 null"])
      const held = yield* HoldingLookups.heldBy({ ...asset, party: cast.registrar.party })
      assert.strictEqual(Decimal.formatPlain(held.units), String(Number(left) + 7))
      const { value } = yield* Venue.read(SeriesQueries.get, { ...id, metric: "supply" })
      const [day] = value.points
      assert.deepEqual(
        [day?.open, day?.max, day?.close].map((one) => Decimal.formatPlain(one ?? Decimal.zero)),
        ["150", "150", String(Number(left) + 7)]
      )
    }).pipe(Venue.engine())
  )
})
