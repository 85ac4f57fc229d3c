/**
 * Distributions that an investor, an app and a wallet may not tell apart: two venues alike but for a
 * restriction or a screening that makes a line wait answer every read in the same bytes.
 */
import { Screenings, Workers } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Month from "../operations/distributions.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Twins from "./twins.ts"

// ---- a history by chance

type Cause = "restriction" | "court-order" | "screening"
type Step =
  /** Makes the line wait, or no longer. */
  | { readonly does: "conceal"; readonly cause: Cause }
  | { readonly does: "cure" }
  | { readonly does: "pause" | "release" | "run" | "roll" }
  /** The line of another holder is delivered. */
  | { readonly does: "deliver-other" }
  /** The line itself, where it does not wait. */
  | { readonly does: "deliver" }
  | { readonly does: "void" }
  /** Causes that everybody may know: an admission that ends, evidence that does, and its cure. */
  | { readonly does: "withdraw" | "revoke" | "verify" }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("conceal" as const),
      cause: fc.constantFrom<Cause>("restriction", "court-order", "screening")
    })
  },
  { weight: 3, arbitrary: fc.constant({ does: "cure" as const }) },
  {
    weight: 8,
    arbitrary: fc.record({ does: fc.constantFrom("pause", "release", "run", "roll") })
  },
  { weight: 2, arbitrary: fc.constant({ does: "deliver-other" as const }) },
  { weight: 1, arbitrary: fc.constant({ does: "deliver" as const }) },
  { weight: 1, arbitrary: fc.constant({ does: "void" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom("withdraw", "revoke", "verify") })
  }
)

interface Scene {
  readonly stage: Effect.Success<ReturnType<typeof Month.founded>>["stage"]
  readonly holders: ReadonlyArray<Cycles.Holder>
  /** The holder that the venue knows something of: of the two, the one with a line, or one without. */
  readonly subject: "h1" | "decoy"
  readonly found: Twins.Twin["found"]
  /** The cause in force; null: there is none. */
  cause: Cause | null
  /** Number of restrictions made; it is the number in the id of the newest. */
  restrictions: number
  hold: string | null
  /** States of the lines of h1 and h2 as they are shown. */
  own: "due" | "delivered" | "rolled" | "void"
  other: "due" | "delivered" | "rolled"
}

const lineOf = (holder: "h1" | "h2") => `d-july.${holder === "h1" ? 1 : 2}`

const succeeds = <R>(ended: Effect.Effect<Calls.Ended, unknown, R>) =>
  Effect.map(ended, (done) => {
    expect(done.why).toBe("")
    return done
  })

/** Id of the newest restriction: an id is never given twice, not even after a lift. */
const restrictionOf = (scene: Scene) => `r-${scene.restrictions}`

/** The screening source has another answer for the subject. */
const screens = (scene: Scene, found: "none" | "possible") =>
  Effect.gen(function* () {
    scene.found.set(scene.subject, found)
    if (found === "possible") yield* (yield* Screenings).rescreen(scene.subject)
    else {
      yield* TestClock.adjust("61 seconds")
      yield* Workers.runOnce("screenings")
    }
    yield* Calls.settle
  })

const conceals = (scene: Scene, cause: Cause) => {
  scene.cause = cause
  if (cause === "screening") return screens(scene, "possible")
  const subject =
    cause === "restriction"
      ? { reason: "sanctions" }
      : { reason: "court-order", order: Twins.order }
  scene.restrictions += 1
  const body = { restrictionId: restrictionOf(scene), mode: "freeze", ...subject }
  return succeeds(Calls.write("holder.restrict", { holderId: scene.subject }, body))
}

const cures = (scene: Scene) => {
  const { cause } = scene
  scene.cause = null
  return cause === "screening"
    ? screens(scene, "none")
    : succeeds(
        Calls.write(
          "restriction.lift",
          { restrictionId: restrictionOf(scene) },
          { reason: "it is over" }
        )
      )
}

/** Evidence of h1, which a line needs once there was any. */
const evidence = (state: "valid" | "revoked") => {
  const attribute = { name: "kyc", value: "passed", evidenceHash: "ab".repeat(32), state }
  return Calls.write("holder.set-attributes", { holderId: "h1" }, { attributes: [attribute] })
}

