/** Security test 23: the routes that answer are exactly those declared, documented and given. */
import { request } from "node:http"
import { readFileSync } from "node:fs"
import { Catalogue } from "@bursar/engine-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { table } from "#host/api/Route.ts"
import { givenReads, givenWrites } from "../../vocabulary/routes.ts"
import { open, tenant, type Venue } from "../venue.ts"

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"]

/** The rest of the given routes: writes that finish in the call, and reads without a token. */
const others = [
  "POST /v1/external-statements",
  "POST /v1/reconciliation-runs",
  "POST /v1/approvals/{actionKey}:approve",
  "POST /v1/approvals/{actionKey}:reject",
  "GET /v1/tenants/{tenantId}",
  "GET /v1/health",
  "GET /v1/openapi.json"
]

const givenRoutes = [
  ...[...givenWrites.values()].map(({ route }) => route),
  ...[...givenReads.keys()].map((path) => (path.startsWith("GET ") ? path : `GET ${path}`)),
  ...others
]

const declared = table(Catalogue).map(({ path }) => `${path.method} ${path.template}`)

let venue: Venue
beforeAll(async () => {
  venue = await open({ tables: Catalogue })
})
afterAll(() => venue.close())

/** Status of a call without a token: 401 on a route, 404 where there is no route. */
const status = (method: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const clientRequest = request(
      { port: venue.port, host: "127.0.0.1", method, path },
      (response) => {
        response.resume()
        response.once("end", () => resolve(response.statusCode ?? 0))
      }
    )
    clientRequest.once("error", reject)
    clientRequest.end()
  })

const answers = (code: number): boolean => code !== 404 && code !== 405

const pathOf = (template: string): string =>
  template.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) =>
    name === "tenantId" ? tenant.tenantId : "id-1"
  )

// Switched off in a copy and seen red: the method in RawPath.ts (PUT as POST); in Arrival.ts the version
// (/v2 read as /v1), the page's own path (/metrics and /livez answered) and its methods; and a path in
// openapi.json spelled otherwise.
describe("the inventory", () => {
  it("every method on every given path: what answers is the table, and the document, and is given", async () => {
    const templates = new Set(
      [...givenRoutes, ...declared].map((route) => route.split(" ")[1] ?? "")
    )
    const answered: Array<string> = []
    for (const template of templates) {
      for (const method of methods) {
        if (answers(await status(method, pathOf(template)))) answered.push(`${method} ${template}`)
      }
    }
    const heads = declared
      .filter((route) => route.startsWith("GET "))
      .map((route) => route.replace("GET", "HEAD"))
    expect(answered.toSorted()).toEqual([...declared, ...heads].toSorted())
    const { paths }: { paths: Readonly<Record<string, object>> } = JSON.parse(
      readFileSync(new URL("../../../packages/http-host/openapi.json", import.meta.url), "utf8")
    )
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
    )
    expect(documented.toSorted()).toEqual(declared.toSorted())
    expect(declared.filter((route) => !givenRoutes.includes(route))).toEqual([])
  })

  const elsewhere = [
    "/",
    "/v1",
    "/v1/",
    "/v2",
    "/v2/instruments",
    "/v2/health",
    "/v0/instruments",
    "/v1.0/instruments",
    "/V1/instruments",
    "/metrics",
    "/v1/metrics",
    "/livez",
    "/readyz",
    "/healthz",
    "/health",
    "/openapi.json",
    "/v1/openapi.yaml",
    "/v1/docs",
    "/docs/",
    "/swagger",
    "/graphql",
    "/admin",
    "/debug",
    "/.env",
    "/favicon.ico"
  ]
  it.each(elsewhere)("nothing answers at %s on the API's port", async (path) => {
    for (const method of methods) {
      expect([method, path, answers(await status(method, path))]).toEqual([method, path, false])
    }
  })

  it("beside the interface there is one page for people, which is read and no more", async () => {
    const found = await Promise.all(methods.map((method) => status(method, "/docs")))
    const answered = methods.filter((_, i) => answers(found[i] ?? 0))
    expect(answered).toEqual(["GET", "HEAD"])
  })
})
