/**
 * Kit of orders of a rebasing instrument, paid by wire: its terms, and the programs of oracle, custodian and
 * registrar, which plan by what the ledger shows and act with their own tokens.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { contracts } from "#core/projection/Contract.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import {
  AttestorBot,
  OracleBot,
  Orders,
  Policy,
  RegistrarBot,
  type World
} from "#adapters/ledger/wallets/index.ts"
import * as Calls from "../engine/calls.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { rebasingTerms } from "./instrumentBody.ts"

export const feeRate = "0.005"

/** Terms beside those of every other instrument: orders deal at the last index before their claim. */
export const terms = {
  ...rebasingTerms,
  unitDecimals: 6,
  holderCap: 100,
  pricing: "historic",
  fees: { subscription: 0.005, redemption: 0.005 },
  residual: "refund"
} as const

export type Terms = Readonly<Record<string, Calls.Json>>

export const opened = (change: Terms = {}, holderIds: ReadonlyArray<string> = ["h1"]) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened({ ...terms, ...change })
    const holders: Array<Cycles.Holder> = []
    for (const holderId of holderIds) holders.push(yield* Cycles.joins(stage, holderId))
    return { stage, holders, unitDecimals: Number(change["unitDecimals"] ?? terms.unitDecimals) }
  })
export type Scene = Effect.Success<ReturnType<typeof opened>>

/** The oracle publishes an index, valued at an instant or, by default, now. */
export const indexed = ({ stage }: Pick<Scene, "stage">, value: string, valuationTime?: string) =>
  Effect.gen(function* () {
    const at = valuationTime === undefined ? yield* Instant.now : Instant.of(valuationTime)
    yield* stage.oracle.act(
      Templates.create(Templates.OraclePoint, {
        ...{ oracle: stage.oracle.party, venue: stage.venue, fund: stage.fund.party },
        ...{ registrar: stage.registrar.party, attestors: [], instrumentId: "fund-a" },
        ...{ metric: "index", value: Decimal.of(value), valuationTime: at },
        ...{ period: null, withholdingRate: null, statementRef: null, corrects: null }
      })
    )
  })

/** Templates that the programs read. */
const read: ReadonlyArray<Templates.Template> = [
  Templates.OraclePoint,
  Templates.SubscriptionClaim,
  Templates.RedemptionClaim,
  Templates.PricedRedemption,
  Templates.MintRequest,
  Templates.BurnRequest,
  Templates.Holding,
  Templates.Credential,
  Templates.InstrumentConfiguration
]

type Contract = World.World["contracts"] extends ReadonlyMap<string, infer C> ? C : never

const worldOf = (by: Fund.Outsider) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(contracts, {
        where: { template: read.map(({ typeRef }) => Templates.key(typeRef)), active: ["true"] }
      })
    )
    const world: World.World = {
      party: by.party,
      now: yield* Instant.now,
      contracts: new Map(
        found.map(({ record }) => {
          const template = read.find(({ typeRef }) => Templates.key(typeRef) === record.template)
          if (template === undefined) throw new Error(`${record.template} is not read`)
          const { contractId, contractCreatedAt: createdAt, payload } = record
          const contract = { contractId, createdAt, template: template.typeRef, payload }
          return [contractId, contract as unknown as Contract]
        })
      )
    }
    return world
  })

/** Acts of one program at a time: the next is planned by what the ledger shows after the one before. */
const actsMax = 20

/** A party's program does what it plans, until it plans nothing more; returns the names of its acts. */
const runs = (by: Fund.Outsider, plan: World.Plan) =>
  Effect.gen(function* () {
    const names: Array<string> = []
    while (names.length < actsMax) {
      const [act] = plan(yield* worldOf(by))
      if (act === undefined) return names
      yield* by.act(...act.change.commands)
      names.push(act.name)
    }
    throw new Error(`the program of ${by.party} plans without an end`)
  })

