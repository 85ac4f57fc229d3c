/**
 * Walks a venue with random requests, with and without callers of every role, and judges every
 * answer by the API's document.
 */
import { Catalogue, Vocabulary } from "@bursar/engine-core"
import { Agent, type IncomingHttpHeaders, request } from "node:http"
import { describe, expect, it } from "vitest"
import * as Document from "#host/api/Document.ts"
import { table } from "#host/api/Route.ts"
import * as RawPath from "#host/middleware/RawPath.ts"
import * as Venue from "../http/venue.ts"
import * as Witness from "../http/witness.ts"
import { seed } from "../seeds.ts"
import { dice } from "../simulation/faults.ts"
import * as Requests from "./requests.ts"
import * as Town from "./town.ts"

/** First seed of the requests, and their number: half of them in each of two files. */
const long = {
  seed: Number(process.env["FUZZ_SEED"] ?? seed),
  count: Number(process.env["FUZZ_REQUESTS"] ?? 200_000)
}

/**
 * Requests to one town: more would slow it down by the records that they leave, and a fault is
 * found again sooner.
 */
export const inOneTown = 2_000
/** Requests between two turns of the town's work. */
const betweenTurns = 40

const routes = table(Catalogue)
const document = JSON.parse(Document.text(routes)) as Requests.Json
const judge = Witness.judgeOf(routes)

export interface Walked {
  /** Number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Routes that answered below 400 at least once. */
  readonly reached: ReadonlySet<string>
  /** Faults, each with its request. */
  readonly faults: ReadonlyArray<string>
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Authorization headers of all callers: each role, several roles at once, two people who can
 * approve each other's actions, no token, and invalid tokens.
 */
const everybody = async (): Promise<Requests.Making["callers"]> => {
  const callers = new Map<string, ReadonlyArray<string | undefined>>()
  for (const role of Vocabulary.Role.members) {
    const as = (sub: string, claims = {}) => Venue.bearer([role], { sub, ...claims })
    // Two of each, so that what one asks for another can agree to.
    const held = [as(`${role}-1`), as(`${role}-2`)]
    const own = [as("i-1", { holder: "h1" }), as("i-2", { holder: "nobody" }), as("i-3")]
    callers.set(role, await Promise.all(role === "investor" ? own : held))
  }
  const several = [
    ["operator", "approver"],
    ["approver", "auditor"],
    ["operator", "nobody"],
    ["nobody"],
    []
  ]
  callers.set("several", await Promise.all(several.map((held) => Venue.bearer(held))))
  callers.set("nobody", [
    undefined,
    "",
    "Basic eDp5",
    "Bearer a.b.c",
    `Bearer ${"a".repeat(9_000)}`,
    `Bearer ${await Venue.token({ roles: ["operator"], exp: 1 })}`,
    `Bearer ${await Venue.token({ roles: ["operator"], iss: "https://other.test" })}`
  ])
  return callers
}

/** Sends so many requests to a town of its own; `seed` names both. */
export const walk = async (options: {
  readonly seed: number
  readonly count: number
}): Promise<Walked> => {
  const town = await Town.open()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const statuses = new Map<number, number>()
  const reached = new Set<string>()
  const faults: Array<string> = []
  const die = dice(options.seed)
  const valuesByName: Requests.Known = new Map([
    ["instrumentId", ["fund-a"]],
    ["holderId", ["h1"]],
    ["subscriptionId", ["s1", "s2"]],
    ["party", [...town.parties.values()]],
    ["fund", [...town.parties.values()]],
    ["registrar", [...town.parties.values()]],
    ["tenantId", [Venue.tenant.tenantId]]
  ])
  const next = Requests.make({ die, valuesByName, document, callers: await everybody() })
  try {
    for (let nth = 0; nth < options.count; nth++) {
      const sent = next()
      const found = (what: string): void => {
        faults.push(`seed ${options.seed}, request ${nth}: ${what}\n  ${shown(sent)}`)
      }
      const answer = await ask(town.venue.port, agent, sent).catch((error: unknown) => {
        found(`no answer: ${String(error)}`)
        return undefined
      })
      if (answer === undefined) continue
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      for (const breach of breachesOf(sent, answer)) found(breach)
      if (answer.status < 300) {
        reached.add(sent.method === "HEAD" ? "" : routeOf(sent))
        const json = parsed(answer.body)
        if (json !== undefined) Requests.learn(valuesByName, die, json)
        const { etag } = answer.headers
        if (etag !== undefined) Requests.learn(valuesByName, die, { etag })
      }
      if (nth % betweenTurns === betweenTurns - 1) await town.goesOn()
    }
    await town.goesOn()
    faults.push(...(await leftBehind(town)).map((what) => `seed ${options.seed}: ${what}`))
  } finally {
    agent.destroy()
    await town.venue.close()
  }
  reached.delete("")
  return { statuses, reached, faults }
}

/** The towns of the long run, every other one of them: two files of tests share the machine. */
export const everyOtherTown = (first: 0 | 1): void => {
  const towns = Array.from({ length: Math.ceil(long.count / inOneTown) }, (_, nth) => ({
    nth,
    seed: long.seed + nth,
    count: Math.min(inOneTown, long.count - nth * inOneTown)
  }))
  describe("requests by chance, to one town after the other", () => {
    it.each(towns.filter(({ nth }) => nth % 2 === first))(
      "seed $seed: $count are answered as the document says, by no 5xx but an honest 503",
      async (town) => {
        const { faults, reached, statuses } = await walk(town)
        expect(faults.slice(0, faultsShown)).toEqual([])
        console.log(
          `seed ${town.seed}: ${reached.size} routes reached`,
          Object.fromEntries(statuses)
        )
      }
    )
  })
}

const faultsShown = 20

const find = RawPath.compile(routes, ({ path }) => path)

/** The name of the route that a request is for; empty where it is for none. */
const routeOf = ({ method, target }: Requests.Sent): string => {
  const found = find(method, target.split("?", 1)[0] ?? "")
  return found.match === "route" ? found.route.name : ""
}

const ask = (port: number, agent: Agent, sent: Requests.Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method, target: path, headers, body } = sent
    const options = { port, host: "127.0.0.1", agent, method, path, headers }
    const clientRequest = request(options, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.once("error", reject)
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts)
        })
      )
    })
    clientRequest.once("error", reject)
    clientRequest.end(body ?? undefined)
  })

