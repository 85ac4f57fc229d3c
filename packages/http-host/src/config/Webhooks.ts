/** The webhooks that a deployment's configuration names, and where webhooks may go. */
import { type ConfiguredWebhook, DeliveryRules, Vocabulary } from "@bursar/engine-core"
import { Codec, RecordId } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as Addresses from "../outbound/Addresses.ts"
import * as Kind from "./Kind.ts"

const webhooksMax = 100
const secretsMax = 3

const secret = Codec.make({
  from: Schema.String,
  to: Schema.Uint8Array,
  parse: (text) => {
    const read = DeliveryRules.secretOf(text)
    return read === undefined
      ? Codec.fault("a secret is whsec_ and 24 to 64 bytes in base64")
      : Result.succeed(read)
  },
  print: (read) => `whsec_${Buffer.from(read).toString("base64")}`
})

const members = Vocabulary.EventType.members.filter(Vocabulary.isControl)
/** A control event, of the engine or of a room. */
const Control = Schema.Union([
  ...members.map((member) => Schema.Literal(member)),
  Vocabulary.OwnWord.dotted
])

const Webhook = Schema.Struct({
  webhookId: RecordId.make("WebhookId"),
  url: Schema.String.check(Schema.isMaxLength(2_048)),
  events: Schema.optionalKey(Schema.NullOr(Schema.Array(Control).check(Schema.isUnique()))),
  secrets: Schema.optionalKey(Schema.Array(secret).check(Schema.isMaxLength(secretsMax)))
})

const list = Kind.structured({
  limit:
    `a JSON list of {"webhookId", "url", "events", "secrets"}: at most ${webhooksMax}, ` +
    `each with up to ${secretsMax} secrets`,
  schema: Schema.Array(Webhook).check(Schema.isMaxLength(webhooksMax)),
  secret: "secret"
})

/** Kind of the configured webhooks: an empty text is an empty list. */
export const configured: Kind.Kind<ReadonlyArray<ConfiguredWebhook>> = Kind.empty([], {
  ...list,
  read: (rawValue) =>
    Result.flatMap(list.read(rawValue), (webhooks) => {
      const ids = webhooks.map(({ webhookId }) => webhookId)
      const again = ids.findIndex((id, at) => ids.indexOf(id) !== at)
      return again < 0
        ? Result.succeed(
            webhooks.map(({ webhookId, url, events, secrets }) => ({
              webhookId,
              url,
              events: events ?? [],
              secrets: secrets ?? []
            }))
          )
        : Result.fail([{ pointer: `/${again}/webhookId`, detail: "another webhook has this id" }])
    })
})

/** Kind of a network that webhooks may be posted to though it is not public. */
export const network: Kind.Kind<Addresses.Network> = Kind.text(
  "a network such as 10.1.0.0/16 or fd00::/8",
  (text) => Addresses.networkOf(text)
)
