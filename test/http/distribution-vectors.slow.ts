/** Golden vectors of distributions over HTTP: months of nine funds at one venue, from points to paid lines, digit by digit. */
import { verify } from "@bursar/engine-core"
import { Basis, Decimal, Duration, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import { parse } from "lossless-json"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { changed } from "../rules/changed-basis.ts"
import * as Csv from "./csv-reader.ts"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

const { accumulating, par } = Distributing

/** An accumulating fund that pays cash, so that a payout leaves its units alone. */
const inCash = {
  ...accumulating,
  distribution: { ...accumulating.distribution, payout: "cash" }
} as const
const midMonth = {
  ...par,
  distribution: {
    ...par.distribution,
    calendar: { frequency: "monthly", recordDay: 15, paymentLagDays: 3 }
  }
} as const

const Based = Schema.Struct({ value: Schema.Struct({ basis: Schema.Array(Basis.Basis) }) })

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: {
      dust: par,
      "not-rolled": inCash,
      frozen: inCash,
      recovered: inCash,
      successor: par,
      "mid-month": midMonth,
      "two-of-three": par,
      "over-limit": par,
      "at-limit": par
    },
    holders: ["h1", "h2", "h3", "h4"],
    admissions: {
      h1: ["dust", "not-rolled", "mid-month", "two-of-three", "over-limit", "at-limit"],
      h2: ["dust", "mid-month", "two-of-three"],
      h3: ["frozen", "two-of-three"],
      h4: ["recovered", "successor"]
    },
    settings: { successorCooling: Duration.of("PT0S") }
  })
  await fund.mints("h1", "12.345678", "dust")
  await fund.mints("h2", "1", "dust")
  await fund.mints("h1", "12345.678901", "not-rolled")
  await fund.mints("h3", "12345.678901", "frozen")
  await fund.mints("h4", "12345.678901", "recovered")
  await fund.mints("h4", "250.5", "successor")
  await fund.mints("h1", "1000000", "mid-month")
  for (const holderId of ["h1", "h2", "h3"]) {
    await fund.mints(holderId, "333333.333333", "two-of-three")
  }
  for (const instrumentId of ["over-limit", "at-limit"]) {
    await fund.mints("h1", "1000000", instrumentId)
    await fund.writes("/v1/standing-approvals", {
      standingApprovalId: instrumentId,
      instrumentId,
      until: "2027-01-01T00:00:00Z",
      maxNet: 1000
    })
  }
  for (const instrumentId of ["recovered", "successor"]) {
    await fund.writes(`/v1/instruments/${instrumentId}/issuer-powers-agreement:propose`, {
      issuer: fund.wallet("fund").party,
      powers: ["recover"]
    })
    await fund.work()
  }
  await fund.writes("/v1/holders/h4/issuer-powers-consents", {})
  await fund.succeeds("h4", "h5")
})
afterAll(() => fund.close())

/** The members of a payee's line that a vector names, as it writes them. */
const lineOf = async (
  distributionId: string,
  payee: string,
  expected: Readonly<Record<string, string>>
) => {
  const line = (await fund.lines(distributionId))[payee]
  expect(line, `${payee} in ${distributionId}`).toBeDefined()
  const isNumber = (text: string) => /^-?[0-9]+(?:\.[0-9]+)?$/u.test(text)
  expect(
    Object.fromEntries(Object.keys(expected).map((member) => [member, line?.[member]])),
    `${payee} in ${distributionId}`
  ).toEqual(
    Object.fromEntries(
      Object.entries(expected).map(([member, text]) => [
        member,
        isNumber(text) ? Decimal.formatPlain(Decimal.of(text)) : text
      ])
    )
  )
}

const distribution = (id: string) => fund.reads<Distributing.Json>(`/v1/distributions/${id}`)

const executes = (instrumentId: string, month: string) =>
  fund.writes("/v1/distributions", { instrumentId, month })

const income = (instrumentId: string, date: string, value: string) =>
  fund.publishes({ instrumentId, value, valuationTime: `${date}T11:00:00Z` })

const price = (instrumentId: string, date: string, value: string) =>
  fund.publishes({ instrumentId, metric: "price", value, valuationTime: `${date}T11:00:00Z` })

/** Moves the clock to the payment date, and past the hour before the engine rolls. */
const paysOn = async (date: string) => {
  await fund.at(`${date}T00:00:01Z`)
  await fund.at(`${date}T01:05:00Z`)
}