/** A request as it can be sent again; the token's holder is told apart by its place alone. */
const shown = ({ method, target, headers, body }: Requests.Sent): string => {
  const shownHeaders = headers.map((text) =>
    text.startsWith("Bearer ey") ? who(text) : text.slice(0, 80)
  )
  return `${method} ${target} ${JSON.stringify(shownHeaders)} ${body?.toString("latin1").slice(0, 2_000) ?? ""}`
}

/** Claims of a token, as text. */
const who = (bearer: string): string =>
  Buffer.from(bearer.split(".")[1] ?? "", "base64url").toString("utf8")

const parsed = (body: Buffer): Requests.Json | undefined => {
  if (body.length === 0 || body.length > 1024 * 1024) return undefined
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return undefined
  }
}

/** A refusal that is `retryable` names the time of a retry, and is of a slug that may pass. */
const passing = new Set(["not-ready", "ledger-unavailable", "overloaded"])

/** Breaches of the contract in an answer: its problem, its status, its shape in the document. */
const breachesOf = (sent: Requests.Sent, answer: Answer): ReadonlyArray<string> => {
  const { body, headers, status } = answer
  const breaches: Array<string> = []
  const text = body.toString("utf8")
  const problem = status >= 400 && sent.method !== "HEAD" ? parsed(body) : undefined
  const member = (name: string): unknown => Reflect.get((problem ?? {}) as object, name)
  if (status >= 400 && sent.method !== "HEAD") {
    const names = typeof problem === "object" && problem !== null ? Object.keys(problem) : []
    if (
      headers["content-type"] !== "application/problem+json" ||
      names.toSorted().join() !== Venue.problemMembers.join() ||
      member("status") !== status ||
      member("requestId") !== headers["x-request-id"] ||
      (member("retryAfter") ?? null) !==
        (headers["retry-after"] === undefined ? null : Number(headers["retry-after"]))
    ) {
      breaches.push(`${status} is no whole problem: ${text.slice(0, 500)}`)
    }
  }
  const slug = String(member("type")).replace("urn:bursar:problem:", "")
  const honest = status === 503 && headers["retry-after"] !== undefined && passing.has(slug)
  if (status >= 500 && !honest) breaches.push(`answers ${status}: ${text.slice(0, 500)}`)
  // A page for people is beside the document, and an answer to HEAD has its headers alone.
  if (problem === undefined && status >= 400) return breaches
  const { method, target } = sent
  const at = sent.headers.indexOf("If-None-Match")
  const ifNoneMatch = at < 0 ? undefined : sent.headers[at + 1]
  const exchange = { method, target, status, headers, ifNoneMatch, body: text }
  return [...breaches, ...judge(exchange)]
}

/** Faults after the requests: operations that ended by a defect, and error lines of the log. */
const leftBehind = async ({ venue }: Town.Town): Promise<ReadonlyArray<string>> => {
  const { value } = await venue.read("/v1/operations?state=failed")
  const failed = value as ReadonlyArray<{ readonly problem: { readonly type: string } }>
  const broke = failed.filter(({ problem }) => problem.type === "urn:bursar:problem:internal")
  return [
    ...broke.map((row) => `an operation broke: ${JSON.stringify(row)}`),
    ...venue.logs.filter((line) => JSON.parse(line).level === "error")
  ]
}
