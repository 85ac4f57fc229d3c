/** `bursar openapi`: prints the document that describes the API. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

export const openapi = (deploying: VenueDeployment) =>
  Command.make("openapi", {}, () =>
    Effect.gen(function* () {
      const { catalogue } = yield* deploying
      // Imported lazily: other commands do not load the tables of the API.
      const { routesOf } = yield* Effect.promise(() => import("../api/Api.ts"))
      const { text } = yield* Effect.promise(() => import("../api/Document.ts"))
      yield* Outcome.print(text(routesOf(catalogue), catalogue))
    })
  ).pipe(
    Command.withShortDescription("Print the OpenAPI document"),
    Command.withDescription(
      "Prints the OpenAPI 3.1 document that the venue serves at GET /v1/openapi.json, with the rooms of its own. It needs no settings."
    )
  )
