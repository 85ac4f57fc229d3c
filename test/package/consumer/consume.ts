/** Program that installed the packages and uses every entry that they publish. */
import { Catalogue, Engine, FourEyes, Operations } from "@bursar/engine-core"
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Host from "@bursar/http-host"
import * as Client from "@bursar/http-host/client"
import * as PlainClient from "@bursar/http-host/plain-client"
import * as WebhookReceiver from "@bursar/http-host/webhook-receiver"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Venue } from "@bursar/storage-adapters/venue"
import * as Actors from "@bursar/storage-adapters/wallets"
import { Effect } from "effect"

// A module inside a package is not an entry: its import does not type-check, as it would not run.
// @ts-expect-error
export type Inside = typeof import("@bursar/engine-core/kernel/Decimal.js")
// @ts-expect-error
export type InsideToo = typeof import("@bursar/http-host/client/Call.js")
// @ts-expect-error
export type Source = typeof import("@bursar/engine-core/src/kernel/Decimal.ts")

// A client finds a write by its kind, with the types of its input.
const claim: "subscription.claim" = Client.operation("subscription.claim").kind
const holders: "holders.list" = Client.read("holders.list").name

// The plain client knows the body of each kind by its name alone.
const amount: PlainClient.BodyJson<"subscription.claim">["amount"] = "100.50"
const plain = PlainClient.make({ baseUrl: "http://127.0.0.1:1", authorization: "Bearer b" })

const program = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const door = yield* FourEyes
  const { settle } = yield* Engine.Engine
  const operation = (yield* Operations).of("instrument.record")
  const body = PlainJson.parseTrusted(
    PlainJson.stringify({
      instrumentId: "consumed",
      registrar: ledger.venue,
      valuation: "par",
      currency: "USD",
      unitDecimals: 2,
      holderCap: 1,
      distribution: {
        schedule: "none",
        withholding: 0,
        payoutDecimals: 2,
        payout: "cash"
      },
      cutOff: { time: "16:00", days: ["monday"], zone: "UTC" },
      pricing: "forward",
      fees: { subscription: 0, redemption: 0 },
      residual: "refund"
    })
  )
  const caller = { name: null, email: null, holderId: null, party: null } as const
  const identity = { requestId: "consumer", traceId: null, keyId: null }
  const { value } = yield* door.submit(operation, {
    caller: { sub: "maker", roles: ["operator"], ...caller },
    identity,
    key: null,
    path: "/v1/instruments",
    query: "",
    body,
    params: {}
  })
  const { actionKey } = JSON.parse(PlainJson.stringify(value))
  yield* door.approve({
    actionKey,
    caller: { sub: "approver", roles: ["approver"], ...caller },
    identity
  })
  yield* settle
  const half = Decimal.divideRounded(Decimal.one, Decimal.of("3"), {
    places: 10,
    rounding: "half-even"
  })
  return {
    operations: Catalogue.operations.length,
    template: Templates.Holding.typeRef.entity,
    third: Decimal.format(half),
    found: [claim, holders, amount, typeof plain.write],
    entries: [
      Host,
      Client,
      WebhookReceiver,
      Memory,
      NodeCrypto,
      Postgres,
      Embedded,
      SimulatedLedger,
      Door,
      Actors
    ].every((one) => Object.keys(one).length > 0)
  }
})

console.log(JSON.stringify(await Effect.runPromise(Effect.provide(program, Venue.memory()))))
