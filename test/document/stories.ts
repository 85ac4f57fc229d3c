/** Stories whose bodies and answers the document shows. */
import type { Engine, settingsDefaults } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import type { Bulk, Ledger } from "@bursar/engine-core/ports"
import type * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import * as Bank from "../operations/bank.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Intakes from "../operations/intakes.ts"
import * as Powers from "../operations/powers.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Writing from "../operations/stories.ts"

/** Calls the host of the story by HTTP. */
export type Ask = (call: {
  /** Role of the caller, and its subject where it is not the first of the role: `approver/anna`. */
  readonly as: string
  readonly path: string
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}) => Effect.Effect<{ readonly status: number; readonly text: string }>

export interface Host {
  readonly ask: Ask
  /** Notes a body or an answer under its name, such as `approvals.reject 200`. */
  readonly met: (name: string, text: string) => Effect.Effect<void>
}

/** Services of an engine in memory. */
type Needs = Engine.Services | Bulk | Ledger.Ledger | SimulatedLedger.Participant

export interface Story {
  readonly settings?: Partial<typeof settingsDefaults>
  readonly play: (host: Host) => Effect.Effect<unknown, unknown, Needs>
}

/** Calls, and notes the body and the answer under the name of the route. */
const noted = (host: Host, name: string, call: Parameters<Ask>[0]) =>
  Effect.gen(function* () {
    const { status, text } = yield* host.ask({ method: "POST", ...call })
    if (status >= 300) throw new Error(`${name} answers ${status}: ${text}`)
    yield* host.met(`${name} ${status}`, text)
    return JSON.parse(text)
  })

const secret = "whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8="
const webhook = (webhookId: string) =>
  JSON.stringify({
    webhookId,
    url: "https://receiver.example/bursar",
    events: ["reconciliation.hold"],
    secret
  })

/** Two people agree on a webhook, and on another one they do not. */
const agreeing: Story = {
  play: (host) =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const register = (webhookId: string) =>
        host.ask({
          as: "operator",
          method: "POST",
          path: "/v1/webhooks",
          body: webhook(webhookId)
        })
      yield* host.met("webhook.register body", webhook("wh-1"))
      const first = JSON.parse((yield* register("wh-1")).text)
      const approve = { as: "approver", path: `/v1/approvals/${first.actionKey}:approve` }
      const key = { "idempotency-key": "0d6a1f2e-8c1c-4a5e-9b0a-6d2f5f0c9a11" }
      yield* host.met("approvals.approve body", "{}")
      yield* noted(host, "approvals.approve", { ...approve, body: "{}", headers: key })
      yield* Calls.settle
      yield* noted(host, "approvals.approve", { ...approve, body: "{}", headers: key })
      const second = JSON.parse((yield* register("wh-2")).text)
      const body = JSON.stringify({ reason: "One webhook is enough." })
      yield* host.met("approvals.reject body", body)
      yield* noted(host, "approvals.reject", {
        as: "approver",
        path: `/v1/approvals/${second.actionKey}:reject`,
        body
      })
      const post = { as: "operator", method: "POST" }
      const other = { ...post, path: "/v1/webhooks" }
      const refused: ReadonlyArray<Parameters<Ask>[0]> = [
        { as: "nobody", path: "/v1/holders" },
        { as: "feed", path: "/v1/holders" },
        { as: "auditor", path: "/v1/holders?limit=0" },
        { as: "auditor", path: "/v1/holders/h9" },
        { as: "auditor", path: "/v1/holders", headers: { accept: "image/png" } },
        { as: "auditor", path: `/v1/holders?after=${"a".repeat(20_000)}` },
        { as: "auditor", path: "/v1/holders", headers: { "x-long": "a".repeat(15_000) } },
        { as: "auditor", path: "/v1/holders?at=9007199254740991" },
        { as: "auditor", path: "/v1/holders?asOf=1970-01-01T00:00:00Z" },
        { ...other, body: "<a/>", headers: { "content-type": "text/xml" } },
        { ...other, body: JSON.stringify({ webhookId: "a".repeat(1_100_000) }) },
        { ...other, as: "operator/olga", body: webhook("wh-1") },
        { ...other, as: "operator/olga", body: webhook("wh-3"), headers: key },
        { ...other, as: "operator/olga", body: webhook("wh-4"), headers: key },
        { ...approve, method: "POST", as: "approver/ada" },
        { ...approve, method: "POST", as: "approver+auditor/ada" },
        { ...post, as: "approver/ada", path: `/v1/approvals/${second.actionKey}:approve` },
        {
          ...post,
          path: "/v1/instruments/fund-a/policy",
          headers: { "if-match": '"9"' },
          body: JSON.stringify({ minimumSubscription: 10 })
        }
      ]
      for (const call of refused) {
        const { status, text } = yield* host.ask(call)
        if (status < 400 && call.headers !== key) throw new Error(`${call.path}: ${text}`)
      }
      const maker = JSON.parse(
        (yield* host.ask({ ...other, as: "operator+approver/otto", body: webhook("wh-5") })).text
      )
      yield* host.ask({
        ...post,
        as: "operator+approver/otto",
        path: `/v1/approvals/${maker.actionKey}:approve`
      })
    })
}

