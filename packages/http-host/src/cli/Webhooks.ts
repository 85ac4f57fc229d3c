/** `bursar webhooks replay`: posts past events to a webhook again. */
import { replay as replayed } from "@bursar/engine-core"
import { Data, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

class NotReplayed extends Data.TaggedError("NotReplayed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Schema of a sequence number of the feed. */
const Seq = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    { message: "a number of the feed is a whole number from 1" }
  )
)

const replay = (deploying: VenueDeployment) =>
  Command.make(
    "replay",
    {
      webhook: Flag.String("webhook").pipe(Flag.withDescription("The webhook's id")),
      fromSeq: Flag.Int("from-seq").pipe(
        Flag.withSchema(Seq),
        Flag.withDescription("The first event's number on the feed")
      ),
      toSeq: Flag.Int("to-seq").pipe(
        Flag.withSchema(Seq),
        Flag.withDescription("The last event's number; both are posted")
      )
    },
    Effect.fnUntraced(function* ({ webhook, fromSeq, toSeq }) {
      if (toSeq < fromSeq) {
        return yield* new NotReplayed({ detail: "--to-seq is before --from-seq" })
      }
      const config = yield* HostConfig.loadForKeeper
      const { records } = yield* deploying
      const queued = yield* replayed({ webhookId: webhook, fromSeq, toSeq }).pipe(
        Effect.provide(records(config)),
        Effect.catchTags({
          Refused: ({ details: { detail }, slug }) =>
            Effect.fail(
              new NotReplayed({
                detail: slug === "not-found" ? "there is no such webhook" : (detail ?? slug)
              })
            ),
          Unavailable: ({ detail }) => Effect.fail(new NotReplayed({ detail }))
        })
      )
      yield* Outcome.print(`queued: ${queued}`)
    })
  ).pipe(
    Command.withShortDescription("Post past events to a webhook again"),
    Command.withDescription(
      "Queues a delivery of every control event of the feed from one number to another that the webhook takes. Each is posted like any other, by whichever instance runs, under the webhook-id it had: a receiver that has it already knows it again."
    ),
    Command.withExamples([
      {
        command: "bursar webhooks replay --webhook wh_1 --from-seq 120 --to-seq 180",
        description: "Post events 120 to 180 to wh_1 again"
      }
    ])
  )

export const webhooks = (deploying: VenueDeployment) =>
  Command.make("webhooks").pipe(
    Command.withShortDescription("What is done about webhooks beside the API"),
    Command.withDescription("What the venue's keeper does about webhooks beside the API."),
    Command.withSubcommands([replay(deploying)])
  )
