/** Two holders with the same records each, copied from one real story. */
import { Catalogue, Records } from "@bursar/engine-core"
import { type Collection, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { distributions, shownDistributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines, lineIdOf } from "#core/distributions/distribution/DistributionLine.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Calls from "../../engine/calls.ts"
import { world } from "../../engine/world.ts"
import * as Given from "../../machines/distributions.ts"
import * as Reserves from "../../machines/reserves.ts"
import { party } from "../../machines/subscriptions.ts"
import * as Fund from "../../operations/fund.ts"
import type { Venue } from "../venue.ts"

/** A record as the store keeps it, and the collection it belongs to. */
interface Kept {
  readonly collection: Collection.Collection
  readonly body: string
}

/** Of each holder: its id, its orders, and the hint of its party; of both: the instrument. */
export const holderIds = { a: "holder-aaaa", b: "holder-bbbb" } as const
export const orderIds = { a: ["order-a1", "order-a2"], b: ["order-b1", "order-b2"] } as const
export const instrumentId = "fund-a"
/** A cycle that neither has an order in, and a standing settlement that both are parties of. */
export const cycleId = "cycle-1"
export const standingSettlementId = "standing-1"
/** A distribution in which each holder has a line. */
export const distributionId = "d-july"
export const lineIds = { a: `${distributionId}.1`, b: `${distributionId}.2` } as const

/**
 * Story of one holder's subscription and its instrument, with every record that belongs to them.
 */
const story = Effect.gen(function* () {
  const stage = yield* Fund.opened()
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  const order = { subscriptionId: "s1", instrumentId, holderId: "h1", payment: "wire", amount: 100 }
  yield* Calls.write("subscription.claim", {}, order)
  // A credential offer that waits for the venue's answer and belongs to the holder.
  yield* Fund.signs(stage)
  const credential = yield* Fund.newestContract(Templates.Credential)
  yield* stage.registrar.act(
    Templates.exercise(Templates.Credential, credential.cid, "Receive", {
      amount: Decimal.of("1000"),
      reference: { kind: "opening", id: "opening" },
      configurationCid: null
    })
  )
  const back = { redemptionId: "s1", instrumentId, holderId: "h1", payment: "wire", units: 10 }
  yield* Calls.write("redemption.claim", {}, back)
  yield* Calls.write("dealing-cycle.open", {}, { cycleId, instrumentId })
  const asset = { admin: stage.bank.party, id: "USD" }
  const funding = [{ party: stage.holder.party, asset, amount: 1000 }]
  yield* Calls.write(
    "standing-settlement.open",
    {},
    { standingSettlementId, instrumentId, funding }
  )
  const records = yield* Records
  const kept: Array<Kept> = []
  for (const collection of Catalogue.collections) {
    for (const { record } of yield* records.list(collection, { limit: 100 })) {
      const body = Codecs.of(collection).encodeRecord(record)
      if (['"h1"', '"s1"', `"${instrumentId}"`].some((id) => body.includes(id))) {
        kept.push({ collection, body })
      }
    }
  }
  return kept
})

let storyRun: Promise<ReadonlyArray<Kept>> | undefined
const kept = () => {
  storyRun ??= Effect.runPromise(
    story.pipe(Effect.provide(world()), Effect.scoped, Effect.provide(TestClock.layer()))
  )
  return storyRun
}

const renamed = (body: string, names: { readonly holder: "a" | "b"; readonly order: string }) =>
  body
    .replaceAll('"h1"', `"${holderIds[names.holder]}"`)
    .replaceAll('"s1"', `"${names.order}"`)
    .replaceAll("holder::", `holder-${names.holder}::`)

/** A record whose id does not name its holder exists once for each holder. */
const apart = ({ collection, body }: Kept, holder: "a" | "b"): string => {
  const id = collection.id(Codecs.of(collection).decodeRecord(body))
  const made = body.includes('"h1"') && /^([0-9a-f]{32,}|[a-z]+_[0-9A-Z]{26})$/.test(id)
  const last = id.includes("_") ? holder.toUpperCase() : holder
  return made ? body.replaceAll(id, `${id.slice(0, -1)}${last}`) : body
}

/** Puts both holders' records into a venue; answers the collections that hold some. */
export const move = async (venue: Venue): Promise<ReadonlyArray<string>> => {
  const all = await kept()
  const written = new Map<string, { readonly collection: Collection.Collection; record: unknown }>()
  for (const one of all) {
    const { collection } = one
    for (const holder of ["a", "b"] as const) {
      for (const order of orderIds[holder]) {
        const record = Codecs.of(collection).decodeRecord(
          renamed(apart(one, holder), { holder, order })
        )
        written.set(`${collection.name}/${collection.id(record)}`, { collection, record })
      }
    }
  }
  await venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
      yield* records.transact(
        Effect.gen(function* () {
          for (const { collection, record } of written.values()) {
            yield* records.open(collection, record, act)
          }
          for (const collection of [distributions, shownDistributions]) {
            yield* records.open(collection, Given.distribution(), act)
          }
          for (const [nth, holder] of (["a", "b"] as const).entries()) {
            const holderId = holderIds[holder]
            const lineId = lineIdOf(distributionId, nth + 1)
            const line = Given.line([], { lineId, number: nth + 1, holderId })
            yield* records.open(distributionLines, line, act)
          }
          yield* Reserves.plant({ issuer: party("nobody"), instrumentId })
        })
      )
    })
  )
  return [...new Set([...written.values()].map(({ collection }) => collection.name))]
}
