/** Simulated ledger of a deployment, kept in its database, with a door for outside parties. */
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as Simulated from "@bursar/storage-adapters/simulated-ledger"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Effect, Layer, Metric, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import * as NotUsable from "../config/NotUsable.ts"
import * as DataFolder from "../DataFolder.ts"
import * as ExistingVenue from "../ExistingVenue.ts"
import type { HostConfig } from "../HostConfig.ts"
import * as Counters from "../middleware/Counters.ts"
import { PacedServer } from "../middleware/PacedServer.ts"
import { Times } from "../wire/Times.ts"
import { LedgerDoor, type LedgerPart } from "./Parts.ts"

const participantId = "bursar-sim"

/** The engine's user at the ledger, which may act as the venue alone. */
const venueUser = "bursar-engine"

/**
 * The venue's token at the simulated ledger: configured, kept from an earlier start, or requested
 * now. It is requested for a new user alone, or by the folder whose first request was interrupted:
 * another token of the same user would end the one that somebody uses.
 */
const venueToken = (config: HostConfig) =>
  Effect.gen(function* () {
    const configuredToken = config["ledger.token"]
    if (configuredToken !== null) return Redacted.value(configuredToken)
    const file = ExistingVenue.tokenFile(config.data)
    const draft = ExistingVenue.tokenDraft(config.data)
    const storedToken = yield* NotUsable.files("data", () => DataFolder.textOf(file))
    if (storedToken !== undefined) return storedToken.trim()
    const isRequested =
      (yield* NotUsable.files("data", () => DataFolder.textOf(draft))) !== undefined
    const { admin } = yield* Simulated.Participant
    const users = yield* admin.users
    const isThere = users.some(({ userId }) => userId === venueUser)
    if (isThere && !isRequested) {
      return yield* new ExistingVenue.SecretsMissing({
        data: config.data,
        missing: [`${file} (ledger.token)`]
      })
    }
    yield* NotUsable.files("data", async () => {
      await DataFolder.DurableFiles.makeFolder(dirname(file))
      await DataFolder.DurableFiles.write(draft, "")
    })
    const token = isThere
      ? yield* admin.issueToken(venueUser)
      : (yield* Effect.tapError(
          admin.addParty({ hint: "venue", kind: "local", userId: venueUser }),
          // Somebody else has made the user: this folder has requested nothing.
          () => NotUsable.files("data", () => rm(draft))
        )).token
    yield* NotUsable.files("data", () => DataFolder.DurableFiles.replace(file, `${token}\n`, draft))
    return token
  })

/**
 * The simulated ledger's outside door, on a server of the same pace as the API's: one call of a
 * connection at a time, and none for whoever does not read.
 */
const door = (config: HostConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { partingWithin, stopWithin } = yield* Times
      const context = yield* Effect.context<never>()
      return Door.layer({
        host: config["ledger.door.host"],
        port: config["ledger.door.port"],
        makeServer: ({ refuse }) =>
          new PacedServer(
            {},
            {
              pipelinedMax: config["connections.pipelined"],
              stalledWithin: config["connections.stalled"],
              movedWithin: partingWithin,
              stoppedWithin: stopWithin,
              arrived: () => {},
              begins: () => {},
              refuse: ({ request }) => refuse(request.socket),
              cut: ({ request }) => request.socket.destroy(),
              closed: (reason) =>
                Metric.withAttributes(Counters.connectionsClosed, { reason }).updateUnsafe(
                  1,
                  context
                )
            }
          )
      })
    })
  )

/** Refuses a template that is there twice before the ledger is opened. */
const templatesDistinct = (rules: Pick<Simulated.Options, "entities">) => {
  const twice = Simulated.twiceIn(rules.entities ?? [])
  return twice === null
    ? Effect.void
    : Effect.fail({ message: `ledger: the template ${twice} is there twice` })
}

/** The ledger with templates beside those of the engine, under the same checks. */
export const partWith = (
  rules: Pick<Simulated.Options, "entities">
): LedgerPart<SqlClient.SqlClient, Simulated.Participant> => ({
  layer: (config) =>
    Layer.unwrap(
      Effect.map(venueToken(config), (token) =>
        Simulated.Venue.layer({ token }).pipe(
          NotUsable.faultOfLayer(config["ledger.token"] === null ? "data" : "ledger.token")
        )
      )
    ).pipe(
      Layer.provideMerge(
        Layer.unwrap(
          Effect.as(
            templatesDistinct(rules),
            Simulated.layerPostgres({
              ...rules,
              ledgerId: config.tenantId,
              participantId,
              settings: { inputsMax: config["ledger.maxInputs"] }
            }).pipe(NotUsable.faultOfLayer("database.url"))
          )
        )
      )
    ),
  migrate: Effect.flatMap(SqlClient.SqlClient, Simulated.migrate).pipe(
    Effect.map((made) => (made === "made" ? ["schema ledger_sim"] : [])),
    Effect.mapError((error) => (error._tag === "SqlError" ? Postgres.notUsable(error) : error)),
    NotUsable.faultOf("database.url")
  ),
  hasVenueToken: Effect.flatMap(SqlClient.SqlClient, Simulated.existingUsers).pipe(
    Effect.map((users) => users.has(venueUser)),
    Effect.mapError((error) => (error._tag === "SqlError" ? Postgres.notUsable(error) : error)),
    NotUsable.faultOf("database.url")
  ),
  door: (config) =>
    Layer.effect(
      LedgerDoor,
      Effect.map(Door.Door, ({ url }) => ({ url }))
    ).pipe(Layer.provide(door(config)), NotUsable.faultOfLayer("ledger.door.port"))
})

export const part = partWith({})
