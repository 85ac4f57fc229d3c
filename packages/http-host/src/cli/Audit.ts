/** `bursar audit`: checks the audit log from its own hashes and signatures, and prunes it. */
import { AuditRunner } from "@bursar/engine-core"
import { Data, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import * as AnchorFile from "../outbound/AnchorFile.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

/** The log's chain or signatures are wrong, or could not be checked. */
class NotVerified extends Data.TaggedError("NotVerified")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** The log was not pruned; no record was deleted. */
class NotPruned extends Data.TaggedError("NotPruned")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Schema of a sequence number of the log. */
const Seq = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    { message: "a number of the log is a whole number from 1" }
  )
)

const anchorsOf = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return []
  const path = file.value
  const { anchors, brokenAt } = yield* Effect.tryPromise({
    try: () => AnchorFile.read(path),
    catch: () => new NotVerified({ detail: `${path} cannot be read` })
  })
  if (brokenAt === null) return anchors
  return yield* new NotVerified({ detail: `line ${brokenAt} of ${path} is not a checkpoint` })
})

const verify = (deploying: VenueDeployment) =>
  Command.make(
    "verify",
    {
      fromSeq: Flag.Int("from-seq").pipe(
        Flag.withSchema(Seq),
        Flag.withDescription("Begin with this record; what came before is taken as it was"),
        Flag.optional
      ),
      anchors: Flag.String("anchors").pipe(
        Flag.withDescription(
          "A file of checkpoints that was kept elsewhere, one JSON object a line"
        ),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ fromSeq, anchors }) {
      const config = yield* HostConfig.loadForKeeper
      const keptAnchors = yield* anchorsOf(anchors)
      const { auditLog } = yield* deploying
      const found = yield* AuditRunner.verifyLog({
        anchors: keptAnchors,
        ...(Option.isSome(fromSeq) ? { fromSeq: fromSeq.value } : {})
      }).pipe(
        Effect.provide(auditLog(config)),
        Effect.catchTag("Unavailable", ({ detail }) => Effect.fail(new NotVerified({ detail })))
      )
      if (found.fault !== null) {
        const { seq, why } = found.fault
        return yield* new NotVerified({ detail: `record ${seq} of the audit log: ${why}` })
      }
      const range = found.first === null ? "" : `, ${found.first} to ${found.last?.seq ?? 0}`
      const against =
        keptAnchors.length === 0 ? "" : `, against ${keptAnchors.length} checkpoints kept elsewhere`
      yield* Outcome.print(`the audit log is in order: ${found.records} records${range}${against}`)
    })
  ).pipe(
    Command.withShortDescription("Check the audit log"),
    Command.withDescription(
      "Recomputes the audit log's chain from the stored texts, checks the signature of every checkpoint, and names the first record that is not what it should be; then it ends with 1. A tail that was cut, or a log that was rewritten whole, is seen only with --anchors: checkpoints that were kept out of the venue's reach. It runs beside the hosts of a database that database.url names; an embedded database belongs to its host, which must stop first."
    ),
    Command.withExamples([
      { command: "bursar audit verify", description: "Check the whole log" },
      {
        command: "bursar audit verify --anchors /mnt/elsewhere/anchors.jsonl",
        description: "Check it against what was kept elsewhere"
      }
    ])
  )

const prune = (deploying: VenueDeployment) =>
  Command.make("prune", {}, () =>
    Effect.gen(function* () {
      const config = yield* HostConfig.loadForKeeper
      const { records } = yield* deploying
      const found = yield* AuditRunner.prune.pipe(
        Effect.provide(records(config)),
        Effect.catchTag("Unavailable", ({ detail }) => Effect.fail(new NotPruned({ detail }))),
        // The store dies where its role may not prune; its message says what to ask an administrator
        // for.
        Effect.catchDefect((cause) => Effect.fail(new NotPruned({ detail: String(cause) })))
      )
      if (found.was === "kept for ever") {
        return yield* new NotPruned({
          detail: "retention.auditLog is empty: the log is kept for ever"
        })
      }
      yield* Outcome.print(
        found.was === "pruned"
          ? `deleted: ${found.deleted} records; the audit log begins with checkpoint ${found.start}`
          : "deleted: 0 records; no checkpoint is older than retention.auditLog"
      )
    })
  ).pipe(
    Command.withShortDescription("Delete the oldest part of the audit log"),
    Command.withDescription(
      "Deletes what is older than retention.auditLog, up to a checkpoint that stays as the log's new start, and tells of it in the log. The database's own role must be a member of the role bursar_pruner; nothing else deletes from the log. Keep a copy of what goes, and of the checkpoints, elsewhere first."
    )
  )

export const audit = (deploying: VenueDeployment) =>
  Command.make("audit").pipe(
    Command.withShortDescription("What is done about the audit log beside the API"),
    Command.withDescription("What the venue's keeper does about the audit log beside the API."),
    Command.withSubcommands([verify(deploying), prune(deploying)])
  )
