/**
 * Two hosts on one database that take the same files and make the same runs at once, and hosts that are
 * killed while they do: one statement, one run, one event of each, and nothing that is half there.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type * as Host from "../kill/host.ts"
import * as Whole from "../kill/whole.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Instances from "../processes/instances.ts"
import { until } from "../waiting.ts"

/** A custodian's statements: nothing is compared with their lines, so that every run finds the same. */
const source = {
  externalSourceId: "custodian",
  kind: "custody",
  instruments: ["fund-a"],
  calendar: ["monday", "tuesday", "wednesday", "thursday", "friday"],
  dueBy: { time: "18:00", zone: "UTC", daysAfter: 300 },
  grace: "PT2H",
  adapter: "json",
  zone: "UTC"
}

let venue: Instances.Instances
let as = ""

beforeAll(async () => {
  venue = await Instances.start({
    count: 2,
    settings: {
      ...Whole.settings,
      BURSAR_STATEMENTS_SOURCES: JSON.stringify([source]),
      BURSAR_RECONCILIATION_AT: "",
      BURSAR_RATE_LIMIT_LIMIT: "1000000"
    }
  })
  as = await venue.token("olga", ["operator"])
  const body = { ...bodyOf(), oracle: null }
  const made = await Instances.insist(venue.hosts, {
    as,
    path: "/v1/instruments",
    body,
    key: "fund-a"
  })
  expect(made.body).toMatchObject({ actionKey: expect.any(String) })
  const operationId = await approved(Instances.textOf(made.body, "actionKey"))
  expect(await Instances.ended(venue.hosts, { as, operationId })).toBe("succeeded")
})
afterAll(() => venue?.stop())

/** Signs an action by as many people as it takes; answers the id of its operation. */
const approved = async (actionKey: string): Promise<string> => {
  for (const sub of ["ada", "ben"]) {
    const { body } = await Instances.insist(venue.hosts, {
      as: await venue.token(sub, ["approver"]),
      path: `/v1/approvals/${actionKey}:approve`,
      body: {},
      key: `${sub}/${actionKey}`
    })
    if (typeof body === "object" && body !== null && "operationId" in body) {
      return Instances.textOf(body, "operationId")
    }
  }
  throw new Error("two approvers were not enough")
}

/** Rows that the database answers. */
const ask = (sql: string) =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({ url: Redacted.make(venue.databaseUrl) })
    const { rows } = yield* connection.query(sql)
    return rows
  }).pipe(Effect.scoped, Effect.runPromise)

const textsOf = async (sql: string): Promise<ReadonlyArray<string>> =>
  (await ask(sql)).map((row) => String(row["text"]))

/** Ids of the statements of a date, in the order in which they were recorded. */
const statementsOf = (businessDate: string) =>
  textsOf(`select record_id as text from bursar.document
    where collection = 'external-statement' and to_offset is null
      and body::json ->> 'businessDate' = '${businessDate}' order by record_id`)

/** A file of a date; more than a chunk of bytes where it has many lines. */
const file = (
  businessDate: string,
  options: { readonly lines?: number; readonly note?: string } = {}
) => ({
  kind: "custody",
  businessDate,
  reference: options.note ?? "first",
  lines: Array.from({ length: options.lines ?? 3 }, (_, n) => ({
    asset: `asset-${n}`,
    account: `account-${n}-of-the-custodian-${"x".repeat(20)}`,
    quantity: String(n)
  }))
})

type File = ReturnType<typeof file>

const upload = (
  host: Host.Host,
  body: File,
  file: { readonly key: string; readonly corrects?: string }
) => {
  const corrects = file.corrects === undefined ? "" : `&corrects=${file.corrects}`
  const path = `/v1/external-statements?externalSourceId=custodian${corrects}`
  return Instances.call(host, { as, path, body, key: file.key })
}