const csv = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ".",
  group: null,
  dateFormat: "yyyy-MM-dd",
  columns: { account: "account", quantity: "quantity" }
} as const

/** A registrar's list of holdings, a run that compares it, and what it finds. */
const stating: Story = {
  settings: {
    ...Intakes.sealing,
    statementSources: [
      Intakes.source({ externalSourceId: "registrar-1", adapter: "csv", csv }),
      Intakes.source({ externalSourceId: "registrar-2", adapter: "json" }),
      Intakes.source({
        externalSourceId: "nav-1",
        kind: "nav",
        accountIs: null,
        validFor: Duration.of("P1D")
      })
    ]
  },
  play: (host) =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      for (const holder of holders) yield* Powers.mints(stage, holder, "1000")
      const hand = (source: string, type: string, body: string, query = "") =>
        Effect.gen(function* () {
          yield* host.met(`external-statements.receive body ${type}`, body)
          const call = {
            as: "feed",
            path: `/v1/external-statements?externalSourceId=${source}${query}`,
            headers: { "content-type": type },
            body
          }
          yield* noted(host, "external-statements.receive", call)
          yield* noted(host, "external-statements.receive", call)
        })
      const date = "&businessDate=2026-07-30"
      yield* hand("registrar-1", "text/csv", "account;quantity\nh1;1000\nh2;990\n", date)
      yield* hand(
        "registrar-2",
        "application/json",
        JSON.stringify({
          kind: "holdings",
          businessDate: "2026-07-30",
          lines: [{ account: "h1", quantity: "1000" }]
        })
      )
      const stated = (official: string) =>
        JSON.stringify({
          kind: "nav",
          businessDate: "2026-07-30",
          nav: { official, ripcord: false }
        })
      const first = JSON.parse(
        (yield* host.ask({
          as: "operator",
          method: "POST",
          path: "/v1/external-statements?externalSourceId=nav-1",
          body: stated("1.04")
        })).text
      )
      yield* host.ask({
        as: "operator",
        method: "POST",
        path: `/v1/external-statements?externalSourceId=nav-1&corrects=${first.externalStatementId}`,
        body: stated("1.05")
      })
      const account = JSON.stringify({
        externalAccountId: "bank-1",
        kind: "cash",
        holderId: "h1",
        number: "CH93 0076 2011 6238 5295 7"
      })
      yield* host.met("external-account.map body", account)
      yield* host.ask({
        as: "operator",
        method: "POST",
        path: "/v1/external-accounts",
        body: account
      })
      yield* Calls.write(
        "subscription.claim",
        {},
        {
          subscriptionId: "sub-1",
          instrumentId: "fund-a",
          holderId: "h1",
          payment: "wire",
          amount: 1000
        }
      )
      const run = JSON.stringify({
        scope: { instrumentIds: ["fund-a"], checks: ["register-supply"] }
      })
      yield* host.met("reconciliation-runs.start body", run)
      yield* Reconciling.plant(
        {
          registrar: stage.registrar.party,
          instrumentId: "fund-a",
          party: holders[0]?.party ?? ""
        },
        "10"
      )
      const call = {
        as: "risk",
        path: "/v1/reconciliation-runs",
        body: run,
        headers: { "idempotency-key": "run-2026-07-31" }
      }
      yield* noted(host, "reconciliation-runs.start", call)
      yield* noted(host, "reconciliation-runs.start", call)
    })
}

/** An order that waits for its cash, and the bank's line that names it. */
const paying: Story = {
  play: () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.market(stage)
      yield* Fund.admitted(stage)
      const order = { subscriptionId: "sub-1", instrumentId: "fund-a", holderId: "h1" }
      yield* Calls.write("subscription.claim", {}, { ...order, payment: "wire", amount: 100000 })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1.0437", Cycles.friday)
      yield* Cycles.attests(stage, { id: "sub-1", units: "95812.973076", price: "1.0437" })
      yield* Bank.states({
        id: "est-1",
        at: "second",
        entries: [{ amount: "100000", bankReference: "ZD1", reference: "sub-1" }]
      })
    })
}

export const stories: ReadonlyArray<Story> = [
  ...Object.values(Writing.stories).map((story) => ({ play: () => story })),
  agreeing,
  stating,
  paying
]
