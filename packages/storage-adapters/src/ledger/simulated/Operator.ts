/**
 * Commands of the node's operator (faults, pruning), passed to a running node through its database.
 */
import { Offset } from "@bursar/engine-core/kernel"
import { Data, Duration, Effect, Result, Schema, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Faults from "./Faults.ts"
import type { Participant } from "./Participant.ts"

const counts = Schema.optionalKey(Schema.Array(Schema.Int.check(Schema.isGreaterThan(0))))
const on = Schema.optionalKey(Schema.Literal(true))
const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400_000 }))

/** Schema of a fault plan's file; Faults.ts describes each member. */
const FaultFile = Schema.Struct({
  dropBeforeCommit: counts,
  dropAfterCommit: counts,
  contention: counts,
  inFlight: counts,
  backpressure: counts,
  visibilityDelayMillis: Schema.optionalKey(natural),
  skew: Schema.optionalKey(
    Schema.Struct({
      minMillis: Schema.Int.check(Schema.isBetween({ minimum: -60_000, maximum: 60_000 })),
      maxMillis: Schema.Int.check(Schema.isBetween({ minimum: -60_000, maximum: 60_000 }))
    })
  ),
  gap: Schema.optionalKey(Schema.Literals(["sparse", "dense"])),
  participantChange: Schema.optionalKey(Schema.String),
  tokenExpiry: on,
  wsCut: Schema.optionalKey(natural),
  duplicateFrame: on,
  checkpointOnly: on,
  wire: Schema.optionalKey(
    Schema.Struct({
      text503: counts,
      html502: counts,
      slowBodyMillis: Schema.optionalKey(natural),
      list413: on,
      redactedError: on,
      explicitNulls: on,
      unknownArm: on,
      extraFields: on,
      missingAcsDelta: on
    })
  )
})

/** The file is not a valid fault plan; the message has the place. */
export class NoPlan extends Data.TaggedError("NoPlan")<{ readonly message: string }> {}

const decode = Schema.decodeUnknownResult(FaultFile, { onExcessProperty: "error" })

export const readPlan = (content: unknown): Result.Result<Faults.Plan, NoPlan> =>
  Result.match(decode(content), {
    onFailure: ({ message }) => Result.fail(new NoPlan({ message })),
    onSuccess: ({ visibilityDelayMillis, ...plan }) =>
      Result.succeed({
        ...plan,
        ...(visibilityDelayMillis === undefined
          ? {}
          : { visibilityDelay: Duration.millis(visibilityDelayMillis) })
      })
  })

type WishKind = "faults" | "prune"

export const wish = (
  sql: SqlClient.SqlClient,
  { what, body }: { readonly what: WishKind; readonly body: string }
) =>
  sql`insert into ledger_sim.wish (what, body) values (${what}, ${body}::text::jsonb)
      on conflict (what) do update set body = excluded.body`

const Wishes = Schema.Array(
  Schema.Struct({ what: Schema.Literals(["faults", "prune"]), body: Schema.String })
)
const decodeWishes = Schema.decodeUnknownEffect(Wishes)
const parse = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** Reads the pruned offset from the database. */
export const pruned = (sql: SqlClient.SqlClient) =>
  sql`select pruned_offset::text as "offset" from ledger_sim.head`.pipe(
    Effect.flatMap(
      Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ offset: Schema.FiniteFromString })))
    ),
    Effect.map(([row]) => row?.offset ?? 0)
  )

const lookEvery = Duration.seconds(1)

type Node = Pick<Participant["Service"], "faults" | "admin" | "horizon" | "ledgerEnd">

/** Polls the operator's commands every second and applies them to the running node. */
export const attend = (sql: SqlClient.SqlClient, node: Node): Effect.Effect<void> => {
  let planText = "{}"
  const look = Effect.gen(function* () {
    const wishes = yield* Effect.flatMap(
      sql`select what, body::text as body from ledger_sim.wish`,
      decodeWishes
    )
    const faults = wishes.find(({ what }) => what === "faults")?.body ?? "{}"
    if (faults !== planText) {
      planText = faults
      const plan = Result.flatMap(Result.mapError(parse(faults), String), (content) =>
        Result.mapError(readPlan(content), String)
      )
      if (Result.isSuccess(plan)) node.faults.replace(plan.success)
      else yield* Effect.logError("the fault plan is not understood", plan.failure)
    }
    const upTo = Number(wishes.find(({ what }) => what === "prune")?.body ?? "0")
    const [horizon, end] = yield* Effect.all([node.horizon, node.ledgerEnd])
    if (upTo > horizon && upTo <= end) yield* node.admin.prune(Offset.of(upTo))
  })
  return Stream.tick(lookEvery).pipe(
    Stream.runForEach(() =>
      Effect.catch(look, (error) =>
        Effect.logWarning("the operator's wishes cannot be read", error)
      )
    )
  )
}