const hosts = (): readonly [Host.Host, Host.Host] => {
  const [first, second] = venue.hosts
  if (first === undefined || second === undefined) throw new Error("two hosts are not up")
  return [first, second]
}

/** Waits until the queued runs are made and the stages without a statement are swept. */
const settled = async () => {
  // A stage that a killed host left is swept an hour later: that hour has passed.
  await ask(`update bursar.work set run_at = clock_timestamp() where queue = 'statement-stages'`)
  await until(async () => {
    const left = await textsOf(
      `select queue || ' ' || item_id as text from bursar.work
       where queue in ('statement-stages', 'reconciliation')`
    )
    return left.length === 0
  })
}

/** Numbers of files and lines in the store, by their owner; a statement has one of each. */
const kept = async () => ({
  files: await textsOf(`select split_part(name, '/', 2) as text from bursar.file
    where name like 'statement/%' order by 1`),
  lines: await textsOf(`select split_part(owner, '/', 2) as text from bursar.bulk
    where owner like 'statement/%' order by 1`),
  statements: await textsOf(`select record_id as text from bursar.document
    where collection = 'external-statement' and to_offset is null order by 1`)
})

/** Asserts that the files and lines in the store are those of statements alone. */
const demandSwept = async () => {
  const { files, lines, statements } = await kept()
  expect(files).toEqual(statements)
  expect(lines).toEqual(statements)
}

/** Dates that no other file here is of. */
let days = 0
const nextDate = () => {
  days += 1
  return new Date(Date.UTC(2026, 0, days)).toISOString().slice(0, 10)
}

const rounds = Array.from({ length: 6 }, (_, n) => n + 1)

const statusOf = (answer: Instances.Answer | null) => answer?.status

describe("two hosts on one database", () => {
  it("never record the same bytes twice that come to both at once, under one key or several", async () => {
    const [first, second] = hosts()
    for (const round of rounds) {
      const date = nextDate()
      const bytes = file(date, { lines: round === 1 ? 12_000 : 3 })
      const calls = [
        [first, "k"],
        [second, "k"],
        [first, "l"],
        [second, "m"]
      ] as const
      const answers = await Promise.all(
        calls.map(([host, key]) => upload(host, bytes, { key: `${date}/${key}` }))
      )
      const made = await statementsOf(date)
      expect(made).toHaveLength(1)
      expect(answers.map(statusOf).toSorted()).toEqual([200, 200, 200, 201])
      for (const answer of answers) {
        expect(Instances.textOf(answer?.body, "externalStatementId")).toBe(made[0])
      }
    }
  })

  it("never have two statements in force of one date, of files that come to both at once", async () => {
    for (const _ of rounds) {
      const date = nextDate()
      const race = async (corrects?: string) => {
        const members = corrects === undefined ? {} : { corrects }
        const answers = await Promise.all(
          hosts().map((host, n) => {
            const note = `${n}-${corrects ?? "first"}`
            return upload(host, file(date, { note }), { key: `${date}/${note}`, ...members })
          })
        )
        expect(answers.map(statusOf).toSorted()).toEqual([201, 422])
        const refused = answers.find((answer) => answer?.status === 422)
        expect(JSON.stringify(refused?.body)).toContain("statement-of-date")
        const made = answers.find((answer) => answer?.status === 201)
        return Instances.textOf(made?.body, "externalStatementId")
      }
      const first = await race()
      expect(await statementsOf(date)).toEqual([first])
      const second = await race(first)
      expect(await statementsOf(date)).toEqual([first, second].toSorted())
    }
  })

  it("never run at the same time: both are asked for runs at once while others wait in the queue", async () => {
    const [first, second] = hosts()
    const statuses: Array<number | undefined> = []
    for (const round of rounds.slice(0, 3)) {
      const date = nextDate()
      const answers = await Promise.all([
        upload(first, file(date), { key: date }),
        ...[first, second, first, second].map((host, n) =>
          Instances.call(host, {
            as,
            path: "/v1/reconciliation-runs",
            body: { scope: { instrumentIds: ["fund-a"] } },
            // Two calls of each round are the same one, sent to both.
            key: `run/${round}/${n < 2 ? "same" : n}`
          })
        )
      ])
      const [uploaded, same, again, ...others] = answers
      expect(statusOf(uploaded ?? null)).toBe(201)
      for (const answer of answers.slice(1)) statuses.push(answer?.status)
      const ids = [same, again].flatMap((answer) =>
        answer !== undefined && answer !== null && answer.status < 300
          ? [Instances.textOf(answer.body, "runId")]
          : []
      )
      expect(new Set(ids).size).toBeLessThanOrEqual(1)
      expect(others).toHaveLength(2)
    }
    // `overloaded` is the only refusal: another run was under way for longer than a call waits.
    expect(statuses.filter((status) => ![200, 201, 503].includes(Number(status)))).toEqual([])
    expect(statuses).toContain(201)
    await settled()
    const overlapping = await textsOf(`
      with run as (
        select record_id as id, (body::json ->> 'startedAt')::timestamptz as began,
          (body::json ->> 'finishedAt')::timestamptz as ended
        from bursar.document where collection = 'reconciliation-run' and to_offset is null)
      select a.id || ' ' || b.id as text from run a join run b
        on a.id < b.id and a.began < b.ended and b.began < a.ended`)
    expect(overlapping).toEqual([])
    expect(await manual()).toHaveLength(statuses.filter((status) => status === 201).length)
  })

  it("leave whole rows alone, with one run of each statement and one event of each", async () => {
    await settled()
    await demandSwept()
    await down()
    expect(await Whole.wrong(venue.databaseUrl)).toEqual([])
  })
})