/** Registrar's program delivers the lines of every fund but these. */
const deliversAllBut = (...kept: ReadonlyArray<string>) =>
  fund.delivers({
    accept: [
      ...["dust", "not-rolled", "frozen", "recovered", "successor", "mid-month"],
      ...["two-of-three", "over-limit", "at-limit"]
    ].filter((instrumentId) => !kept.includes(instrumentId))
  })

const announcements = (type: string) =>
  fund.reads<ReadonlyArray<{ readonly resourceId: string; readonly payload: Distributing.Json }>>(
    `/v1/events?type=${type}`
  )

const announced = async (type: string, distributionId: string) =>
  (await announcements(type)).filter(({ resourceId }) => resourceId === distributionId).length

/** State of a distribution and of its roll, and how many of its lines have which state. */
const rollOf = async (distributionId: string) => {
  const { counts, rollState, state } = await distribution(distributionId)
  const { delivered, due, rolled, suspended } = counts as Readonly<Record<string, number>>
  return { state, rollState, counts: { due, suspended, delivered, rolled } }
}

const g16 = {
  entitlement: "54.3209871644",
  gross: "54.32",
  withheld: "8.15",
  net: "46.17",
  carryOut: "0.0009871644"
}

describe("vectors of distributions over HTTP", () => {
  const restrictionIds: Array<unknown> = []

  it("G16: July, with G35's holder frozen before the execution and G39's recovered", async () => {
    await fund.at("2026-07-01T12:00:00Z")
    await income("dust", "2026-07-01", "0.00009")
    await income("successor", "2026-07-01", "0.0001")
    await income("two-of-three", "2026-07-01", "0")
    for (const id of ["not-rolled", "frozen", "recovered"]) await price(id, "2026-07-01", "1.0437")
    await fund.at("2026-07-16T12:00:00Z")
    await fund.writes("/v1/holders/h4:recover", { instruments: ["successor"] })
    await income("successor", "2026-07-16", "0.0001")
    await fund.at("2026-07-31T12:00:00Z")
    // Thirty days of income: the last day of the month earns nothing.
    await income("dust", "2026-07-31", "0")
    for (const id of ["not-rolled", "frozen", "recovered"]) await price(id, "2026-07-31", "1.0481")
    await income("two-of-three", "2026-07-31", "0.000383036")
    for (const id of ["over-limit", "at-limit"]) await income(id, "2026-07-31", "0.00075306")
    for (const instrumentId of ["frozen", "two-of-three"]) {
      const frozen = await fund.writes(
        "/v1/holders/h3:restrict",
        { mode: "freeze", reason: "pledge", instrumentId },
        "compliance"
      )
      restrictionIds.push(frozen["restrictionId"])
    }
    await fund.at("2026-08-01T00:02:00Z")
    deliversAllBut("not-rolled")
    for (const id of ["dust", "not-rolled", "frozen", "recovered", "successor", "two-of-three"]) {
      await executes(id, "2026-07")
    }
    await fund.at("2026-08-01T00:05:00Z")
    await lineOf("not-rolled.2026-07", "h1", { ...g16, state: "due" })
  })

  it("G35: the only line waits, and its distribution is paid when a run clears it", async () => {
    await lineOf("frozen.2026-07", "h3", { ...g16, state: "suspended", reason: "restriction" })
    expect(await distribution("frozen.2026-07")).toMatchObject({
      state: "paid",
      rollState: "waiting"
    })
  })

  it("G38: two of three lines may be paid, and nothing is delivered or rolled yet", async () => {
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "payable",
      rollState: "waiting",
      counts: { due: 2, suspended: 1, delivered: 0, rolled: 0 }
    })
  })

  it("G39: days before and after a recovery are one line, the successor's", async () => {
    const lines = await fund.lines("successor.2026-07")
    expect(Object.keys(lines)).toEqual(["h5"])
    await lineOf("successor.2026-07", "h5", {
      entitlement: "0.7765500000",
      gross: "0.77",
      carryOut: "0.0065500000"
    })
  })

  it("G39: a line that is due when its holder is recovered is paid to the successor", async () => {
    await lineOf("recovered.2026-07", "h4", { ...g16, state: "due", predecessor: "null" })
    await fund.at("2026-08-02T12:00:00Z")
    await fund.writes("/v1/holders/h4:recover", { instruments: ["recovered"] })
    await fund.at("2026-08-02T12:01:00Z")
    await fund.at("2026-08-03T00:00:01Z")
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "payable",
      rollState: "ready",
      counts: { due: 0, suspended: 1, delivered: 2, rolled: 0 }
    })
    await fund.at("2026-08-03T01:05:00Z")
    expect(Object.keys(await fund.lines("recovered.2026-07"))).toEqual(["h5"])
    await lineOf("recovered.2026-07", "h5", { ...g16, state: "rolled", predecessor: "h4" })
    for (const holderId of ["h4", "h5"]) {
      const deliveredLines = await fund.wallet(holderId).sees(Templates.DeliveredLine)
      // Rolled: no holder has a contract of the line any more.
      expect(deliveredLines).toEqual([])
    }
  })

  it("G38: the roll of the two pays the distribution, though the third line waits", async () => {
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "paid",
      rollState: "rolled",
      counts: { due: 0, suspended: 1, delivered: 0, rolled: 2 }
    })
  })

  it("G41: two points before a Saturday's record date, the second with the Saturday", async () => {
    await income("dust", "2026-08-01", "0.00009")
    for (const id of ["not-rolled", "recovered"]) await price(id, "2026-08-03", "1.0437")
    for (const id of ["over-limit", "at-limit"]) await income(id, "2026-08-01", "0")
    await fund.mints("h1", "48777.777888", "not-rolled")
    await fund.at("2026-08-14T12:00:00Z")
    await income("mid-month", "2026-08-13", "0.0001")
    await income("mid-month", "2026-08-14", "0.000096553")
    await fund.at("2026-08-15T12:00:00Z")
    await fund.moves({ from: "h1", to: "h2", units: "400000", instrumentId: "mid-month" })
    await fund.at("2026-08-16T00:02:00Z")
    await executes("mid-month", "2026-08")
    expect(Object.keys(await fund.lines("mid-month.2026-08"))).toEqual(["h1"])
    await lineOf("mid-month.2026-08", "h1", { entitlement: "293.1060000000", gross: "293.10" })
    await paysOn("2026-08-18")
  })

  it("G34: the holder of a line that is not rolled has the next month's carried whole", async () => {
    await income("mid-month", "2026-08-17", "0")
    await fund.at("2026-08-31T12:00:00Z")
    await income("dust", "2026-08-31", "0")
    await price("not-rolled", "2026-08-31", "1.0447")
    await price("recovered", "2026-08-31", "1.0481")
    await income("over-limit", "2026-08-31", "0.00042342")
    await income("at-limit", "2026-08-31", "0.00042341")
    await fund.at("2026-09-01T00:02:00Z")
    for (const id of ["dust", "not-rolled", "recovered"]) await executes(id, "2026-08")
    await lineOf("not-rolled.2026-08", "h1", {
      entitlement: "61.1234567890",
      carryIn: "0.0009871644",
      carriedFrom: "2026-07",
      state: "carried",
      reason: "unrolled",
      gross: "0.00",
      net: "0.00",
      carryOut: "61.1244439534"
    })
    deliversAllBut()
    await paysOn("2026-09-03")
    await lineOf("not-rolled.2026-07", "h1", { state: "rolled", net: "46.17" })
  })

  it("G17: the same income again, with what the cents of July left over", async () => {
    await lineOf("recovered.2026-08", "h5", {
      ...g16,
      carryIn: "0.0009871644",
      carriedFrom: "2026-07",
      carryOut: "0.0019743288"
    })
  })

  it("G37: an approval is used up to its limit, and a net that is a cent above it is refused and announced", async () => {
    const used = async (id: string) => {
      const { state, usedNet, uses } = await fund.reads(`/v1/standing-approvals/${id}`)
      return { state, usedNet, uses }
    }
    expect(await used("over-limit")).toEqual({ state: "active", usedNet: 640.1, uses: 1 })
    expect(await used("at-limit")).toEqual({ state: "exhausted", usedNet: 1000, uses: 2 })
    expect(await fund.lines("at-limit.2026-08")).toMatchObject({ h1: { net: "359.9" } })
    const { status } = await fund.venue.read("/v1/distributions/over-limit.2026-08")
    expect(status).toBe(404)
    const due = await announcements("distribution.due")
    const refusals = (month: string) =>
      due
        .filter(({ resourceId }) => resourceId === month)
        .map(({ payload }) => (payload["refused"] as Distributing.Json | null)?.["problem"] ?? null)
    expect(refusals("over-limit:2026-08")).toEqual([null, "rule-refused"])
    expect(refusals("at-limit:2026-08")).toEqual([null])
  })

  it("G41: what a Sunday after the record date earns is Friday's income on Friday's units", async () => {
    await income("dust", "2026-09-01", "0.00009")
    await price("not-rolled", "2026-09-01", "1.0437")
    await fund.mints("h1", "38876.543211", "not-rolled")
    await fund.at("2026-09-16T00:02:00Z")
    await executes("mid-month", "2026-09")
    // Monday's point states no income, so that the Sunday is all there is.
    expect(Object.keys(await fund.lines("mid-month.2026-09"))).toEqual(["h1"])
    await lineOf("mid-month.2026-09", "h1", { entitlement: "96.553", carryIn: "0.006" })
  })

  it("G34: the month after the roll pays both, of which it withholds once", async () => {
    await fund.at("2026-09-30T12:00:00Z")
    await price("not-rolled", "2026-09-30", "1.0443")
    await fund.at("2026-10-01T00:02:00Z")
    for (const instrumentId of ["dust", "not-rolled"]) await executes(instrumentId, "2026-09")
    await lineOf("not-rolled.2026-09", "h1", {
      entitlement: "60",
      carryIn: "61.1244439534",
      carriedFrom: "2026-08",
      gross: "121.12",
      withheld: "18.17",
      net: "102.95",
      carryOut: "0.0044439534"
    })
  })

  it("G35: lifted two months later, the line is paid its amount, and announced no second time", async () => {
    expect(await announced("distribution.paid", "frozen.2026-07")).toBe(1)
    for (const id of restrictionIds) {
      await fund.writes(`/v1/restrictions/${String(id)}:lift`, { reason: "the pledge has ended" })
    }
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "paid",
      rollState: "rolled",
      counts: { due: 1, suspended: 0, delivered: 0, rolled: 2 }
    })
    await lineOf("frozen.2026-07", "h3", { ...g16, state: "due", reason: "null" })
    await fund.at("2026-10-02T12:00:00Z")
    expect(await distribution("frozen.2026-07")).toMatchObject({ rollState: "ready" })
    await lineOf("frozen.2026-07", "h3", { ...g16, state: "delivered", paidOn: "2026-10-02" })
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "paid",
      rollState: "partial",
      counts: { due: 0, suspended: 0, delivered: 1, rolled: 2 }
    })
    await paysOn("2026-10-05")
    await lineOf("frozen.2026-07", "h3", { ...g16, state: "rolled" })
    expect(await distribution("frozen.2026-07")).toMatchObject({
      state: "paid",
      rollState: "rolled"
    })
    expect(await announced("distribution.paid", "frozen.2026-07")).toBe(1)
  })

  it("G38: the third line is paid in a distribution that stays paid, and is announced no second time", async () => {
    expect(await rollOf("two-of-three.2026-07")).toEqual({
      state: "paid",
      rollState: "rolled",
      counts: { due: 0, suspended: 0, delivered: 0, rolled: 3 }
    })
    const paid = (await announcements("distribution.paid")).filter(
      ({ resourceId }) => resourceId === "two-of-three.2026-07"
    )
    expect(paid.map(({ payload }) => payload)).toMatchObject([{ rolled: 2 }])
  })

  it("G32, the dust of ERC-1726: it is carried until it is a cent, and none of five months is lost", async () => {
    await income("dust", "2026-10-01", "0.00009")
    await fund.at("2026-10-31T12:00:00Z")
    await income("dust", "2026-10-31", "0")
    await fund.at("2026-11-01T12:00:00Z")
    await executes("dust", "2026-10")
    await income("dust", "2026-11-01", "0.00009")
    await paysOn("2026-11-03")
    await fund.at("2026-12-01T00:02:00Z")
    await executes("dust", "2026-11")
    const months = ["2026-07", "2026-08", "2026-09", "2026-10", "2026-11"]
    const figures = { h1: [] as Array<string>, h2: [] as Array<string> }
    for (const month of months) {
      const { h1, h2 } = await fund.lines(`dust.${month}`)
      figures.h1.push(`${h1?.["gross"]} ${h1?.["carryOut"]}`)
      figures.h2.push(`${h2?.["gross"]} ${h2?.["carryOut"]} ${h2?.["reason"]}`)
    }
    expect(figures).toEqual({
      h1: [
        "0.03 0.0033333306",
        "0.03 0.0066666612",
        "0.03 0.0099999918",
        "0.04 0.0033333224",
        "0.03 0.006666653"
      ],
      h2: [
        "0 0.0027 below-smallest",
        "0 0.0054 below-smallest",
        "0 0.0081 below-smallest",
        "0.01 0.0008 null",
        "0 0.0035 below-smallest"
      ]
    })
  })

  it("every line of every month is given again by its basis, and verify refuses one in which anything is changed", async () => {
    const distributions = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/distributions?limit=100"
    )
    expect(distributions).toHaveLength(18)
    let faults = 0
    for (const { distributionId } of distributions) {
      for (const line of Object.values(await fund.lines(String(distributionId)))) {
        const path = `/v1/distributions/${String(distributionId)}/lines/${line["lineId"]}`
        const { text } = await fund.venue.read(path)
        const { value } = Schema.decodeUnknownSync(Based)(Result.getOrThrow(PlainJson.parse(text)))
        expect(value.basis.map(({ field }) => field)).toEqual(
          expect.arrayContaining(["entitlement", "gross", "withheld", "net", "carryOut"])
        )
        for (const basis of value.basis) {
          const amount = Decimal.of(Result.getOrThrow(verify(basis)))
          expect(Decimal.formatPlain(amount), `${path} ${basis.field}`).toBe(line[basis.field])
          for (const [what, other] of changed(basis)) {
            expect(Result.isFailure(verify(other)), `${path} ${basis.field}: ${what}`).toBe(true)
            faults += 1
          }
        }
      }
    }
    expect(faults).toBeGreaterThan(2_000)
  })
})