/** Does a step in its turn, or nothing where it is not possible in either of the two. */
const play = (scene: Scene, { does, ...members }: Step) =>
  Effect.gen(function* () {
    const { stage } = scene
    switch (does) {
      case "conceal":
        if (scene.cause === null)
          yield* conceals(scene, (members as { readonly cause: Cause }).cause)
        return
      case "cure":
        if (scene.cause !== null) yield* cures(scene)
        return
      case "pause": {
        if (scene.hold !== null) return
        const instrument = { instrumentId: "fund-a" }
        const write = Calls.write("instrument.pause", instrument, { reason: "looked into" })
        const { result } = yield* succeeds(write)
        scene.hold = String(result["holdId"])
        return
      }
      case "release":
        if (scene.hold === null) return
        yield* succeeds(Calls.write("hold.release", { holdId: scene.hold }, {}))
        scene.hold = null
        return
      case "run":
        yield* Reconciling.run()
        return
      case "deliver-other":
        if (scene.other !== "due") return
        yield* Month.delivers(stage, "d-july", lineOf("h2"))
        scene.other = "delivered"
        return
      case "deliver":
        if (scene.own !== "due" || scene.cause !== null) return
        yield* Month.delivers(stage, "d-july", lineOf("h1"))
        scene.own = "delivered"
        return
      case "roll": {
        const delivered = (["h1", "h2"] as const).filter(
          (holder) => scene[holder === "h1" ? "own" : "other"] === "delivered"
        )
        if (delivered.length === 0) return
        yield* Month.rolls(delivered.map(lineOf))
        if (scene.own === "delivered") scene.own = "rolled"
        if (scene.other === "delivered") scene.other = "rolled"
        return
      }
      case "void":
        if (scene.own !== "due") return
        yield* Month.voids(lineOf("h1"))
        scene.own = "void"
        return
      case "withdraw":
        yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
        return
      case "revoke":
      case "verify":
        // Refused in both alike where there is nothing to revoke.
        yield* evidence(does === "verify" ? "valid" : "revoked")
    }
  })

// ---- everything that may be asked

type Role = "investor" | "app"

/** Reads that draw on distributions, and those of the holds on their instrument. */
const near =
  /^(?:distribution|holds|instruments\.(?:precheck|series)|holders\.(?:movements|statements|taxStatement))/u

/** Every path of every read of a role, with the windows between the marks and each filter. */
const pathsOf = (
  role: Role,
  run: {
    readonly marks: ReadonlyArray<Mark>
    readonly reads: "all" | "near distributions"
  }
) => {
  const named: Readonly<Record<string, ReadonlyArray<string>>> = {
    instrumentId: ["fund-a"],
    holderId: ["h1", "h2", "decoy"],
    distributionId: ["d-july", "d-none"],
    lineId: ["d-july.1", "d-july.2", "d-july.3"],
    year: ["2026"]
  }
  const withNames = (route: string): ReadonlyArray<string> => {
    const name = /\{([A-Za-z]+)\}/u.exec(route)?.[1]
    return name === undefined
      ? [route]
      : (named[name] ?? ["none"]).flatMap((id) => withNames(route.replace(`{${name}}`, id)))
  }
  const marked = run.marks.flatMap(({ offset, now }) => [`at=${offset}`, `asOf=${now}`])
  const windows = run.marks.flatMap(({ now }, nth) => {
    const next = run.marks[nth + 1]
    return [`updatedFrom=${now}`, ...(next ? [`updatedFrom=${now}&updatedTo=${next.now}`] : [])]
  })
  const queriesOf: Readonly<Record<string, ReadonlyArray<string>>> = {
    "instruments.precheck": [
      "act=distribution.execute&month=2026-07",
      "act=distribution.execute&month=2026-08"
    ],
    "instruments.series": ["price", "supply", "holders", "distributions"].map(
      (metric) => `metric=${metric}`
    ),
    "distributions.list": [
      "",
      ...["executed", "held", "payable", "paid"].map((state) => `state=${state}`),
      "holderId=h1",
      "holderId=decoy",
      "instrumentId=fund-a&month=2026-07"
    ],
    "distributions.lines": [
      "",
      ...["due", "suspended", "delivered", "rolled", "void"].map((state) => `state=${state}`),
      "holderId=h1",
      "holderId=decoy"
    ],
    "distributions.export": ["", "format=csv"],
    "distribution-calendar.list": ["", "from=2026-07&to=2026-09&zone=Asia/Tokyo"]
  }
  let turn = 0
  const turned = (points: ReadonlyArray<string>): string => points[turn++ % points.length]!
  return Twins.readsOf(role).flatMap((read) => {
    if (run.reads === "near distributions" && !near.test(read.name)) return []
    return withNames(read.route.slice("GET ".length)).flatMap((path) =>
      (queriesOf[read.name] ?? [""]).flatMap((query) =>
        [
          [query],
          ...(read.shape === "list" ? [[query, "limit=1"]] : []),
          ...(read.shape === "list" && read.changes
            ? query === ""
              ? windows.map((window) => [window])
              : [[query, turned(windows)]]
            : []),
          ...(read.pinned ? [[query, turned(marked)]] : [])
        ].map((parts) => {
          const queryText = parts.filter((part) => part !== "").join("&")
          return queryText === "" ? path : `${path}?${queryText}`
        })
      )
    )
  })
}

