/**
 * Members (security test 14): none that nobody asked for, none shown that is not declared.
 *
 * Each switched off in a copy and seen red: `onExcessProperty` in Shape.ts (members that nobody asked
 * for); `hide` in writes/Secrets.ts (the webhook's secret, in operations and in approvals); the digest
 * in CallAudit.ts, for the body itself (the secret in the audit log). With one member more in what
 * handlers/read.ts prints, the members shown were red.
 */
import { Catalogue, Vocabulary } from "@bursar/engine-core"
import { WebhookSender } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { contractSecretText, settings } from "../../feeds/webhooks.ts"
import { ids as reserved } from "../../machines/reserves.ts"
import { bodyOf } from "../../operations/instrumentBody.ts"
import { bearer, json, open, type Problem, send, type Venue } from "../venue.ts"
import {
  cycleId,
  distributionId,
  holderIds,
  instrumentId,
  lineIds,
  move,
  orderIds,
  standingSettlementId
} from "./two-holders.ts"

const ids: Record<string, string> = {
  holderId: holderIds.a,
  subscriptionId: orderIds.a[0],
  redemptionId: orderIds.a[0],
  instrumentId,
  cycleId,
  standingSettlementId,
  distributionId,
  lineId: lineIds.a,
  year: "2026",
  ...reserved,
  restrictionId: "restriction-1",
  holdId: "hold-1"
}
/** Parameters of a query that a read requires. */
const parameters: Readonly<Record<string, string>> = {
  "instruments.series": "?metric=supply",
  "instruments.precheck": `?act=subscription.claim&holderId=${holderIds.a}&amount=1`,
  "search.list": "?q=id"
}

/** Reads in which an auditor names the role whose work it reads; others read their own. */
const workReads = ["work.list", "work-counts.list"]
const fill = (route: string) =>
  route
    .replace(/^[A-Z]+ /u, "")
    .replaceAll(/\{([A-Za-z]+)\}/g, (_, id: string) => ids[id] ?? "id-1")

/** Takes every address, and what is posted to it is taken. */
const sender = Layer.succeed(WebhookSender.WebhookSender, {
  sends: "yes",
  judge: () => Effect.succeed(undefined),
  post: () => Effect.succeed({ status: 204, retryAfter: null })
})
const secret = contractSecretText.slice("whsec_".length)

interface Fields {
  readonly fields?: Readonly<Record<string, unknown>>
}

const named = <A extends { readonly name?: string; readonly kind?: string }>(
  all: ReadonlyArray<A>
) => all.map((one) => [one.kind ?? one.name ?? "", one] as const)

const monthly = {
  distribution: {
    schedule: "monthly",
    withholding: 0,
    payoutDecimals: 2,
    payout: "units",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 0 }
  }
}

