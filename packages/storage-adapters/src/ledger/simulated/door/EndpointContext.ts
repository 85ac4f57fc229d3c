/** Context of every endpoint of the door: the node, and one caller's request. */
import type { PlainJson } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import type { Duration, Result, Stream } from "effect"
import type { LedgerError } from "../LedgerError.ts"
import { Participant } from "../Participant.ts"
import type * as Users from "../Users.ts"
import type { Setting } from "./Answers.ts"
import type { Json } from "./Json.ts"
import type { Refusal } from "./Refusals.ts"
import * as TypeNames from "./TypeNames.ts"

/** Release line of the ledger API that the door imitates. */
export type Profile = "3.4" | "3.5"

export interface EndpointContext extends Setting {
  readonly participant: Participant["Service"]
  readonly profile: Profile
  /** Timeout of a call, after which its outcome is uncertain to the caller. */
  readonly answerWithin: Duration.Duration
}

export interface Call {
  readonly user: Users.User
  readonly body: PlainJson.Plain
  /** The variable segment of the path; empty where there is none. */
  readonly name: string
  readonly traceparent: string | null
}

export type Handler = (context: EndpointContext, call: Call) => Effect.Effect<Json, Refusal>

/** An endpoint that streams elements: all of them on a socket, a bounded list over HTTP. */
export type Opener = (
  context: EndpointContext,
  call: Call
) => Effect.Effect<Stream.Stream<Json, LedgerError>, Refusal>

export const make = (
  settings: Pick<EndpointContext, "profile" | "answerWithin">
): Effect.Effect<EndpointContext, never, Participant> =>
  Effect.gen(function* () {
    const participant = yield* Participant
    const names = TypeNames.make(yield* participant.packages)
    return { ...settings, participant, names, synchronizerId: participant.synchronizerId }
  })

export const from = <A, E>(result: Result.Result<A, E>): Effect.Effect<A, E> =>
  Effect.fromResult(result)