/** The numbers of the feed count events that are concealed from its reader. */
const unnumbered = (path: string, text: string): string =>
  path.startsWith("/v1/events")
    ? text
        .replaceAll(/"seq":\d+/gu, '"seq":0')
        .replaceAll(/"next":"[^"]*"/gu, '"next":""')
        .replaceAll(/^etag: .*$/gmu, "etag")
    : text

const answers = (twin: Twins.Twin, as: string, paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const answerByPath = new Map<string, string>()
    for (const path of paths) {
      for (let page = path; ; ) {
        const { head, status, text } = yield* Twins.call(twin, { path: page, as })
        answerByPath.set(page, unnumbered(path, `${status}\n${head}\n\n${text}`))
        if (!path.includes("limit=1") || status !== 200) break
        const { next } = JSON.parse(text) as { readonly next: string | null }
        if (next === null) break
        page = `${path}&after=${encodeURIComponent(next)}`
      }
    }
    return answerByPath as ReadonlyMap<string, string>
  })

interface Mark {
  readonly offset: number
  readonly now: string
}

/** Updates that a party reads from the ledger, from its beginning and with every effect, by its right alone. */
const seenBy = (holder: Cycles.Holder) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const user = {
      ...{ userId: holder.party, tokenHash: null, expiresAt: null, active: true },
      rights: [{ kind: "CanActAs" as const, party: holder.party }]
    }
    const everything = { wildcard: true, templates: [], interfaces: [], blobs: [] }
    const walletUpdates = participant.updates(user, {
      after: Offset.zero,
      through: Option.some(yield* participant.ledgerEnd),
      reading: { shape: "LEDGER_EFFECTS", byParty: new Map([[holder.party, everything]]) }
    })
    const updates = yield* Stream.runCollect(walletUpdates)
    return updates.map((update) => inspect(update, { depth: 20 })).join("\n")
  })

const marking = (twin: Twins.Twin) =>
  Effect.gen(function* () {
    const as = yield* Twins.token("app", "app")
    const { text } = yield* Twins.call(twin, { path: "/v1/distributions", as })
    yield* TestClock.adjust("1 second")
    return JSON.parse(text) as Mark
  })

/** In the long run every read is asked, by more callers and over more histories. */
const isLong = process.env["TWINS"] !== undefined

interface Played {
  /** Before the execution: the line waits from the beginning, or not. */
  readonly first: Cause | null
  readonly steps: ReadonlyArray<Step>
}

/** Result of a history: its end, and the answers of all reads to each role. */
const playedAs = (subject: Scene["subject"], { first, steps }: Played, lines: "two" | "three") =>
  Twins.within((twin) =>
    Effect.gen(function* () {
      const names = ["h1", "h2", "decoy"] as const
      const { stage, holders, point } = yield* Month.founded(names)
      const scene: Scene = {
        stage,
        holders,
        subject,
        found: twin.found,
        cause: null,
        restrictions: 0,
        hold: null,
        own: "due",
        other: "due"
      }
      const marks: Array<Mark> = []
      yield* Cycles.at("2026-08-03T09:00:00Z")
      if (first !== null) yield* conceals(scene, first)
      // The registrar is told nothing here: what the ledger says is the same in both.
      const added = holders
        .slice(0, lines === "two" ? 2 : 3)
        .map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", added)
      yield* Month.seals("d-july", added)
      yield* Month.turns("d-july", "Open")
      marks.push(yield* marking(twin))
      const really: Array<readonly [string, string | undefined]> = []
      for (const step of steps) {
        yield* play(scene, step)
        marks.push(yield* marking(twin))
        const { state } = yield* Month.distribution()
        const [own] = yield* Month.lines
        really.push([state, own?.state])
      }
      const answersBy = new Map<string, ReadonlyMap<string, string>>()
      for (const caller of isLong ? (["h1", "h2", "app"] as const) : (["h1", "app"] as const)) {
        const role = caller === "app" ? "app" : "investor"
        const as = yield* Twins.token(role, caller)
        const reads = isLong ? "all" : "near distributions"
        const paths = pathsOf(role, { marks, reads })
        const feed = caller === "app" ? ["/v1/events?limit=500"] : []
        answersBy.set(caller, yield* answers(twin, as, [...paths, ...feed]))
      }
      for (const holder of holders.slice(0, 2)) {
        answersBy.set(`wallet of ${holder.holderId}`, new Map([["", yield* seenBy(holder)]]))
      }
      return { given: answersBy, really }
    })
  )

