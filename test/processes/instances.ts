/** Several real hosts as processes of their own on one database, and what their callers do. */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Ledger } from "@bursar/engine-core/ports"
import { Effect, Exit, Option, Scope, Stream } from "effect"
import * as Host from "../kill/host.ts"
import * as LedgerThere from "./ledger-there.ts"
import * as Signing from "../http/signing.ts"
import { wanted } from "../waiting.ts"
import { remove } from "../folders.ts"

/** Multiplies how much the tests of processes do in the long run. */
export const times = Number(process.env["PROCESSES"] ?? 1)

export interface Instances {
  readonly hosts: Array<Host.Host>
  /** One more on the same database and folder, with these settings besides. */
  readonly more: (settings?: Readonly<Record<string, string>>) => Promise<Host.Host>
  readonly folder: string
  readonly token: (sub: string, roles: ReadonlyArray<string>) => Promise<string>
  readonly databaseUrl: string
  readonly ledger: LedgerThere.There
  readonly stop: () => Promise<void>
}

const preload = new URL("./elsewhere.ts", import.meta.url).pathname

/** Starts so many hosts; the first one alone, since it makes the deployment's keys. */
export const start = async (options: {
  readonly count: number
  readonly settings?: Readonly<Record<string, string>>
  /** How the ledger carries out a submission, where it does otherwise than commit it. */
  readonly submitting?: LedgerThere.Submitting
}): Promise<Instances> => {
  const scope = Effect.runSync(Scope.make())
  const folder = await mkdtemp(join(tmpdir(), "bursar-processes-"))
  const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  const identity = await Host.identity()
  const ledger = LedgerThere.start(options.submitting)
  const more = (settings: Readonly<Record<string, string>> = {}) =>
    Host.start({
      databaseUrl: url,
      dataFolder: folder,
      jwksUrl: identity.jwksUrl,
      settings: {
        BURSAR_DATABASE_CONNECTIONS: "6",
        BURSAR_LEDGER_TOKEN: "another-process-has-it",
        ...options.settings,
        ...settings
      },
      preload,
      born: ledger.serve
    })
  const hosts = [await more()]
  const others = Array.from({ length: options.count - 1 }, () => more())
  hosts.push(...(await Promise.all(others)))
  return {
    hosts,
    folder,
    more: async (settings) => {
      const host = await more(settings)
      hosts.push(host)
      return host
    },
    token: identity.token,
    databaseUrl: url,
    ledger,
    stop: async () => {
      for (const host of hosts) {
        host.wake()
        host.kill()
      }
      await Promise.all(hosts.map((host) => host.ended))
      identity.stop()
      await ledger.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await remove(folder)
    }
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** One call; what is lost on the way is null. */
export const call = async (
  host: Host.Host,
  call: {
    readonly as: string
    readonly path: string
    readonly body?: unknown
    readonly key?: string
    readonly signed?: Readonly<Record<string, string>>
  }
): Promise<Answer | null> => {
  const init: RequestInit =
    call.body === undefined ? {} : { method: "POST", body: JSON.stringify(call.body) }
  const response = fetch(`${host.url}${call.path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${call.as}`,
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...(call.key === undefined ? {} : { "idempotency-key": call.key }),
      ...call.signed
    }
  })
  return response.then(
    async (response) => {
      const text = await response.text()
      const body: unknown = text === "" ? null : JSON.parse(text)
      return { status: response.status, headers: response.headers, body }
    },
    () => null
  )
}

/** The same call to one host after another until one of them answers other than "later". */
export const insist = (
  hosts: ReadonlyArray<Host.Host>,
  options: Parameters<typeof call>[1]
): Promise<Answer> => {
  let n = 0
  return wanted(async () => {
    const host = hosts[n++ % hosts.length]
    const answer = host === undefined ? null : await call(host, options)
    return answer !== null && answer.status < 500 && answer.status !== 429 ? answer : undefined
  })
}

/** A member of a JSON object that holds a text. */
export const textOf = (body: unknown, member: string): string => {
  const value: unknown =
    typeof body === "object" && body !== null ? Reflect.get(body, member) : undefined
  if (typeof value !== "string") throw new Error(`no ${member} in ${JSON.stringify(body)}`)
  return value
}

export const party = (hint: string) => `${hint}::1220${"ab".repeat(32)}`

/** Registers a holder, which is one command on the ledger. */
export const registration = (registration: {
  readonly as: string
  readonly holderId: string
  readonly key: string
}) => ({
  as: registration.as,
  path: "/v1/holders",
  key: registration.key,
  body: { holderId: registration.holderId, party: party(registration.holderId), taxResidences: [] }
})

/** Reads an operation, from any host that answers, until it has ended. */
export const ended = (
  hosts: ReadonlyArray<Host.Host>,
  approval: { readonly as: string; readonly operationId: string }
): Promise<string> =>
  wanted(async () => {
    const { body } = await insist(hosts, {
      as: approval.as,
      path: `/v1/operations/${approval.operationId}`
    })
    const { value } = body as { readonly value?: { readonly state?: string } }
    return value?.state === "succeeded" || value?.state === "failed" ? value.state : undefined
  })

export interface Told {
  readonly seq: number
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** One page of the feed, from any host that answers. */
export const page = async (
  hosts: ReadonlyArray<Host.Host>,
  page: { readonly as: string; readonly after: string | null; readonly limit: number }
): Promise<{ readonly value: ReadonlyArray<Told>; readonly next: string }> => {
  const after = page.after === null ? "" : `&after=${encodeURIComponent(page.after)}`
  const path = `/v1/events?limit=${page.limit}${after}`
  const { status, body } = await insist(hosts, { as: page.as, path })
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return body as { readonly value: ReadonlyArray<Told>; readonly next: string }
}

/** Invitations of each holder and commits of each command, read from the ledger. */
export const onLedger = Effect.gen(function* () {
  const port = yield* Ledger.Ledger
  const updates = yield* Stream.runCollect(
    port.updates({
      after: yield* port.horizon,
      through: yield* port.ledgerEnd,
      filter: { templates: [], interfaces: [] }
    })
  )
  const invited = new Map<string, number>()
  const committed = new Map<string, number>()
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const update of updates) {
    if (update._tag !== "Transaction") continue
    if (Option.isSome(update.commandId)) count(committed, update.commandId.value)
    for (const event of update.events) {
      if (event._tag !== "Created" || event.template.entity !== "HolderInvitation") continue
      count(invited, String(event.payload["holderId"]))
    }
  }
  return { invited, committed }
})

export const sign = Signing.sign
export const secret = Signing.secret