/** Kills every running host. */
const down = async () => {
  for (const host of venue.hosts) host.kill()
  await Promise.all(venue.hosts.map((host) => host.ended))
  venue.hosts.length = 0
}

/** The host that is up; starts one where none is. */
const up = async (): Promise<Host.Host> => venue.hosts[0] ?? venue.more()

/** The first of so many messages to the database, counted from the one that says a text. */
interface Death {
  readonly says: string
  readonly at: number
}

/**
 * Does something at a host that is killed as soon as it has sent a message, and answers whether it lived
 * until that was done. The host is killed then, so that one that never sends the message ends too. What is
 * left is whole.
 */
const survived = async (
  { at, says }: Death,
  does: (host: Host.Host) => Promise<unknown>
): Promise<boolean> => {
  const host = await up()
  host.arm(at, "after", says)
  const killed = host.ended.then(() => "killed" as const)
  // A call to a host that was killed never ends: its death ends the wait.
  const outcome = await Promise.race([does(host).then(() => "done" as const), killed])
  await down()
  expect(await Whole.wrong(venue.databaseUrl)).toEqual([])
  return outcome === "done"
}

/** More messages than any of these walks needs: one that is longer has stopped making progress. */
const mostMessages = 200

/**
 * Kills a host after each message from the one that says a text, until one lives until its work is done.
 * Answers whether the work was recorded, death by death; `dead` looks at what each left.
 */
const deathsFrom = async (
  says: string,
  dead: (at: number) => Promise<"unrecorded" | "recorded" | "done">
): Promise<ReadonlySet<string>> => {
  const ends = new Set<string>()
  for (let at = 1; at <= mostMessages; at += 1) {
    const end = await dead(at)
    ends.add(end)
    if (end === "done") return ends
  }
  throw new Error(`a host sends more than ${mostMessages} messages from ${says} on`)
}

const chunk = "insert into bursar.file_chunk"
const rows = "insert into bursar.bulk_row"