/** The text from shortly before the first place where the other differs. */
const parting = (text = "nothing", other = "nothing"): string => {
  let at = 0
  while (at < text.length && text[at] === other[at]) at += 1
  return text.slice(Math.max(0, at - 60), at + 140)
}

/** Compares the answers of the two venues; returns those that differ. */
const differing = (
  one: ReadonlyMap<string, ReadonlyMap<string, string>>,
  other: ReadonlyMap<string, ReadonlyMap<string, string>>
): ReadonlyArray<string> =>
  [...one].flatMap(([caller, answered]) => {
    const others = other.get(caller)
    return [...new Set([...answered.keys(), ...(others?.keys() ?? [])])].flatMap((path) => {
      const [a, b] = [answered.get(path), others?.get(path)]
      return a === b ? [] : [`${caller} ${path}\n${parting(a, b)}\n-- and\n${parting(b, a)}`]
    })
  })

/** States that the distribution and the line really had, in one venue and in the other. */
const met = new Set<string>()
/** Paths that were answered with something. */
const answered = new Set<string>()

const compares = async (played: Played, lines: "two" | "three") => {
  const one = await playedAs("h1", played, lines)
  const other = await playedAs("decoy", played, lines)
  for (const [nth, [state, line]] of one.really.entries()) {
    met.add(`${state} ${other.really[nth]?.[0]}`).add(`${line} ${other.really[nth]?.[1]}`)
  }
  for (const paths of one.given.values()) {
    for (const [path, text] of paths) {
      if (text.startsWith("200")) answered.add(path.split("?")[0] ?? "")
    }
  }
  expect(differing(one.given, other.given).slice(0, 3)).toEqual([])
}

const conceal = (cause: Cause): Step => ({ does: "conceal", cause })
const does = (name: Exclude<Step["does"], "conceal">): Step => ({ does: name }) as Step

/** Histories that meet each move of a distribution that a concealed line may hide or bring. */
const named: ReadonlyArray<readonly [string, Played]> = [
  [
    "is paid while a line waits, and the line is cured, delivered and rolled",
    {
      first: null,
      steps: [
        conceal("restriction"),
        does("deliver-other"),
        does("roll"),
        does("cure"),
        does("deliver"),
        does("roll")
      ]
    }
  ],
  [
    "is held, released and held again by what waits, and has the line voided that does",
    {
      first: "court-order",
      steps: [
        does("deliver-other"),
        does("pause"),
        does("cure"),
        does("release"),
        conceal("screening"),
        does("roll"),
        does("pause"),
        does("void"),
        does("release"),
        does("run")
      ]
    }
  ],
  [
    "has a line that waits for a cause that is shown, and for one that is not",
    {
      first: null,
      steps: [
        conceal("restriction"),
        does("verify"),
        does("revoke"),
        does("deliver-other"),
        does("pause"),
        does("verify"),
        does("release"),
        does("roll"),
        does("cure"),
        conceal("screening"),
        does("withdraw"),
        does("run")
      ]
    }
  ]
]

describe("a distribution, to an investor, an app and a wallet", () => {
  it.each(named)("never tells that it %s", (_, played) => compares(played, "two"))

  it.runIf(isLong)("never tells what a line waits for, whatever is done", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          first: fc.option(fc.constantFrom<Cause>("restriction", "court-order", "screening")),
          steps: fc.array(step, { minLength: 3, maxLength: 10 })
        }),
        fc.constantFrom("two" as const, "three" as const),
        compares
      ),
      { numRuns: Number(process.env["TWINS"]), endOnFailure: true }
    )
  )

  it("never is asked of in vain: every read of distributions answered, of two that differ", () => {
    for (const difference of ["paid payable", "payable held", "paid held", "suspended due"]) {
      expect([...met]).toContain(difference)
    }
    expect([...answered]).toEqual(
      expect.arrayContaining([
        "/v1/distribution-calendar",
        "/v1/distributions",
        "/v1/distributions/d-july",
        "/v1/distributions/d-july/export",
        "/v1/distributions/d-july/lines",
        "/v1/distributions/d-july/lines/d-july.1",
        "/v1/distributions/d-july/lines/d-july.2"
      ])
    )
  })
})
