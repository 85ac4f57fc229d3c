/**
 * Results of operations: that of every kind is the record it is about, read as of its writing:
 * every member, the instants and the version too. The town by chance holds the same against
 * whatever its people do.
 */
import { Catalogue, Engine, Records } from "@bursar/engine-core"
import { WebhookSender } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import { world } from "../engine/world.ts"
import * as Webhooks from "../feeds/webhooks.ts"
import * as Results from "./results.ts"
import { stories } from "./stories.ts"

/** Kinds whose result is a record that no read shows, each with its reason. */
const unread: Readonly<Record<string, string>> = {
  "provision-settlement.propose": "no read shows a provision but as a proposal to be answered",
  "holder.force-transfer": "tells what one act has moved; its holder is another record",
  "instrument.force-transfer": "tells what one act has moved; its instrument is another record",
  "holder.recover": "tells what one act has moved; its holder is another record",
  "instrument.recover": "tells what one act has moved; its instrument is another record",
  "distribution.roll": "tells how many lines one act touched; their distribution is another record",
  "webhook.test": "tells what a receiver answered once, which is kept nowhere else"
}

/**
 * Comparisons that end otherwise: the webhook is removed, or the instant is before the ledger's
 * first update.
 */
const instead: Readonly<Record<string, string>> = {
  "webhook.register": "not read again: not-found",
  "webhook.remove": "not read again: not-found",
  "instrument.record": "not read again: before-horizon"
}

/** An engine whose clock moves on whenever it has come to rest: no two writes are of one instant. */
const engine = () => {
  const moving = Layer.effect(
    Engine.Engine,
    Effect.map(Engine.Engine, (self) =>
      Engine.Engine.of({ ...self, settle: Effect.tap(self.settle, () => TestClock.adjust(1)) })
    )
  )
  const sender = new Webhooks.Receivers().sender
  return Effect.provide(
    moving.pipe(
      Layer.provideMerge(world({ settings: Webhooks.settings })),
      Layer.provideMerge(Layer.succeed(WebhookSender.WebhookSender, sender))
    )
  )
}

/** Outcomes of comparisons by kind, over all stories. */
const outcomesByKind = new Map<string, Set<string>>()

/** Compares whatever the story has done. */
const compares = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(operations, { where: { state: ["succeeded"] }, limit: 1_000 })
  const wrong: Array<unknown> = []
  for (const { record } of rows) {
    const { kind, operationId } = record
    if (kind in unread) continue
    const { differences, how } = yield* Results.again(record)
    outcomesByKind.set(kind, (outcomesByKind.get(kind) ?? new Set()).add(how))
    for (const difference of differences) wrong.push([kind, operationId, ...difference])
  }
  assert.deepStrictEqual(wrong, [])
})

describe("what operations answer is their records", () => {
  it.effect.each(Object.entries(stories))("%s", ([, story]) =>
    Effect.andThen(story, compares).pipe(engine())
  )
})

describe("every kind of the table", () => {
  const kinds = Catalogue.operations.map(({ kind }) => kind)

  it.each(kinds.filter((kind) => !(kind in unread)))("%s has been compared", (kind) => {
    const hows = [...(outcomesByKind.get(kind) ?? [])]
    const others = hows.filter((how) => how !== "compared" && how !== instead[kind])
    assert.deepStrictEqual(others, [])
    assert.include(hows, kind === "webhook.remove" ? instead[kind] : "compared")
  })

  it.each(Object.entries(unread))("%s is the record of no read: %s", (kind) => {
    const operation = Catalogue.operations.find((one) => one.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    assert.deepStrictEqual(Results.showing(operation), [])
  })

  it.each(Object.keys(Results.places))("%s has no read of one record", (kind) => {
    const operation = Catalogue.operations.find((one) => one.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    const shapes = Catalogue.queries.filter(({ name }) => Results.showing(operation).includes(name))
    assert.deepStrictEqual(
      [...new Set(shapes.map(({ shape }) => shape))].filter((one) => one === "one"),
      []
    )
  })

  it("tells all that its record's read does, but for what the read adds of other records", () => {
    const less = Catalogue.operations.flatMap((operation) => {
      const beyond = Results.beyond(operation)
      return beyond.length === 0 ? [] : [[operation.kind, beyond.join(" ")]]
    })
    // Members that other records give of the instrument, and members that the read computes at its
    // own point.
    const around = "holderCount navFeedState paused holds primaryMarket admissionConsent"
    const computed = "fills legs basis"
    assert.deepStrictEqual(less, [
      ["instrument.record", `${around} issuerPowersAgreement`],
      ["dealing-cycle.open", computed],
      ["dealing-cycle.settle", computed],
      ["dealing-cycle.release", computed]
    ])
  })
})
