/** Calling the door in tests: people, their calls, approvals and rejections, and what they answer. */
import { type Caller, Engine, Follower, FourEyes, type Operation } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, References, Result, type Scope } from "effect"
import { TestClock } from "effect/testing"

export const person = (sub: string, ...roles: Caller.Caller["roles"]): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null
})

let requests = 0
export const identity = () => ({ requestId: `req-${++requests}`, traceId: null, keyId: null })

/** Makes a write's call with a body in plain JSON text; the path is filled with the parameters. */
export const submit = (
  operation: Operation.Operation,
  caller: Caller.Caller,
  of: {
    readonly params: Readonly<Record<string, string>>
    readonly body?: string
    readonly key?: string | null
    readonly identity?: Caller.RequestIdentity
  }
) =>
  Effect.flatMap(FourEyes, (door) =>
    door.submit(operation, {
      caller,
      identity: of.identity ?? identity(),
      key: of.key ?? null,
      path: operation.route
        .slice(operation.route.indexOf(" ") + 1)
        .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => of.params[name] ?? ""),
      query: "",
      body: Result.getOrThrow(PlainJson.parse(of.body ?? "{}")),
      params: of.params
    })
  )

export const approve = (
  actionKey: string,
  caller: Caller.Caller,
  key: string | null = null,
  seen: string | null = null
) =>
  Effect.flatMap(FourEyes, (door) =>
    door.approve({ actionKey, caller, identity: identity(), key, figuresHashSeen: seen })
  )

export const reject = (actionKey: string, caller: Caller.Caller, key: string | null = null) =>
  Effect.flatMap(FourEyes, (door) =>
    door.reject({ actionKey, caller, identity: identity(), key, reason: null })
  )

export const settle = Effect.flatMap(Engine.Engine, (engine) => engine.settle)

/** The ledger is projected to its end; nothing that is queued runs. */
export const catchUp = Effect.flatMap(Follower, (follower) => follower.catchUp)

/** A member of an answer's value. */
export const field = (
  answer: { readonly value: PlainJson.Plain },
  name: string
): PlainJson.Plain => {
  const value = answer.value
  if (typeof value !== "object" || value === null || !(name in value)) throw new Error(name)
  return (value as { readonly [k: string]: PlainJson.Plain })[name] ?? null
}

/** The refusal's slug, or that there was none. */
export const slug = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no refusal"
    const error: unknown = result.failure
    return typeof error === "object" && error !== null && "slug" in error
      ? String(error.slug)
      : String(error)
  })

/** Runs one case of a property: a scope and a clock of its own. */
export const runCase = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(Effect.scoped(effect), TestClock.layer()).pipe(
      // What goes wrong on purpose would fill the screen.
      Effect.provideService(References.MinimumLogLevel, process.env["LOGS"] ? "All" : "None")
    )
  )
