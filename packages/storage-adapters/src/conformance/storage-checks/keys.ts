/** Checks of Keys: of parallel calls one binds a key, and the others read its target. */
import { Atomically, Keys } from "@bursar/engine-core/ports"
import { Deferred, Effect, Fiber, Option } from "effect"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"

const PORT = "Keys"
const now = instant(10)

export const keys: ReadonlyArray<Check> = [
  check(
    PORT,
    "lets one of 50 parallel calls bind a key and shows the others its row",
    function* () {
      const { bind, find } = yield* Keys
      const scope = yield* fresh("scope")
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => n),
        (n) =>
          bind({
            scope,
            key: "k",
            fingerprint: `f${n % 2}`,
            target: `t${n}`,
            bindsUntil: null,
            now
          }),
        { concurrency: "unbounded" }
      )
      const firsts = answers.flatMap((answer, n) => (answer.isBound ? [n] : []))
      yield* same("how many bound it", firsts.length, 1)
      const binding = { scope, key: "k", bindsUntil: null, target: `t${firsts[0]}` }
      const row = { ...binding, fingerprint: `f${Number(firsts[0]) % 2}` }
      const earlierRows = answers.flatMap((answer) => (answer.isBound ? [] : [answer.earlier]))
      yield* same("what the others read", earlierRows, Array(49).fill(row))
      yield* same("what is kept", Option.getOrThrow(yield* find({ scope, key: "k", now })), row)
    }
  ),
  check(
    PORT,
    "makes a call wait for a binding that has not committed, and binds the key if that fails",
    function* () {
      const { run } = yield* Atomically
      const { bind } = yield* Keys
      const scope = yield* fresh("scope")
      for (const end of ["commits", "fails"] as const) {
        const row = { scope, key: end, fingerprint: "f", bindsUntil: null, now }
        const isFirstSent = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const first = yield* Effect.forkChild(
          Effect.exit(
            run(
              bind({ ...row, target: "first" }).pipe(
                Effect.andThen(Deferred.succeed(isFirstSent, undefined)),
                Effect.andThen(Deferred.await(go)),
                Effect.andThen(end === "fails" ? Effect.fail("no") : Effect.void)
              )
            )
          )
        )
        yield* Deferred.await(isFirstSent)
        const second = yield* Effect.forkChild(bind({ ...row, target: "second" }))
        yield* Effect.sleep("30 millis")
        yield* same("whether the second waits", second.pollUnsafe() === undefined, true)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(first)
        yield* same(
          `whether the second binds when the first ${end}`,
          (yield* Fiber.join(second)).isBound,
          end === "fails"
        )
      }
    }
  ),
  check(PORT, "keeps keys of two scopes apart", function* () {
    const { bind } = yield* Keys
    const scope = yield* fresh("scope")
    const row = { key: "k", fingerprint: "f", target: "t", bindsUntil: null, now }
    const answers = [
      yield* bind({ ...row, scope }),
      yield* bind({ ...row, scope: `${scope}k` }),
      yield* bind({ ...row, scope, key: "kk" })
    ]
    yield* same("the answers", answers, Array(3).fill({ isBound: true }))
  }),
  check(PORT, "judges each of the keys that a transaction binds at once", function* () {
    const { run } = yield* Atomically
    const { bind } = yield* Keys
    const scope = yield* fresh("scope")
    const row = { scope, fingerprint: "f", bindsUntil: null, now: instant(30) }
    yield* bind({ ...row, key: "bound", target: "first" })
    yield* bind({ ...row, key: "lapsed", target: "first", bindsUntil: instant(20) })
    yield* bind({ ...row, key: "binding", target: "first", bindsUntil: instant(29) })
    const bindings = [
      { ...row, key: "free", target: "a" },
      { ...row, key: "bound", target: "b" },
      { ...row, key: "lapsed", target: "c" },
      { ...row, key: "binding", target: "d", now: instant(25) },
      { ...row, key: "free", target: "e" },
      { ...row, scope: `${scope}k`, key: "free", target: "f" }
    ]
    const answers = yield* run(Effect.forEach(bindings, bind, { concurrency: "unbounded" }))
    yield* same(
      "the target of each",
      answers.map((answer, n) => (answer.isBound ? bindings[n]?.target : answer.earlier.target)),
      ["a", "first", "c", "first", "a", "f"]
    )
    yield* same(
      "which of them bind",
      answers.map(({ isBound }) => isBound),
      [true, false, true, false, false, true]
    )
  }),
  check(PORT, "lets a key bind until its instant and be bound anew after it", function* () {
    const { bind, find } = yield* Keys
    const scope = yield* fresh("scope")
    const row = { scope, key: "k", fingerprint: "f", target: "old", bindsUntil: instant(20) }
    yield* bind({ ...row, now })
    const at = (micros: number) => ({ ...row, target: "new", now: instant(micros) })
    yield* same("at its end", (yield* bind(at(20))).isBound, false)
    yield* same("found at its end", Option.isSome(yield* find(at(20))), true)
    yield* same("found after it", Option.isSome(yield* find(at(21))), false)
    yield* same("after it", (yield* bind({ ...at(21), bindsUntil: null })).isBound, true)
    yield* same(
      "kept",
      Option.map(yield* find(at(99)), (held) => held.target),
      Option.some("new")
    )
  }),
  check(PORT, "rewrites the target of a key that is held, and of no other", function* () {
    const { bind, find, retarget } = yield* Keys
    const scope = yield* fresh("scope")
    yield* bind({ scope, key: "k", fingerprint: "f", target: "t", bindsUntil: null, now })
    yield* retarget({ scope, key: "k", target: "u" })
    const held = Option.getOrThrow(yield* find({ scope, key: "k", now }))
    yield* same("the row", [held.target, held.fingerprint], ["u", "f"])
    yield* ends("a key nobody holds", retarget({ scope, key: "l", target: "u" }), "defect")
  }),
  check(PORT, "frees every key of some targets, with its transaction, and no other", function* () {
    const { run } = yield* Atomically
    const { bind, find, free } = yield* Keys
    const scope = yield* fresh("scope")
    const targets = ["a", "b", "b", "c"].map((name) => `${scope}-${name}`)
    const row = { scope, fingerprint: "f", now }
    for (const [n, target] of targets.entries()) {
      yield* bind({ ...row, key: `k${n}`, target, bindsUntil: n === 1 ? instant(20) : null })
    }
    const held = Effect.map(
      Effect.forEach(targets, (_, n) => find({ scope, key: `k${n}`, now })),
      (found) => found.map((key) => (Option.isSome(key) ? "held" : "free")).join(" ")
    )
    const both = free([`${scope}-a`, `${scope}-b`, `${scope}-x`])
    yield* ends("a run that fails", run(Effect.andThen(both, Effect.fail("no"))), "no")
    yield* same("after a failed run", yield* held, "held held held held")
    yield* same("of no target", yield* free([]), 0)
    yield* same("of a part of a name", yield* free([scope]), 0)
    yield* same("how many", yield* both, 3)
    yield* same("what is held", yield* held, "free free free held")
    yield* same("no more", yield* both, 0)
    const again = yield* bind({ ...row, key: "k1", target: "t", bindsUntil: null })
    yield* same("a freed key is bound", again, { isBound: true })
  }),
  check(PORT, "admits a nonce once of 50 parallel uses, in each scope", function* () {
    const { useNonce } = yield* Keys
    const scope = yield* fresh("scope")
    const use = (scope: string) => useNonce({ scope, nonce: "n", keep: 60_000 })
    const uses = yield* Effect.forEach(Array.from({ length: 50 }), () => use(scope), {
      concurrency: "unbounded"
    })
    yield* same("the first uses", uses.filter((first) => first).length, 1)
    yield* same("in another scope", yield* use(`${scope}2`), true)
  }),
  check(
    PORT,
    "forgets what has lapsed, up to the limit, and nothing that still binds",
    function* () {
      const { bind, find, forget, useNonce } = yield* Keys
      const scope = yield* fresh("scope")
      const early = "0001-01-01T00:00:00.000000000Z"
      const before = "0001-01-02T00:00:00.000000000Z"
      const row = { scope, fingerprint: "f", target: "t", now: early }
      const keep = 3_600_000
      // A store that is kept between runs may hold keys of an earlier run.
      yield* forget({ before, limit: 10_000 })
      yield* bind({ ...row, key: "lapsed", bindsUntil: early })
      yield* bind({ ...row, key: "bound", bindsUntil: before })
      yield* bind({ ...row, key: "for ever", bindsUntil: null })
      yield* useNonce({ scope, nonce: "old", keep: 0 })
      yield* useNonce({ scope, nonce: "older", keep: 0 })
      yield* useNonce({ scope, nonce: "kept", keep })
      yield* same("with a limit", yield* forget({ before, limit: 2 }), 2)
      yield* same("the rest", yield* forget({ before, limit: 100 }), 1)
      yield* same("no more", yield* forget({ before, limit: 100 }), 0)
      yield* same("the nonce kept", yield* useNonce({ scope, nonce: "kept", keep }), false)
      yield* same("the nonce gone", yield* useNonce({ scope, nonce: "old", keep: 0 }), true)
      for (const key of ["bound", "for ever"]) {
        yield* same(key, Option.isSome(yield* find({ scope, key, now: early })), true)
      }
      yield* same("lapsed", Option.isSome(yield* find({ scope, key: "lapsed", now: early })), false)
    }
  )
]
