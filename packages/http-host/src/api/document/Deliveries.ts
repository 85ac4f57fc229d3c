/** The document's webhook: delivery of a control event. */
import type { OpenAPIV3_1 } from "openapi-types"

const header = (
  name: string,
  description: string,
  example: string | number
): OpenAPIV3_1.ParameterObject => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: typeof example === "number" ? "integer" : "string" },
  example
})

/**
 * The `webhooks` part of the document: one delivery of a control event, by Standard Webhooks 1.0.0
 * (docs/contract/webhooks.md#deliveries).
 */
export const webhooks: Readonly<Record<string, OpenAPIV3_1.PathItemObject>> = {
  controlEvent: {
    post: {
      tags: ["Feeds"],
      operationId: "controlEvent",
      summary: "controlEvent",
      description:
        "Posted to every webhook that names the event's type, or names none: at least once, in no " +
        "promised order. The same event keeps its webhook-id over attempts, webhooks and replays.",
      security: [],
      parameters: [
        header("webhook-id", "Names the event: the receiver drops what it has.", "evt_venue-1_7"),
        header("webhook-timestamp", "Seconds since the epoch, of this attempt.", 1767225600),
        header(
          "webhook-signature",
          "One v1 of each active secret and one v1a, over id, timestamp and the bytes of the body.",
          "v1,h4WvjmYtDPZNWv5T4NtzQG1q2d2rovqGkKza8gWndlE="
        ),
        header("X-Webhook-Id", "The webhook it is posted to.", "wh_1"),
        header("X-Webhook-Attempt", "Which attempt this is, 1 to 10.", 1),
        header(
          "traceparent",
          "W3C trace context of the act announced.",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        )
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: "#/components/schemas/Event" } } }
      },
      responses: {
        "2XX": { description: "The delivery is taken." },
        "4XX": { description: "It is tried again, ten times in all." },
        default: { description: "It is tried again, ten times in all." }
      }
    }
  }
}
