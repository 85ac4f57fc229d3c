/** Several hosts on one database are one venue: budgets, nonces, cursors, work and the feed are shared. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  call,
  ended,
  type Instances,
  insist,
  onLedger,
  page,
  registration,
  secret,
  sign,
  start,
  textOf,
  times,
  type Told
} from "./instances.ts"
import { isLong } from "../long-run.ts"

const auditorLimit = 30
/** The long run has another host, more writes, and a host that sleeps past its lease. */
const count = isLong ? 3 : 2
const configuredKey = `1:${Buffer.alloc(32, 7).toString("base64url")}`

let venue: Instances
let operator = ""

beforeAll(async () => {
  venue = await start({
    count,
    settings: {
      BURSAR_OPERATIONS_LEASE: "2",
      // In the short run the hosts share the key that the first of them writes into their folder.
      ...(isLong ? { BURSAR_CURSOR_KEYS: configuredKey } : {}),
      BURSAR_RATE_LIMIT_LIMIT: "100000",
      BURSAR_RATE_LIMIT_PER_ROLE: JSON.stringify({ auditor: auditorLimit }),
      BURSAR_SIGNING_KEYS: JSON.stringify([
        {
          keyId: "k-1",
          sub: "signer",
          secret: secret.toString("base64"),
          notBefore: null,
          notAfter: null
        }
      ])
    }
  })
  operator = await venue.token("olga", ["operator"])
})

afterAll(() => venue?.stop())

const host = (n: number) => {
  const found = venue.hosts[n % venue.hosts.length]
  if (found === undefined) throw new Error("no host is up")
  return found
}