describe("a host that is killed as it takes a file", () => {
  /** Kills a host that takes a file; the sender sends it again to the next one. */
  const taking = async (death: Death & { readonly lines: number; readonly note: string }) => {
    const date = nextDate()
    const bytes = file(date, death)
    const lived = await survived(death, async (host) => {
      // A call that is lost is a host that died.
      if ((await upload(host, bytes, { key: date })) === null) await host.ended
    })
    const isThere = (await statementsOf(date)).length > 0
    const again = await upload(await up(), bytes, { key: date })
    expect(statusOf(again)).toBe(isThere ? 200 : 201)
    const id = Instances.textOf(again?.body, "externalStatementId")
    expect(await statementsOf(date)).toEqual([id])
    return { lived, isThere }
  }

  it.each([chunk, rows])(
    "never shows half of it: at the first message that says %s",
    async (says) => {
      // A connection sends the text of a statement once: the host that dies has sent none.
      await down()
      const death = { says, at: 1, lines: 12_000, note: "many" }
      expect(await taking(death)).toEqual({ lived: false, isThere: false })
    }
  )

  it("never shows half of it, nor records it twice: after each message from its record on", async () => {
    const ends = await deathsFrom("its record", async (at) => {
      // The reference is in the record alone, and does not depend on how many lines there are.
      const note = `killed-${at}-`
      const { lived, isThere } = await taking({ says: note, at, lines: 3, note })
      if (lived) expect(isThere).toBe(true)
      return lived ? "done" : isThere ? "recorded" : "unrecorded"
    })
    expect(ends).toEqual(new Set(["unrecorded", "recorded", "done"]))
    await settled()
    await demandSwept()
  })
})

describe("a host that is killed as it makes a run", () => {
  /** The event's type, which is sent with the record; the collection is read all the time. */
  const says = "reconciliation[.]run"

  it("never makes the run of a call twice: after each message from its event on", async () => {
    const path = "/v1/reconciliation-runs"
    const ends = await deathsFrom(says, async (at) => {
      const call = { as, path, body: {}, key: `killed/${at}` }
      await up()
      await settled()
      const before = await manual()
      const lived = await survived({ says, at }, async (host) => {
        if ((await Instances.call(host, call)) === null) await host.ended
      })
      const isThere = (await manual()).length > before.length
      if (lived) expect(isThere).toBe(true)
      const again = await Instances.insist([await up()], call)
      expect(again.status).toBe(isThere ? 200 : 201)
      const runId = Instances.textOf(again.body, "runId")
      expect((await manual()).filter((id) => !before.includes(id))).toEqual([runId])
      return lived ? "done" : isThere ? "recorded" : "unrecorded"
    })
    expect(ends).toEqual(new Set(["unrecorded", "recorded", "done"]))
  })

  it("never loses the run that a statement queued, nor makes it twice: after each of six messages from its event on", async () => {
    // The queue is empty with the commit, so that a host whose work is done may die or live.
    const ends = new Set<boolean>()
    for (let at = 1; at <= 6; at += 1) {
      const date = nextDate()
      // Runs that statements of other cases queued are made first: they are none of this one's.
      await up()
      await settled()
      const before = await queued()
      const lived = await survived({ says, at }, async (host) => {
        if ((await upload(host, file(date), { key: date })) === null) await host.ended
        await settled()
      })
      const isThere = (await queued()).length > before.length
      if (lived) expect(isThere).toBe(true)
      // The host may die of another run's message, before it has the file: the call is made again.
      await upload(await up(), file(date), { key: date })
      expect(await statementsOf(date)).toHaveLength(1)
      await settled()
      expect((await queued()).filter((id) => !before.includes(id))).toHaveLength(1)
      ends.add(isThere)
    }
    expect(ends).toEqual(new Set([false, true]))
  })
})

/** Ids of the runs with this trigger. */
const runsBy = (trigger: string) =>
  textsOf(`select record_id as text from bursar.document
    where collection = 'reconciliation-run' and body::json ->> 'trigger' = '${trigger}'`)
const manual = () => runsBy("manual")
const queued = () => runsBy("statement")
