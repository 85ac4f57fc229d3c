/** Calls the host by the client that is generated from its document: what compiles here, answers. */
import createClient from "openapi-fetch"
import type { components, paths } from "./.generated/current.ts"

const { API: baseUrl = "", AUDITOR: auditor = "", OPERATOR: operator = "" } = process.env

const clientOf = (authorization: string) =>
  createClient<paths>({ baseUrl, headers: { authorization } })
const asAuditor = clientOf(auditor)
const asOperator = clientOf(operator)

const calls: Array<string> = []

/** The data of an answer that has to be one. */
const got = <A>(name: string, { data, error }: { data?: A; error?: unknown }): A => {
  if (data === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`)
  calls.push(name)
  return data
}

/** The refusal of an answer that has to be one. */
const refused = (
  name: string,
  { error }: { error?: components["schemas"]["Problem"] },
  slug: string
): void => {
  if (error?.type !== `urn:bursar:problem:${slug}`) {
    throw new Error(`${name} is not refused with ${slug}: ${JSON.stringify(error)}`)
  }
  calls.push(name)
}

const instruments = got(
  "instruments",
  await asAuditor.GET("/v1/instruments", { params: { query: { limit: 2 } } })
)
const instrumentId = instruments.value[0]?.instrumentId ?? ""
const path = { instrumentId }

const instrument = got(
  "instrument",
  await asAuditor.GET("/v1/instruments/{instrumentId}", { params: { path } })
)
// An extensible set is a text of which some words are known.
const valuation: string | null = instrument.value.valuation
if (valuation === null) throw new Error("the story's instrument has terms")

const subscriptions = got(
  "subscriptions",
  await asAuditor.GET("/v1/subscriptions", {
    params: { query: { state: ["closed"], instrumentId } }
  })
)
const subscriptionId = subscriptions.value[0]?.subscriptionId ?? ""
got(
  "subscription",
  await asAuditor.GET("/v1/subscriptions/{subscriptionId}", {
    params: { path: { subscriptionId } }
  })
)
const operations = got(
  "operations",
  await asAuditor.GET("/v1/operations", { params: { query: { limit: 1, state: ["succeeded"] } } })
)
const next = operations.next
if (next !== null) {
  got(
    "operations, the next page",
    await asAuditor.GET("/v1/operations", {
      params: { query: { limit: 1, state: ["succeeded"], after: next } }
    })
  )
}
const events = got(
  "events",
  await asAuditor.GET("/v1/events", { params: { query: { order: "desc" } } })
)
const seq: number = events.value[0]?.seq ?? 0
if (seq === 0) throw new Error("the story told no event")
got("health", await asAuditor.GET("/v1/health"))

const settle = { params: { path: { subscriptionId } }, body: {} } as const
const settled = await asOperator.POST("/v1/subscriptions/{subscriptionId}:settle", settle)
const again = settled.data ?? settled.error
if (again === undefined) throw new Error("a write without an answer")
calls.push("settle a second time")
refused(
  "settle as an auditor",
  await asAuditor.POST("/v1/subscriptions/{subscriptionId}:settle", settle),
  "permission-denied"
)
refused(
  "no such instrument",
  await asAuditor.GET("/v1/instruments/{instrumentId}", {
    params: { path: { instrumentId: "absent-1" } }
  }),
  "not-found"
)
console.log(`${calls.length} calls by the generated client: ${calls.join(", ")}`)
