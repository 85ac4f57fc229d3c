/**
 * A deployment with the example's room on loopback, over a storage and the simulated ledger, on a clock that
 * a test moves; with the borrower's wallet at the ledger's door and a receiver of webhooks.
 */
import { Instant } from "@bursar/engine-core/kernel"
import type { Room } from "@bursar/engine-core/rooms"
import type { Ledger as LedgerPort } from "@bursar/engine-core/ports"
import { HostConfig } from "@bursar/http-host"
import { ClientTable } from "@bursar/http-host/api"
import * as Deployment from "@bursar/http-host/deployment"
import * as PlainClient from "@bursar/http-host/plain-client"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Simulated from "@bursar/storage-adapters/simulated-ledger"
import { PartySession } from "@bursar/storage-adapters/wallets"
import { Clock, ConfigProvider, Effect, Fiber, Layer, Logger, Metric } from "effect"
import { mkdtemp } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { room } from "../../examples/10-a-room-of-its-own/loans.ts"
import { loanRules } from "../../examples/10-a-room-of-its-own/rules.ts"
import { remove } from "../folders.ts"
import { identity } from "../kill/host.ts"
import { wanted } from "../waiting.ts"
import * as SettableClock from "#adapters/venue/SettableClock.ts"

const table = ClientTable.ofRooms([room])

/** Client of the venue, with the calls of the room. */
export type Loans = PlainClient.ClientWith<Room.WriteOf<typeof room>, Room.QueryOf<typeof room>>

export interface Delivery {
  readonly id: string
  readonly event: Readonly<Record<string, unknown>>
}

export interface Served {
  readonly at: Deployment.Addresses
  readonly as: (sub: string, roles: ReadonlyArray<string>) => Promise<Loans>
  readonly token: (sub: string, roles: ReadonlyArray<string>) => Promise<string>
  readonly borrower: PartySession.PartySession
  readonly deliveries: ReadonlyArray<Delivery>
  /** Moves the time of day of the host, which otherwise stands at the test's begin. */
  readonly moveClock: (seconds: number) => void
  readonly close: () => Promise<void>
}

type ServedParts<S> = Pick<
  Required<Deployment.Parts<S, Simulated.Participant>>,
  "ledger" | "storage"
>

const entities = [loanRules]

/** Parts in memory: the simulated ledger with its door, and the storage. */
export const inMemory = (): ServedParts<never> => ({
  storage: Deployment.storageOf(Layer.fresh(Memory.layer)),
  ledger: {
    migrate: Effect.succeed([]),
    hasVenueToken: Effect.succeed(null),
    door: Deployment.simulatedLedger.door!,
    layer: ({ tenantId }) =>
      Layer.unwrap(
        Effect.gen(function* () {
          const { admin } = yield* Simulated.Participant
          const { token } = yield* admin.addParty({ hint: "venue", kind: "local" })
          return Simulated.Venue.layer({ token })
        })
      ).pipe(
        Layer.provideMerge(
          Simulated.layerMemory({ ledgerId: tenantId, participantId: "node-1", entities })
        ),
        Layer.catchCause((cause) => Layer.effectContext(Effect.failCause(cause)))
      )
  }
})

/** The simulated ledger on PostgreSQL, which the settings name. */
export const onPostgres = () => ({
  storage: Deployment.postgresStorage,
  ledger: Deployment.simulatedLedgerWith({ entities })
})