/** Ten-thousand-millionths of a number as it is written. */
const atoms = (text: string): bigint => {
  const [whole = "", fraction = ""] = text.split(".")
  return BigInt(whole + fraction.padEnd(10, "0"))
}

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((all, one) => all + one, 0n)

/** The value of a read as lossless-json has it, every number as the atoms of its text. */
const losslessly = async <A>(path: string): Promise<A> => {
  const { text } = await fund.venue.read(path)
  const { value } = parse(text, undefined, (number) => atoms(number)) as { readonly value: A }
  return value
}

/** The lines of a table, as a reader of RFC 4180 has them. */
const table = async (path: string) => {
  const as = await Venue.bearer(["auditor"])
  const answer = await Venue.send(fund.venue, { path: `${path}?format=csv`, as })
  expect([answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([
    200,
    "text/csv"
  ])
  return Csv.records(await answer.text())
}

interface Month {
  readonly month: string
  readonly instruments: ReadonlyArray<{
    readonly instrumentId: string
    readonly opening: bigint
    readonly closing: bigint
    readonly movements: ReadonlyArray<{ readonly kind: string; readonly units: bigint }>
    readonly paid: ReadonlyArray<{ readonly lineId: string; readonly net: bigint }>
  }>
}

interface Sums {
  readonly gross: bigint
  readonly withheld: bigint
  readonly net: bigint
}

interface Tax {
  readonly holderIds: ReadonlyArray<string>
  readonly currencies: ReadonlyArray<{
    readonly currency: string
    readonly totals: Sums
    readonly rows: ReadonlyArray<
      Sums & { readonly payments: ReadonlyArray<Sums & { readonly lineId: string }> }
    >
  }>
}

const holderIds = ["h1", "h2", "h3", "h4", "h5"]

/** Sums of a holder's statements, from first to last, by instrument. */
const closingsOf = (months: ReadonlyArray<Month>): ReadonlyMap<string, bigint> => {
  const closings = new Map<string, bigint>()
  for (const { instruments, month } of months) {
    for (const { closing, instrumentId, movements, opening } of instruments) {
      expect(opening, `${month} ${instrumentId}`).toBe(closings.get(instrumentId) ?? 0n)
      expect(opening + sum(movements.map(({ units }) => units))).toBe(closing)
      closings.set(instrumentId, closing)
    }
  }
  return closings
}

describe("a second reader of the months that were paid", () => {
  it("G39: finds days before and after a recovery in one payment, the successor's", async () => {
    const disposalsOf = async (holderId: string) =>
      (
        await losslessly<ReadonlyArray<Month>>(
          `/v1/holders/${holderId}/statements?instrumentId=successor&to=2026-08`
        )
      ).map(({ instruments, month }) => [
        month,
        ...instruments.flatMap(({ closing, movements, paid }) => [
          ...movements.map(({ kind, units }) => `${kind} ${units}`),
          closing,
          ...paid.map(({ lineId, net }) => `${lineId} ${net}`)
        ])
      ])
    const units = atoms("250.5")
    expect(await disposalsOf("h4")).toEqual([
      ["2026-06", `mint ${units}`, units],
      ["2026-07", `recovery ${-units}`, 0n],
      ["2026-08"]
    ])
    expect(await disposalsOf("h5")).toEqual([
      ["2026-07", `recovery ${units}`, units],
      ["2026-08", units, `successor.2026-07.1 ${atoms("0.65")}`]
    ])
  })

  it("adds units, movements and payments up to every total, in JSON and in CSV", async () => {
    const months = new Map<string, ReadonlyArray<Month>>()
    for (const id of holderIds) {
      months.set(id, await losslessly(`/v1/holders/${id}/statements?zone=America/New_York`))
    }
    const parties = new Map<string | null, string | null>()
    const held = new Map<string, bigint>()
    for (const instrumentId of ["dust", "not-rolled", "mid-month", "recovered", "successor"]) {
      const path = `/v1/instruments/${instrumentId}/register`
      const { head } = await losslessly<{ readonly head: Readonly<Record<string, bigint>> }>(path)
      const lines = await table(path)
      expect(sum(lines.map(({ units }) => atoms(units!)))).toBe(head["totalUnits"])
      expect([head["supplyOnLedger"], head["difference"]]).toEqual([head["totalUnits"], 0n])
      for (const { holderId, party, units } of lines) {
        parties.set(holderId!, party!)
        held.set(`${holderId} ${instrumentId}`, atoms(units!))
      }
      for (const holderId of holderIds) {
        const closing = closingsOf(months.get(holderId)!).get(instrumentId) ?? 0n
        expect(closing, `${holderId} ${instrumentId}`).toBe(
          held.get(`${holderId} ${instrumentId}`) ?? 0n
        )
      }
    }
    for (const holderId of ["h1", "h2", "h5"]) {
      const moved = new Map<string, bigint>()
      for (const { instrumentId, kind, to, units } of await table(
        `/v1/holders/${holderId}/movements`
      )) {
        if (kind === "lock" || kind === "unlock") continue
        const signed = to === parties.get(holderId) ? atoms(units!) : -atoms(units!)
        moved.set(instrumentId!, (moved.get(instrumentId!) ?? 0n) + signed)
      }
      expect(moved).toEqual(closingsOf(months.get(holderId)!))
    }
    const paid = [...months].flatMap(([, rows]) =>
      rows.flatMap(({ instruments }) => instruments.flatMap((instrument) => instrument.paid))
    )
    const delivered = new Map<string, bigint>()
    for (const { distributionId } of await losslessly<
      ReadonlyArray<{ readonly distributionId: string }>
    >("/v1/distributions?limit=100")) {
      for (const { lineId, net, state } of await table(
        `/v1/distributions/${distributionId}/export`
      )) {
        if (state === "delivered" || state === "rolled") delivered.set(lineId!, atoms(net!))
      }
    }
    expect(delivered.size).toBeGreaterThan(10)
    expect(new Map(paid.map(({ lineId, net }) => [lineId, net]))).toEqual(delivered)
    let net = 0n
    const lineIds: Array<string> = []
    for (const holderId of ["h1", "h2", "h3", "h5"]) {
      const tax = await losslessly<Tax>(`/v1/holders/${holderId}/tax-statements/2026`)
      for (const { rows, totals } of tax.currencies) {
        for (const figure of ["gross", "withheld", "net"] as const) {
          expect(sum(rows.map((row) => row[figure]))).toBe(totals[figure])
          for (const row of rows) {
            expect(sum(row.payments.map((payment) => payment[figure]))).toBe(row[figure])
          }
        }
        expect(totals.gross - totals.withheld).toBe(totals.net)
        net += totals.net
        lineIds.push(...rows.flatMap(({ payments }) => payments.map(({ lineId }) => lineId)))
      }
    }
    expect(net).toBe(sum(delivered.values()))
    expect(lineIds.toSorted()).toEqual([...delivered.keys()].toSorted())
  })
})
