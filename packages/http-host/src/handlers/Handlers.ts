/** Handlers of all routes: generated for operations and reads, and the few written by hand. */
import {
  AuditQueries,
  EventQueries,
  FourEyes,
  Intake,
  Queries,
  Reconciler,
  Signals
} from "@bursar/engine-core"
import { Effect, Layer, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Socket } from "node:net"
import type { Interface } from "../api/Interface.ts"
import type { Route } from "../api/Route.ts"
import type { Venue } from "../api/SystemApi.ts"
import { Arrival } from "../middleware/Arrival.ts"
import * as CallAudit from "../middleware/CallAudit.ts"
import * as Gates from "../middleware/Gates.ts"
import type * as PublicText from "../middleware/PublicText.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { SignedRequests } from "../middleware/SignedRequests.ts"
import type { Waits } from "../middleware/Waits.ts"
import type { AnonymousConnections } from "../middleware/AnonymousConnections.ts"
import { Readiness } from "../Readiness.ts"
import type { SignedInHandler, HandlerAnswer, OpenHandler } from "./Handler.ts"
import * as FeedsHandlers from "./FeedsHandlers.ts"
import * as ReadHandler from "./read.ts"
import * as ReconciliationHandlers from "./ReconciliationHandlers.ts"
import * as StatementsHandlers from "./StatementsHandlers.ts"
import * as SystemHandlers from "./SystemHandlers.ts"
import * as WritesHandlers from "./WritesHandlers.ts"
import * as WriteHandler from "./write.ts"

interface ServedApi {
  readonly api: Interface
  readonly routes: ReadonlyArray<Route>
  readonly tenant: Venue
  readonly basePath: string
  readonly openapi: PublicText.PublicText
  readonly anonymous: AnonymousConnections<Socket>
  readonly waits: Waits
}

type RouteHandler = (arrival: Arrival["Service"], passed: Gates.PassedRequest) => HandlerAnswer

/** Layer of the handlers of every group of routes. */
export const layer = (serving: ServedApi) =>
  Layer.unwrap(
    Effect.map(answering(serving), (handle) => {
      const [first, ...rest] = Object.values(serving.api.groups).map(({ identifier }) =>
        HttpApiBuilder.group(serving.api, identifier, (handlers) => {
          const [one, ...others] = serving.routes.filter(({ group }) => group === identifier)
          if (one === undefined) throw new Error(`${identifier} has no route`)
          // The library's collection of handlers is mutable; each call adds to it.
          for (const route of others) handlers.handleRaw(route.name, handle(route))
          return handlers.handleRaw(anyName(one), handle(one))
        })
      )
      if (first === undefined) throw new Error("an interface without a group")
      return Layer.mergeAll(first, ...rest)
    })
  )

/**
 * Cast: route names are dynamic here, and HttpApi's types require that every name is handled. To
 * the compiler the keys of such a table are texts and numbers.
 */
const anyName = ({ name }: Route): string | number => name

/**
 * Handler of a route: runs the gates, then the route's own handler; a refusal of either becomes a
 * problem.
 */
const answering = (serving: ServedApi) =>
  Effect.gen(function* () {
    const audited = yield* CallAudit.make
    const pass = audited(yield* Gates.make(serving))
    const queries = yield* Queries
    const fourEyes = yield* FourEyes
    const reconciler = yield* Reconciler
    const intake = yield* Intake.StatementIntake
    const readiness = yield* Readiness
    const signals = yield* Signals.Signals
    const { basePath } = serving
    const events = yield* EventQueries.EventQueries
    const auditLog = yield* AuditQueries.AuditQueries
    const byHand: Readonly<Record<string, SignedInHandler>> = {
      ...WritesHandlers.make({ fourEyes, signals, basePath }),
      ...ReconciliationHandlers.make({ reconciler, basePath }),
      ...StatementsHandlers.make({ intake, basePath }),
      ...FeedsHandlers.make({ events, auditLog, signals })
    }
    const open: Readonly<Record<string, OpenHandler>> = SystemHandlers.make({
      ...serving,
      tenant: {
        ...serving.tenant,
        signing: (yield* SignedRequests).announced,
        rateLimit: (yield* RateLimit).announced
      },
      readiness
    })

    const answerOf = ({ name, answers }: Route): RouteHandler => {
      switch (answers.with) {
        case "write": {
          const served = { fourEyes, signals, basePath }
          const handle = WriteHandler.write(answers.operation, served)
          return (arrival, { caller, ...passed }) => handle(arrival, signedIn(caller), passed)
        }
        case "one": {
          const handle = ReadHandler.one(answers.read, { queries, signals })
          return (arrival, { caller, wait }) => handle(arrival, signedIn(caller), wait)
        }
        case "list": {
          const handle = ReadHandler.list(answers.read, queries)
          return (arrival, passed) => handle(arrival, signedIn(passed.caller), passed)
        }
        case "export": {
          const handle = ReadHandler.exported(answers.read, queries)
          return (arrival, { caller, charge }) => handle(arrival, signedIn(caller), charge)
        }
        case "streamed": {
          const handle = ReadHandler.streamed(answers.read, queries)
          return (arrival, { caller, charge }) => handle(arrival, signedIn(caller), charge)
        }
        case "hand": {
          const opened = open[name]
          if (opened !== undefined) return opened
          const handle = byHand[name]
          if (handle === undefined) throw new Error(`nothing answers ${name}`)
          return (arrival, { caller, ...passed }) =>
            handle({ ...passed, arrival, caller: signedIn(caller) })
        }
      }
    }

    return (route: Route) => {
      const answer = answerOf(route)
      return (): Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        never,
        Arrival | Scope.Scope
      > =>
        Effect.flatMap(Arrival, (arrival) =>
          pass(arrival, (passed) => answer(passed.arrival, passed))
        )
    }
  })

/** Invariant: the gates pass a call without a caller only on public routes, and these need none. */
const signedIn = <A>(caller: A | null): A => {
  if (caller === null) throw new Error("a route that needs a caller was passed without one")
  return caller
}