/** A receiver of webhooks on loopback. */
const receiverOf = async () => {
  const deliveries: Array<Delivery> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      const event = JSON.parse(Buffer.concat(chunks).toString("utf8"))
      deliveries.push({ id: String(request.headers["webhook-id"]), event })
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  return {
    deliveries,
    port,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const settingsOf = (named: {
  data: string
  jwksUrl: string
  hooks: number
  databaseUrl?: string
}) =>
  Effect.provideService(
    HostConfig.load,
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({
      env: {
        BURSAR_DATA: named.data,
        BURSAR_ISSUER: "https://issuer.test",
        BURSAR_AUDIENCE: "urn:bursar",
        BURSAR_JWKS_URL: named.jwksUrl,
        BURSAR_PORT: "0",
        BURSAR_MANAGEMENT_PORT: "0",
        BURSAR_LEDGER_DOOR_PORT: "0",
        BURSAR_RECONCILIATION_AT: "",
        BURSAR_WEBHOOKS_ALLOW_HTTP: "true",
        BURSAR_WEBHOOKS_PORTS: String(named.hooks),
        BURSAR_WEBHOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
        BURSAR_WEBHOOKS_CONFIGURED: JSON.stringify([
          {
            webhookId: "books",
            url: `http://localhost:${named.hooks}/events`,
            events: ["x-loan.overdue", "x-loan.ended"],
            secrets: [`whsec_${Buffer.alloc(32, 9).toString("base64")}`]
          }
        ]),
        ...(named.databaseUrl === undefined ? {} : { DATABASE_URL: named.databaseUrl })
      }
    })
  )

/** Serves the room over parts, with a borrower whose party the ledger's operator adds. */
export const serve = async <S>(
  {
    ledger,
    rooms = [room],
    storage
  }: ServedParts<S> & { readonly rooms?: ReadonlyArray<Room.Room> },
  databaseUrl?: string
): Promise<Served> => {
  const data = await mkdtemp(join(tmpdir(), "bursar-room-"))
  const issuer = await identity()
  const hooks = await receiverOf()
  const named = { data, jwksUrl: issuer.jwksUrl, hooks: hooks.port }
  const config = await Effect.runPromise(
    settingsOf(databaseUrl === undefined ? named : { ...named, databaseUrl })
  )
  const begun = Instant.fromEpochMillis(Date.now())
  const settable = SettableClock.make(begun)
  let at: Deployment.Addresses | undefined
  let borrowerToken = ""
  const addBorrower = Layer.effectDiscard(
    Effect.gen(function* () {
      const { admin } = yield* Simulated.Participant
      borrowerToken = (yield* admin.addParty({ hint: "borrower", kind: "local" })).token
    }).pipe(Effect.mapError(({ cause }) => ({ message: cause })))
  )
  const parts = {
    storage,
    ledger: {
      ...ledger,
      layer: (settings: typeof config) =>
        addBorrower.pipe(
          Layer.provideMerge(
            ledger.layer(settings) as Layer.Layer<
              LedgerPort.Ledger | Simulated.Participant,
              Deployment.PartFault,
              S
            >
          )
        )
    },
    rooms
  }
  const serving = Deployment.serve(parts as Deployment.Parts<S, Simulated.Participant>, {
    config,
    ready: (addresses) =>
      Effect.sync(() => {
        at = addresses
      })
  })
  const fiber = Effect.runFork(
    serving.pipe(
      Effect.provide(Logger.layer([])),
      Effect.provideService(Clock.Clock, settable.clock),
      // The registry of metrics is the process's own otherwise, shared with every other venue.
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
  const close = async () => {
    await Effect.runPromise(Fiber.interrupt(fiber))
    issuer.stop()
    hooks.close()
    await remove(data)
  }
  const addresses = await Promise.race([
    wanted(() => at),
    Effect.runPromise(Fiber.join(fiber))
  ]).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const borrower = await Effect.runPromise(
    PartySession.open({ url: addresses.ledgerDoor ?? "", token: Effect.succeed(borrowerToken) })
  )
  return {
    at: addresses,
    token: issuer.token,
    borrower,
    deliveries: hooks.deliveries,
    as: async (sub, roles) => {
      const authorization = `Bearer ${await issuer.token(sub, roles)}`
      return PlainClient.make({ baseUrl: addresses.api, authorization, table })
    },
    moveClock: (seconds) => {
      settable.set(Instant.fromEpochMillis(Instant.toEpochMillis(begun) + seconds * 1_000))
    },
    close
  }
}
