/**
 * Reports with a cost, an income earned and movements in them: of two venues that differ in whom a
 * restriction or a screening stops, an investor and an app read the same bytes, after the same look-ups.
 */
import { Screenings } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Clock, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { firstOf, isLong } from "../long-run.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Executions from "../operations/executions.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Reports from "../operations/reports.ts"
import * as Twins from "./twins.ts"

/** Ways in which a holder is stopped, of which neither it nor an app may read anything. */
type Stop = "freeze" | "receive-only" | "redeem-only" | "a hit" | "a doubt"

const stops = Effect.fnUntraced(function* (
  { found }: Twins.Twin,
  holderStop: { readonly holderId: string; readonly stop: Stop }
) {
  const { holderId, stop } = holderStop
  if (stop === "a hit" || stop === "a doubt") {
    const screener = yield* Screenings
    found.set(holderId, stop === "a hit" ? "confirmed" : "possible")
    yield* screener.rescreen(holderId)
    return yield* Calls.settle
  }
  const body = { mode: stop, reason: "sanctions", order: Twins.order }
  const { why } = yield* Calls.write("holder.restrict", { holderId }, body)
  expect(why).toBe("")
})

const now = Effect.map(Clock.currentTimeMillis, (millis) =>
  Instant.format(Instant.fromEpochMillis(millis))
)

/** Three holders who bought units at par, of whom two gave some back, and the income of some days. */
const founded = Effect.gen(function* () {
  const { holders, stage } = yield* Cycles.opened(["h1", "h2", "decoy"], Executions.par)
  yield* Cycles.opens("c1")
  for (const [nth, holder] of holders.entries()) {
    yield* Cycles.subscribes(stage, holder, { id: `s${nth}`, amount: "300" })
  }
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  for (const nth of holders.keys()) {
    yield* Cycles.attests(stage, { id: `s${nth}`, units: "300", price: "1" })
  }
  yield* Cycles.settles("c1")
  for (const date of ["2026-08-01", "2026-08-02"]) {
    yield* Cycles.at(`${date}T18:00:00Z`)
    yield* Executions.publishes(stage, "0.001", `${date}T17:00:00Z`)
  }
  for (const [nth, holder] of holders.slice(0, 2).entries()) {
    yield* Reports.burns(stage, holder, "33.333333", `exit-${nth}`)
  }
  return { holders, stage }
})

const pathsOf = (role: "investor" | "app", points: ReadonlyArray<string>) => {
  const holder = (id: string) => [
    `/v1/holders/${id}/portfolio`,
    `/v1/holders/${id}/movements`,
    `/v1/holders/${id}/movements?format=csv`,
    `/v1/holders/${id}/statements`,
    `/v1/holders/${id}/statements?month=2026-08&zone=Australia/Lord_Howe`,
    `/v1/holders/${id}/tax-statements/2026?zone=America/Sao_Paulo`
  ]
  const instrument = [
    "/v1/instruments/fund-a/register",
    "/v1/instruments/fund-a/register?format=csv",
    "/v1/instruments/fund-a/movements?format=csv",
    ...["supply", "price", "holders", "subscriptions"].map(
      (metric) => `/v1/instruments/fund-a/series?metric=${metric}`
    )
  ]
  const all = [
    ...holder("h1"),
    ...holder("h2"),
    ...(role === "app" ? instrument : instrument.slice(3))
  ]
  return all.flatMap((path, nth) => {
    const one = points[nth % points.length]
    const some = isLong || one === undefined ? points : [one]
    return [path, ...some.map((point) => `${path}${path.includes("?") ? "&" : "?"}${point}`)]
  })
}

/** Answer to a path, and the look-ups that it took. */
type Told = ReadonlyMap<string, string>

const playedAs = (stopped: "h1" | "decoy", stop: Stop) =>
  Twins.within((twin) =>
    Effect.gen(function* () {
      const { holders, stage } = yield* founded
      const { mark, points } = Twins.pinsOf(twin)
      yield* mark
      yield* stops(twin, { holderId: stopped, stop })
      yield* mark
      // An update after it, of which a pinned read at its offset shows what stopped whom.
      yield* Executions.publishes(stage, "0.002", yield* now)
      yield* Powers.mints(stage, holders[1]!, "5")
      yield* mark
      const answersByCaller = new Map<string, Told>()
      for (const caller of ["h1", "h2", "app"] as const) {
        const role = caller === "app" ? "app" : "investor"
        const as = yield* Twins.token(role, caller)
        const answers = new Map<string, string>()
        const paths = pathsOf(role, points)
        const ask = (path: string) => Twins.call(twin, { path, as })
        for (const path of paths) {
          const { head, status, text } = yield* ask(path)
          answers.set(path, `${status}\n${head}\n\n${text}`)
        }
        // Asked again, so that it is no matter what was in memory before.
        for (const path of paths) {
          twin.storeCalls.length = 0
          yield* ask(path)
          answers.set(path, `${answers.get(path)}\n\n${twin.storeCalls.join("\n")}`)
        }
        answersByCaller.set(caller, answers)
      }
      const staff = yield* Twins.token("auditor")
      const seen = yield* Twins.call(twin, { path: "/v1/holders/h1/portfolio", as: staff })
      return { answersByCaller, staff: seen.text }
    })
  )

const ways: ReadonlyArray<Stop> = ["freeze", "a hit", "a doubt", "receive-only", "redeem-only"]

describe("reports to an investor and an app", () => {
  it.each(firstOf(1, ways))("never tell by a byte or a look-up whom it stops: %s", async (stop) => {
    const [one, other] = [await playedAs("h1", stop), await playedAs("decoy", stop)]
    for (const [caller, answers] of one.answersByCaller) {
      const differing = [...answers].flatMap(([path, text]) => {
        const there = other.answersByCaller.get(caller)?.get(path)
        return text === there ? [] : [`${caller} ${path}\n${text}\n-- and\n${there}`]
      })
      expect(differing.slice(0, 1)).toEqual([])
    }
    // The compared answers have a cost and an income in them, and staff reads what the others do not.
    const own = one.answersByCaller.get("h1")?.get("/v1/holders/h1/portfolio") ?? ""
    expect(own).toMatch(/"cost":266\.67\d*,"accrued":0?\d*\.\d*[1-9]/u)
    expect(one.answersByCaller.get("h1")?.get("/v1/holders/h1/movements?format=csv")).toMatch(
      /^200/u
    )
    expect(
      one.answersByCaller.get("app")?.get("/v1/instruments/fund-a/register?format=csv")
    ).toMatch(/^200/u)
    if (stop !== "a doubt") expect(one.staff).not.toBe(other.staff)
  })
})