describe(`${count} hosts on one database`, () => {
  it("never give a subject one budget each, so that it has several", async () => {
    const as = await venue.token("anna", ["auditor"])
    const from = Date.now()
    const answers = await Promise.all(
      Array.from({ length: auditorLimit * count }, (_, n) =>
        call(host(n), { as, path: "/v1/operations?limit=1" })
      )
    )
    // The limit grows again while the calls are sent.
    const regained = Math.ceil(((Date.now() - from) / 60_000) * auditorLimit)
    const admitted = answers.filter((answer) => answer?.status === 200).length
    expect(admitted).toBeGreaterThanOrEqual(auditorLimit)
    expect(admitted).toBeLessThanOrEqual(auditorLimit + regained)
    expect(answers.filter((answer) => answer?.status === 429).length).toBe(
      answers.length - admitted
    )
  })

  it("never take a signed request that another of them has taken", async () => {
    const as = await venue.token("signer", ["operator"])
    const path = "/v1/operations"
    for (let round = 0; round < 3; round++) {
      const signed = sign({ method: "GET", target: path })
      const first = await call(host(round), { as, path, signed })
      expect(first?.status).toBe(200)
      const replays = await Promise.all(
        [1, 2].map((n) => call(host(round + n), { as, path, signed }))
      )
      for (const replay of replays) {
        expect(replay?.status).toBe(401)
        expect(replay?.body).toMatchObject({ type: "urn:bursar:problem:nonce-reused" })
      }
    }
    const signed = sign({ method: "GET", target: path })
    const copies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => call(host(n), { as, path, signed }))
    )
    expect(copies.map((copy) => copy?.status).toSorted()).toEqual([200, ...Array(11).fill(401)])
  })

  it("never lose, repeat or refuse a page when each page is asked of another of them", async () => {
    const holderIds = Array.from({ length: 9 }, (_, n) => `page-${n}`)
    for (const holderId of holderIds) {
      const answer = await insist(
        [host(0)],
        registration({ as: operator, holderId, key: holderId })
      )
      expect(answer.status).toBe(202)
      const operationId = textOf(answer.body, "operationId")
      expect(await ended(venue.hosts, { as: operator, operationId })).toBe("succeeded")
    }
    const found: Array<string> = []
    let next: string | null = null
    for (let n = 0; ; n++) {
      const after: string = next === null ? "" : `&after=${encodeURIComponent(next)}`
      const { status, body } = await insist([host(n)], {
        as: operator,
        path: `/v1/operations?limit=2${after}`
      })
      expect(status, JSON.stringify(body)).toBe(200)
      const read = body as { value: ReadonlyArray<{ operationId: string }>; next: string | null }
      found.push(...read.value.map(({ operationId }) => operationId))
      next = read.next
      if (next === null) break
    }
    expect(new Set(found).size).toBe(found.length)
    expect(found.length).toBe(holderIds.length)
  })

  it("never lose a write, do one twice, or show a reader a gap when one of them is killed at work", async () => {
    const shared = Array.from({ length: isLong ? 6 * times : 2 }, (_, n) => `shared-${n}`)
    const single = Array.from({ length: isLong ? 40 * times : 13 }, (_, n) => `single-${n}`)
    // Four callers each want the same record; every other record is wanted once.
    const writes = [
      ...shared.flatMap((holderId) =>
        Array.from({ length: 4 }, (_, n) => ({ holderId, key: `${holderId}/${n}` }))
      ),
      ...single.map((holderId) => ({ holderId, key: holderId }))
    ]
    const start = await page(venue.hosts, { as: operator, after: null, limit: 1000 })
    const read: Array<Told> = []
    let done = false
    // The reader has its cursor alone, and asks any running host.
    const reading = (async () => {
      let after = start.next
      for (let n = 0; ; n++) {
        const last = done
        const found = await page([host(n), host(n + 1), host(n + 2)], {
          as: operator,
          after,
          limit: 7
        })
        read.push(...found.value)
        after = found.next
        if (last && found.value.length === 0) return
      }
    })()
    const victim = host(1)
    let answered = 0
    const post = async (write: (typeof writes)[number], n: number) => {
      const first = await call(host(n), registration({ as: operator, ...write }))
      answered += 1
      if (answered === Math.floor(writes.length / 3)) victim.kill()
      // A caller that lost its answer repeats the call, at any host.
      const answer =
        first !== null && first.status < 500
          ? first
          : await insist(
              [host(n + 1), host(n + 2), host(n)],
              registration({ as: operator, ...write })
            )
      return { write, answer }
    }
    const posted: Array<Awaited<ReturnType<typeof post>>> = []
    const queue = writes.map((write, n) => ({ write, n }))
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          posted.push(await post(next.write, next.n))
        }
      })
    )
    await victim.ended
    const up = venue.hosts.filter((each) => each !== victim)
    const states = await Promise.all(
      posted.map(async ({ write, answer }) => {
        if (answer.status !== 202 && answer.status !== 200) return { ...write, state: "refused" }
        const operationId = textOf(answer.body, "operationId")
        return { ...write, operationId, state: await ended(up, { as: operator, operationId }) }
      })
    )
    done = true
    await reading

    const wonBy = (holderId: string) =>
      states.filter((each) => each.holderId === holderId && each.state === "succeeded").length
    for (const holderId of [...shared, ...single]) expect(wonBy(holderId), holderId).toBe(1)
    const { invited, committed } = await venue.ledger.ask(onLedger)
    for (const holderId of [...shared, ...single]) {
      expect(invited.get(holderId), `${holderId} on the ledger`).toBe(1)
    }
    expect([...committed].filter(([, n]) => n > 1)).toEqual([])

    // The reader saw every number once, and of each operation one end.
    const seqs = read.map(({ seq }) => seq)
    const first = start.value[start.value.length - 1]?.seq ?? 0
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, n) => first + 1 + n))
    const ends = read.filter(({ type }) => /^operation\.(succeeded|failed)$/.test(type))
    const endsOf = new Map<unknown, number>()
    for (const { payload } of ends) {
      endsOf.set(payload["operationId"], (endsOf.get(payload["operationId"]) ?? 0) + 1)
    }
    for (const each of states) {
      if ("operationId" in each) expect(endsOf.get(each.operationId), each.key).toBe(1)
    }
  })

  it.runIf(isLong)(
    "never let a host that slept past its lease write what another has done for it",
    async () => {
      const [sleeper, ...others] = venue.hosts.filter((_, n) => n !== 1)
      if (sleeper === undefined) throw new Error("no host is up")
      for (let round = 0; round < times; round++) {
        const writes = Array.from({ length: 16 }, (_, n) => `asleep-${round}-${n}`)
        let stopped = false
        const answers = await Promise.all(
          writes
            .map((holderId) =>
              call(sleeper, registration({ as: operator, holderId, key: holderId })).then(
                (answer) => {
                  // The host is stopped once, with work leased: as soon as it has accepted a write.
                  if (!stopped) sleeper.pause()
                  stopped = true
                  return answer
                }
              )
            )
            .map((answer) =>
              Promise.race([answer, new Promise<null>((late) => setTimeout(late, 1_500, null))])
            )
        )
        const states = await Promise.all(
          writes.map(async (holderId, n) => {
            const answer =
              answers[n] ??
              (await insist(others, registration({ as: operator, holderId, key: holderId })))
            const operationId = textOf(answer.body, "operationId")
            return { operationId, state: await ended(others, { as: operator, operationId }) }
          })
        )
        expect(states.map(({ state }) => state)).toEqual(writes.map(() => "succeeded"))
        sleeper.wake()
        // The host answers again, and the writes that it had leased have not run a second time.
        await insist([sleeper], { as: operator, path: "/v1/operations?limit=1" })
        for (const { operationId } of states) {
          expect(await ended([sleeper], { as: operator, operationId })).toBe("succeeded")
        }
        const { body } = await insist([sleeper], {
          as: operator,
          path: "/v1/events?type=operation.succeeded&type=operation.failed&order=desc&limit=500"
        })
        const { value } = body as { readonly value: ReadonlyArray<Told> }
        for (const { operationId } of states) {
          const ends = value.filter(({ payload }) => payload["operationId"] === operationId)
          expect(ends, operationId).toHaveLength(1)
        }
      }
      const { invited, committed } = await venue.ledger.ask(onLedger)
      expect([...committed].filter(([, n]) => n > 1)).toEqual([])
      const asleep = [...invited].filter(([holderId]) => holderId.startsWith("asleep-"))
      expect(asleep.map(([, n]) => n)).toEqual(Array(16 * times).fill(1))
    }
  )

  // `npm run test:processes` keeps places over several restarts and at several hosts (places.process.ts).
  it.skipIf(isLong)(
    "never refuse a place of the feed or of a list that a host gave before all were killed",
    async () => {
      const feed = await page(venue.hosts, { as: operator, after: null, limit: 1 })
      const { body } = await insist(venue.hosts, { as: operator, path: "/v1/operations?limit=1" })
      for (const each of venue.hosts) each.kill()
      await Promise.all(venue.hosts.map((each) => each.ended))
      const again = await venue.more()
      for (const path of [
        `/v1/events?limit=1&after=${encodeURIComponent(feed.next)}`,
        `/v1/operations?limit=1&after=${encodeURIComponent(textOf(body, "next"))}`
      ]) {
        expect((await insist([again], { as: operator, path })).status).toBe(200)
      }
    }
  )
})
