/** `bursar openapi`: prints the document that describes the API. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Outcome from "./Outcome.ts"

export const openapi = Command.make("openapi", {}, () =>
  Effect.gen(function* () {
    // Imported lazily: other commands do not load the tables of the API.
    const { routes } = yield* Effect.promise(() => import("../api/Api.ts"))
    const { text } = yield* Effect.promise(() => import("../api/Document.ts"))
    yield* Outcome.print(text(routes))
  })
).pipe(
  Command.withShortDescription("Print the OpenAPI document"),
  Command.withDescription(
    "Prints the OpenAPI 3.1 document that the venue serves at GET /v1/openapi.json. It needs no settings."
  )
)
