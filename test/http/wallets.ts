/**
 * A whole venue on its own addresses: the API over HTTP, and outside parties with wallets at the ledger's door,
 * since these tests judge both addresses: those of `Venue` call neither.
 */
import { Catalogue, Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import { Offset, type Party } from "@bursar/engine-core/kernel"
import type * as Templates from "@bursar/engine-core/templates"
import * as Host from "@bursar/http-host"
import * as Sim from "@bursar/storage-adapters/simulated-ledger"
import { Bot, PartySession, World } from "@bursar/storage-adapters/wallets"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Duration, Effect, Layer, Logger, ManagedRuntime, Option } from "effect"
import { HttpServer } from "effect/http"
import { expect } from "vitest"
import { table } from "#host/api/Route.ts"
import { Ledger, ports } from "../engine/world.ts"
import * as Venue from "./venue.ts"
import * as Witness from "./witness.ts"

export interface Wallet {
  readonly party: Party.Party
  /** Does the first thing that a plan finds to do now; then the venue reads it. Answers its name. */
  readonly does: (plan: World.Plan) => Promise<string>
  /** Does exactly this; then the venue reads it. */
  readonly acts: (
    ...commands: readonly [Templates.Command, ...Templates.Command[]]
  ) => Promise<void>
  /** Active contracts of a template that the wallet's party sees. */
  readonly sees: <T extends Templates.Template>(
    template: T
  ) => Promise<ReadonlyArray<World.FoundContract<T>>>
}

export interface WholeVenue extends Venue.Venue {
  readonly party: Party.Party
  readonly wallet: (hint: string) => Promise<Wallet>
  /** A write by a role, approved by another person where it must be; the ended operation. */
  readonly write: (
    path: string,
    body: unknown,
    as?: string
  ) => Promise<Readonly<Record<string, unknown>>>
  /** The JSON of a read by a role, or by a person with these claims. */
  readonly read: (
    path: string,
    as?: string,
    claims?: Parameters<typeof Venue.bearer>[1]
  ) => Promise<{ readonly status: number; readonly text: string; readonly value: unknown }>
}

/** Identity provider that the venue trusts instead of the tests' own. */
export interface Trust {
  readonly issuer: string
  readonly audience: string
  readonly jwks: ReturnType<typeof Host.Jwks.layerRemote>
}

const ownTrust = (): Trust => ({
  issuer: Venue.issuer,
  audience: Venue.audience,
  jwks: Host.Jwks.layerLocal({ keys: [Venue.publicJwk] })
})

const signIn = ({ audience, issuer, jwks }: Trust) =>
  Host.Authentication.layer({
    issuer,
    audience,
    algorithms: Host.HostConfig.algorithms
  }).pipe(Layer.provide(jwks))

const readiness = () =>
  Host.Readiness.layer({ version: "0.1.0" }).pipe(
    Layer.provide(
      Layer.succeed(Host.Readiness.Vital, {
        look: Effect.succeed({
          projectionOffset: Offset.zero,
          ledgerEnd: Offset.zero,
          oldestQueuedSeconds: 0,
          lagSeconds: 0,
          migrationsPending: false
        })
      })
    )
  )

const host = ({ console: served, origins = [], trust = ownTrust() }: OpenOptions) =>
  Host.layer({
    tables: Catalogue,
    tenant: {
      ...Venue.tenant,
      signIn: {
        ...Venue.tenant.signIn,
        issuer: trust.issuer,
        audience: trust.audience,
        parameters: {}
      }
    },
    ...(served === undefined ? {} : { console: served }),
    basePath: "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "" },
    rateLimit: { limit: 1_000_000, window: 60_000, perRole: {} },
    origins
  })

interface OpenOptions {
  readonly settings?: Partial<typeof settingsDefaults>
  /** A source of screenings, or another port that an embedder may replace. */
  readonly plugged?: Layer.Layer<never>
  /** Origins whose pages may call. */
  readonly origins?: ReadonlyArray<string>
  /** No witness, for tests that judge every answer themselves: a witness keeps them all. */
  readonly witness?: "elsewhere"
  /** The venue console; not served by default. */
  readonly console?: Host.Options["console"]
  readonly trust?: Trust
}