const policy = Policy.acceptAll
const pricingOf = ({ unitDecimals }: Scene, pricing: "historic" | "forward") => [
  {
    instrumentId: "fund-a",
    unitDecimals,
    feeRate: Decimal.of(feeRate),
    redemptionFeeRate: Decimal.of(feeRate),
    pricing,
    cutOff: {
      time: "16:00" as never,
      days: ["monday", "tuesday", "wednesday", "thursday", "friday"] as const,
      zone: "America/New_York" as never
    }
  }
]

/** The oracle attests subscriptions and prices redemptions. */
export const prices = (scene: Scene, pricing: "historic" | "forward" = "historic") =>
  Effect.gen(function* () {
    const { oracle } = scene.stage
    const instruments = pricingOf(scene, pricing)
    const attested = yield* runs(oracle, AttestorBot.plan({ instruments, policy }))
    const priced = yield* runs(oracle, OracleBot.redemptions({ instruments, policy }))
    return [...attested, ...priced]
  })

/** The registrar mints and burns the requested units. */
export const registers = ({ stage }: Scene) =>
  runs(stage.registrar, RegistrarBot.plan({ instruments: [], policy }))

/** Every holder's side asks for the burns of its redemptions. */
export const asksBurns = ({ holders }: Scene) =>
  Effect.forEach(holders, (holder) =>
    runs(
      holder,
      Orders.burns(policy, () => true)
    )
  )

export const claims = (
  kind: "subscription" | "redemption",
  id: string,
  order: Calls.Json & object
) =>
  Calls.write(
    `${kind}.claim`,
    {},
    {
      [`${kind}Id`]: id,
      instrumentId: "fund-a",
      holderId: "h1",
      payment: "wire",
      ...(order as Readonly<Record<string, Calls.Json>>)
    }
  )

export const acts = (
  kind: "subscription" | "redemption",
  verb: string,
  { id, ...body }: { readonly id: string } & Terms
) => Calls.write(`${kind}.${verb}`, { [`${kind}Id`]: id }, body)

export const bought = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(subscriptions, id))
export const sold = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(redemptions, id))

/** Bank lines of an amount: credits of subscriptions, debits of redemptions and refunds. */
export const lines = (statementId: string, amount: Decimal.Decimal) => [
  { statementId, line: 1, amount: Number(Decimal.formatPlain(amount)) }
]

/** A priced subscription is delivered with its cash, minted by the registrar, and closed. */
export const buys = (scene: Scene, id: string) =>
  Effect.gen(function* () {
    const { cash } = yield* bought(id)
    const paid = lines(Bank.credits, cash.expected ?? Decimal.zero)
    const delivered = yield* acts("subscription", "deliver", { id, cash: paid })
    yield* registers(scene)
    const settled = yield* acts("subscription", "settle", { id })
    return [delivered.why, settled.why].filter((why) => why !== "")
  })

/** A priced redemption is burned by the registrar at its holder's request, and paid. */
export const sells = (scene: Scene, id: string) =>
  Effect.gen(function* () {
    yield* asksBurns(scene)
    yield* registers(scene)
    const { proceeds } = yield* sold(id)
    const paid = lines(Bank.debits, proceeds ?? Decimal.zero)
    const { why } = yield* acts("redemption", "settle", { id, cash: paid })
    return why === "" ? [] : [why]
  })

/** The precheck of an act on the instrument, as an operator reads it. */
export const prechecks = (
  act: "subscription.claim" | "redemption.claim",
  params: Omit<Partial<Parameters<typeof precheck>[0]>, "act" | "instrumentId">
) => precheck({ instrumentId: "fund-a" as never, act, holderId: "h1" as never, ...params })

const precheck = (params: (typeof PrecheckQueries.get.params)["Type"]) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.one(PrecheckQueries.get, {
      caller: Calls.operator,
      params,
      point: {}
    })
    const refusing = value.gates
      .filter(({ ok }) => !ok)
      .map(({ gate, check }) => `${gate} ${check}`)
    return { figures: value.figures, refusing }
  })
