/**
 * Repeats over HTTP of every kind of write that a caller can make, under its key and without one: the
 * answer is the first operation while what it made is as it was made, and the body's key ends with that.
 */
import { Catalogue, Engine, FourEyes } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Webhooks from "../feeds/webhooks.ts"
import { keysOfBodies } from "../operations/keys-of-bodies.ts"
import { stories } from "../operations/stories.ts"
import * as Twins from "./twins.ts"
import * as Venue from "./venue.ts"

type Submit = FourEyes["Service"]["submit"]

/** A call of a story, as its caller sends it again. */
interface Sent {
  readonly kind: string
  readonly again: Effect.Effect<Repeat>
  readonly id: string
  isJudged: boolean
}
interface Repeat {
  readonly status: number
  readonly id: string
  readonly state: string
  readonly isReplayed: boolean
}

const idOf = (value: unknown): string => {
  const { actionKey = null, operationId = null } = Object(value) as {
    readonly actionKey?: string | null
    readonly operationId?: string | null
  }
  return actionKey ?? operationId ?? ""
}

const tokens = new Map<string, Promise<string>>()

/** A token of a caller, signed once: a host verifies it once, too. */
const tokenOf = (sub: string, roles: ReadonlyArray<string>): Promise<string> => {
  const name = `${sub} ${roles.join()}`
  const token = tokens.get(name) ?? Venue.bearer(roles, { sub, exp: 1_900_000_000 })
  tokens.set(name, token)
  return token
}

/** The call once more, over HTTP: the same caller, path, body and key. */
const repeatOf = (
  { port }: Twins.Twin,
  [operation, call]: Parameters<Submit>
): Effect.Effect<Repeat> =>
  Effect.promise(async () => {
    const { caller, body, ifMatch = null, key, path } = call
    const { roles, sub } = caller
    const as = await tokenOf(sub, roles)
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: operation.route.slice(0, operation.route.indexOf(" ")),
      headers: {
        authorization: as,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === null ? {} : { "idempotency-key": key }),
        ...(ifMatch === null ? {} : { "if-match": `"${ifMatch}"` })
      },
      ...(body === undefined ? {} : { body: PlainJson.stringify(body) })
    })
    const answer = JSON.parse((await response.text()) || "{}")
    return {
      status: response.status,
      id: idOf(answer.value ?? answer),
      state: String((answer.value ?? answer).state),
      isReplayed: response.headers.get("idempotent-replayed") === "true"
    }
  })

/** Answers to the repeats of each kind. */
const seen = {
  keyed: new Set<string>(),
  keyless: new Set<string>(),
  /** At the end of a story: the body's key of a kind still names the write, or it has ended. */
  atTheEnd: new Map<string, Set<"binds" | "ended">>(),
  wrong: new Array<unknown>()
}

const judge = (sent: Sent, when: string) =>
  Effect.map(sent.again, (repeat) => {
    const { id, isReplayed, status } = repeat
    if (status !== 200 || id !== sent.id || !isReplayed) seen.wrong.push([when, sent.kind, repeat])
    return repeat
  })

/** Plays a story whose calls carry keys or none, and repeats each call when it is made and once it has run. */
const plays = (story: Effect.Effect<unknown, unknown, Twins.Services>, form: "keyed" | "keyless") =>
  Twins.within(
    (twin) =>
      Effect.gen(function* () {
        const door = yield* FourEyes
        const engine = yield* Engine.Engine
        const all: Array<Sent> = []
        const submit: Submit = (operation, submission) =>
          Effect.gen(function* () {
            const call = {
              ...submission,
              key: form === "keyed" ? submission.key : null,
              // A removal has no body.
              body: operation.route.startsWith("DELETE ") ? undefined : submission.body
            }
            const answer = yield* door.submit(operation, call)
            if (answer.status !== 202) return answer
            const { kind } = operation
            const again = repeatOf(twin, [operation, call])
            const sent = { kind, again, id: idOf(answer.value), isJudged: false }
            all.push(sent)
            seen[form].add(kind)
            yield* judge(sent, "as it was made")
            return answer
          })
        const settle = Effect.tap(engine.settle, () =>
          Effect.forEach(all, (sent) => {
            if (sent.isJudged) return Effect.void
            return Effect.map(judge(sent, "once it has run"), ({ state }) => {
              sent.isJudged = state !== "awaiting"
            })
          })
        )
        yield* story.pipe(
          Effect.provideService(FourEyes, { ...door, submit }),
          Effect.provideService(Engine.Engine, { ...engine, settle })
        )
        if (form === "keyed") return yield* Effect.forEach(all, (sent) => judge(sent, "at the end"))
        for (const { again, id, kind } of all) {
          const repeat = yield* again
          const outcome = repeat.status === 200 && repeat.id === id ? "binds" : "ended"
          seen.atTheEnd.set(kind, (seen.atTheEnd.get(kind) ?? new Set()).add(outcome))
        }
      }),
    // The window outlasts every story: what ends a key here is that its outcome was left.
    { ...Webhooks.settings, bodyKeyWindow: 400 * 86_400_000 },
    new Webhooks.Receivers().sender
  )

const kinds = Catalogue.operations.map(({ kind }) => kind)
const kindsOf = (key: string) =>
  Object.entries(keysOfBodies).flatMap(([kind, row]) => (row.key === key ? [kind] : []))

describe("a call that is repeated over HTTP", () => {
  beforeAll(async () => {
    for (const [name, story] of Object.entries(stories)) {
      for (const form of ["keyed", "keyless"] as const) {
        await plays(story, form).catch((cause) => seen.wrong.push([form, name, String(cause)]))
      }
    }
  })

  it("is answered as its first one, as it was made and once it has run", () => {
    expect(seen.wrong).toEqual([])
  })

  it.each(["keyed", "keyless"] as const)("was %s, of every kind that a caller can make", (form) => {
    expect([...seen[form]].toSorted()).toEqual([...kinds].toSorted())
    expect([...kindsOf("for-good"), ...kindsOf("until-left")].toSorted()).toEqual(
      [...kinds].toSorted()
    )
  })

  it.each(kindsOf("for-good"))("without a key binds for its window: %s", (kind) => {
    expect([...(seen.atTheEnd.get(kind) ?? [])]).toEqual(["binds"])
  })

  it.each(kindsOf("until-left"))("without a key binds until that was left: %s", (kind) => {
    expect([...(seen.atTheEnd.get(kind) ?? [])]).toContain("ended")
  })
})