/** Opens one; everything the API answers is held against its own document when it closes. */
export const open = async (options: OpenOptions = {}): Promise<WholeVenue> => {
  const logs: Array<string> = []
  const log = Logger.layer([Logger.map(Host.Logs.line, (line) => void logs.push(line))])
  const settings = Layer.succeed(Settings, { ...settingsDefaults, ...options.settings })
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      host(options).pipe(
        Layer.provide(Layer.mergeAll(signIn(options.trust ?? ownTrust()), readiness()))
      ),
      Door.layer({ port: 0 })
    ).pipe(
      Layer.provideMerge(
        Engine.layer.pipe(
          Layer.provideMerge(
            Layer.mergeAll(
              ports(options.settings === undefined ? {} : { settings: options.settings }),
              // After the ports, whose places it takes.
              options.plugged ?? Layer.empty
            )
          )
        )
      ),
      Layer.provideMerge(log),
      Layer.provide(options.plugged ?? Layer.empty),
      Layer.provide(settings)
    )
  )
  const port = await runtime.runPromise(
    Effect.map(HttpServer.HttpServer, ({ address }) => ("port" in address ? address.port : 0))
  )
  const door = await runtime.runPromise(Door.Door)
  const witness =
    options.witness === "elsewhere" ? undefined : Witness.watch({ port, routes: table(Catalogue) })
  const settle = () => runtime.runPromise(Effect.flatMap(Engine.Engine, (engine) => engine.settle))
  const venue: Venue.Venue = {
    url: `http://127.0.0.1:${port}`,
    port,
    logs,
    settle,
    close: async () => {
      await runtime.dispose()
      witness?.stop()
      expect(witness?.breaches() ?? []).toEqual([])
    },
    run: (effect) => runtime.runPromise(effect)
  }
  const party = await runtime.runPromise(Effect.map(Ledger.Ledger, ({ venue }) => venue))
  return {
    ...venue,
    party,
    wallet: async (hint) => {
      const added = await runtime.runPromise(
        Effect.flatMap(Sim.Participant, ({ admin }) => admin.addParty({ hint, kind: "local" }))
      )
      const session = await Effect.runPromise(
        PartySession.open({ url: door.url, token: Effect.succeed(added.token) })
      )
      return walletOf(session, settle)
    },
    ...callsOf(venue)
  }
}

const walletOf = (session: PartySession.PartySession, settle: () => Promise<void>): Wallet => {
  let count = 0
  const now = async (): Promise<World.World> => {
    const at = await Effect.runPromise(session.ledgerEnd)
    const found = await Effect.runPromise(session.acs(at))
    return {
      party: session.party,
      now: (BigInt(Date.now()) * 1_000_000n) as World.World["now"],
      contracts: new Map(found.map((one) => [one.contractId, one]))
    }
  }
  return {
    party: session.party,
    does: async (plan) => {
      const done = await Effect.runPromise(Bot.runOnce({ session, plan, within: Duration.zero }))
      await settle()
      return Option.match(done, { onNone: () => "nothing", onSome: ({ act }) => act.name })
    },
    acts: async (...commands) => {
      count += 1
      const commandId = `${session.userId}:${count}`
      await Effect.runPromise(session.submit({ commandId, commands }))
      await settle()
    },
    sees: async (template) => World.find(await now(), template)
  }
}

interface Written {
  readonly value: Readonly<Record<string, unknown>>
}

const callsOf = (venue: Venue.Venue): Pick<WholeVenue, "write" | "read"> => {
  const read: WholeVenue["read"] = async (path, as = "auditor", claims = {}) => {
    const answer = await Venue.send(venue, { path, as: await Venue.bearer([as], claims) })
    const text = await answer.text()
    const { value } = JSON.parse(text) as { readonly value?: unknown }
    return { status: answer.status, text, value }
  }
  const write: WholeVenue["write"] = async (path, body, as = "operator") => {
    const made = await Venue.send(venue, {
      method: "POST",
      path,
      as: await Venue.bearer([as]),
      body: JSON.stringify(body),
      headers: { "idempotency-key": crypto.randomUUID() }
    })
    const opened = JSON.parse(await made.text()) as Readonly<Record<string, unknown>>
    if (made.status >= 400) return opened
    const location =
      opened["state"] === "awaiting"
        ? await approved(venue, String(opened["actionKey"]))
        : (made.headers.get("location") ?? "")
    await venue.settle()
    const { value } = JSON.parse((await read(location)).text) as Written
    return value
  }
  return { read, write }
}

/** Signed by as many people as it takes. */
const approved = async (venue: Venue.Venue, actionKey: string): Promise<string> => {
  for (const sub of ["approver-1", "approver-2"]) {
    const signed = await Venue.send(venue, {
      method: "POST",
      path: `/v1/approvals/${actionKey}:approve`,
      as: await Venue.bearer(["approver"], { sub })
    })
    expect(signed.status).toBe(202)
    const location = signed.headers.get("location") ?? ""
    if (location.includes("/operations/")) return location
  }
  throw new Error("two approvers were not enough")
}