describe("members of bodies and answers", () => {
  let venue: Venue
  let operator = ""
  beforeAll(async () => {
    venue = await open({
      tables: Catalogue,
      storage: Layer.merge(Memory.layer, sender),
      settings
    })
    await move(venue)
    operator = await bearer(["operator"])
    const response = await send(venue, {
      method: "POST",
      path: "/v1/webhooks",
      as: operator,
      body: `{"webhookId":"wh-1","url":"https://hooks.example/","secret":"${contractSecretText}"}`
    })
    const { actionKey } = await json<{ readonly actionKey: string }>(response)
    const done = await send(venue, {
      method: "POST",
      path: `/v1/approvals/${actionKey}:approve`,
      as: await bearer(["approver"])
    })
    expect([response.status, done.status]).toEqual([202, 202])
    const controls = [
      [
        `/v1/holders/${holderIds.a}:restrict`,
        '{"restrictionId":"restriction-1","mode":"freeze","reason":"pledge"}'
      ],
      [`/v1/instruments/${instrumentId}:pause`, '{"holdId":"hold-1","reason":"looked into"}']
    ] as const
    for (const [path, body] of controls) {
      const made = await send(venue, { method: "POST", path, as: operator, body })
      expect(made.status).toBe(202)
    }
    await venue.settle()
    const approver = await bearer(["approver"])
    const twice = [
      ["/v1/instruments", { ...bodyOf(), instrumentId: "fund-m", ...monthly }],
      [
        "/v1/standing-approvals",
        { standingApprovalId: "sa-1", instrumentId: "fund-m", until: "2027-06-30T00:00:00Z" }
      ]
    ] as const
    for (const [path, members] of twice) {
      const body = JSON.stringify(members)
      const made = await send(venue, { method: "POST", path, as: operator, body })
      expect(made.status).toBe(202)
      const action = await json<{ readonly actionKey: string }>(made)
      await send(venue, {
        method: "POST",
        path: `/v1/approvals/${action.actionKey}:approve`,
        as: approver
      })
      await venue.settle()
    }
    ids["standingApprovalId"] = "sa-1"
    // The engine names a run itself.
    const run = await send(venue, {
      method: "POST",
      path: "/v1/reconciliation-runs",
      as: operator,
      body: "{}"
    })
    expect(run.status).toBe(201)
    ids["runId"] = (await json<{ readonly runId: string }>(run)).runId
  })
  afterAll(() => venue.close())

  const writes = Catalogue.operations.filter(({ route }) => route.startsWith("POST "))

  it.each(named(writes))("%s takes no member it does not declare", async (_, operation) => {
    const as = await bearer([operation.makers[0] ?? "operator"])
    const declared = Object.keys((operation.input as Fields).fields ?? {})
    for (const member of [
      "state",
      "maker",
      "makerRole",
      "signedBy",
      "required",
      "role",
      "actor",
      "version",
      "createdAt",
      "operationId",
      "__proto__",
      "constructor",
      "isAdmin"
    ]) {
      if (declared.includes(member)) continue
      const answer = await send(venue, {
        method: "POST",
        path: fill(operation.route),
        as,
        body: `{"${member}":"x"}`
      })
      expect([member, answer.status]).toEqual([member, 400])
      const { errors } = await json<Problem>(answer)
      expect(errors?.map(({ pointer }) => pointer)).toContain(`/body/${member}`)
    }
  })

  /** A struct's own members; a list's are those of its items. */
  const queries = Catalogue.queries.filter(
    ({ route }) =>
      !/\{(webhookId|operationId|actionKey|externalSourceId|externalStatementId|findingId)\}/.test(
        route
      )
  )
  it.each(named(queries))("%s shows each role exactly the members it declares", async (_, read) => {
    const schema = (read.shape === "list" ? read.item : read.value) as Fields
    for (const role of Vocabulary.Role.members) {
      if (read.audience[role] === undefined) continue
      const as = await bearer([role], { holder: holderIds.a, party: "nobody::1220aa" })
      const isWorkOfOthers = role === "auditor" && workReads.includes(read.name)
      const query = isWorkOfOthers ? "?role=operator" : (parameters[read.name] ?? "")
      const answer = await send(venue, { path: `${fill(read.route)}${query}`, as })
      if (role === "registrar" && answer.status === 404) continue
      // The investor has no order in the cycle.
      if (role === "investor" && read.name === "dealing-cycles.get") continue
      expect([role, answer.status]).toEqual([role, 200])
      const text = await answer.text()
      expect(text).not.toContain(secret)
      const { value } = JSON.parse(text) as { value: unknown }
      for (const one of Array.isArray(value) ? value : [value]) {
        if (schema.fields === undefined) continue
        expect([role, Object.keys(one as object).toSorted()]).toEqual([
          role,
          Object.keys(schema.fields).toSorted()
        ])
      }
    }
  })

  it("a webhook's secret stands in no answer, no row of the audit log and no line of the log", async () => {
    const auditor = await bearer(["auditor"])
    // A subject of its own: only its first sixty refusals a minute have rows in the audit log.
    const refused = await send(venue, {
      method: "POST",
      path: "/v1/webhooks",
      as: await bearer(["operator"], { sub: "registrant" }),
      body: `{"url":"https://hooks.example/","secret":"${contractSecretText}","state":"x"}`
    })
    expect(refused.status).toBe(400)
    const texts = await Promise.all(
      ["webhooks", "webhooks/wh-1", "operations", "approvals", "events", "audit-log"].map(
        async (path) => {
          const answer = await send(venue, { path: `/v1/${path}`, as: auditor })
          const text = await answer.text()
          expect([path, answer.status]).toEqual([path, 200])
          // Each answer names the webhook, so that a secret would be beside its name.
          expect([path, text.includes("wh-1")]).toEqual([path, true])
          return text
        }
      )
    )
    const rows = await send(venue, { path: "/v1/audit-log?actor=registrant", as: auditor })
    const audited = await rows.text()
    expect(audited).toContain('"actor":"registrant"')
    const written = [await refused.text(), audited, ...texts, ...venue.logs].join("\n")
    expect(written).not.toContain(secret)
  })

  it("secrets of the calls stand in no line of the log", async () => {
    const body = '{"holderId":"planted-body-secret"}'
    await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
    const logs = venue.logs.join("\n")
    expect(logs).toContain("/v1/holders")
    expect(logs).not.toContain("planted-body-secret")
    expect(logs).not.toContain(operator.slice("Bearer ".length))
  })
})
