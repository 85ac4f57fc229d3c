/** The register over HTTP: units that wallets move, listed, added up over time, and shown to whom they concern. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Scripted from "@bursar/storage-adapters/screening"
import { RegistrarBot, Wallet as InvestorWallet } from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf, rebasingTerms } from "../operations/instrumentBody.ts"
import * as Csv from "./csv-reader.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

const policy = { accept: "all" } as const
const farFuture = Instant.of("2100-01-01T00:00:00Z")

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let oracle: Wallets.Wallet
const wallets = new Map<string, Wallets.Wallet>()

type Row = Readonly<Record<string, unknown>>
const rows = (value: unknown) => value as ReadonlyArray<Row>
const wallet = (name: string): Wallets.Wallet => {
  const found = wallets.get(name)
  if (found === undefined) throw new Error(`nobody called ${name}`)
  return found
}
const first = async <T extends Templates.Template>(
  by: Wallets.Wallet,
  template: T,
  where: (payload: Templates.Payload<T>) => boolean = () => true
) => {
  const found = (await by.sees(template)).find(({ payload }) => where(payload))
  if (found === undefined) throw new Error(`no ${Templates.key(template.typeRef)}`)
  return found.contractId
}

const mint = async (instrumentId: string, to: Party.Party, amount: string, kind: string) =>
  registrar.acts(
    Templates.exercise(
      Templates.Credential,
      await first(
        registrar,
        Templates.Credential,
        (one) => one.holder === to && one.instrumentId === instrumentId
      ),
      "Receive",
      { amount: Decimal.of(amount), reference: { kind, id: `${kind}-1` }, configurationCid: null }
    )
  )

const holding = (by: Wallets.Wallet, lock: "free" | "locked" = "free", instrumentId = "fund-a") =>
  first(
    by,
    Templates.Holding,
    (one) =>
      one.owner === by.party &&
      one.instrument.id === instrumentId &&
      (one.lock === null) === (lock === "free")
  )

const burns = async (by: Wallets.Wallet, amount: string, kind: string) => {
  await by.acts(
    Templates.exercise(Templates.Holding, await holding(by), "RequestBurn", {
      amount: Decimal.of(amount),
      reference: { kind, id: `${kind}-1` },
      custodian: null,
      executeBefore: farFuture
    })
  )
  await registrar.acts(
    Templates.exercise(
      Templates.BurnRequest,
      await first(registrar, Templates.BurnRequest),
      "Accept",
      {}
    )
  )
}

const records = async (instrumentId: string, terms: object) => {
  const recorded = await venue.write("/v1/instruments", {
    ...bodyOf(),
    instrumentId,
    registrar: registrar.party,
    oracle: oracle.party,
    ...terms
  })
  expect(recorded).toMatchObject({ state: "succeeded" })
  await registrar.acts(
    Templates.create(Templates.InstrumentConfiguration, {
      registrar: registrar.party as Party.Party,
      provider: venue.party,
      issuer: oracle.party,
      instrument: { admin: registrar.party, id: instrumentId },
      defaultIdentifier: { source: "venue", id: instrumentId, scheme: "id" },
      additionalIdentifiers: [],
      holderRequirements: [],
      issuerRequirements: []
    })
  )
  await venue.write(`/v1/instruments/${instrumentId}/admission-consent:propose`, {
    fund: oracle.party,
    terms: "terms"
  })
  expect(await registrar.does(RegistrarBot.plan({ policy, instruments: [] }))).toBe(
    "accept-consent"
  )
}

const joins = async (holderId: string, ...instruments: ReadonlyArray<string>) => {
  const one = await venue.wallet(holderId)
  wallets.set(holderId, one)
  await venue.write("/v1/holders", { holderId, party: one.party }, "app")
  expect(await one.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
  const documentHash = "ab".repeat(32)
  expect(await one.does(InvestorWallet.signTerms({ documentHash }))).toBe("sign-terms")
  await venue.write(`/v1/holders/${holderId}/accepted-terms:accept`, {})
  for (const instrumentId of instruments) {
    await venue.write(`/v1/holders/${holderId}/admissions`, { instrumentId })
    expect(await one.does(InvestorWallet.offers(policy))).toBe("accept-offer")
  }
}

const publishes = (instrumentId: string, value: string, metric = "price") =>
  oracle.acts(
    Templates.create(Templates.OraclePoint, {
      oracle: oracle.party,
      venue: venue.party,
      fund: oracle.party,
      registrar: registrar.party,
      attestors: [],
      instrumentId,
      metric,
      value: Decimal.of(value),
      valuationTime: Instant.fromEpochMillis(Date.now()),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )

beforeAll(async () => {
  venue = await Wallets.open({ plugged: Scripted.layer(Scripted.clear) })
  registrar = await venue.wallet("registrar")
  oracle = await venue.wallet("oracle")
  await records("fund-a", { holderCap: 5 })
  await records("index-r", { ...rebasingTerms, holderCap: 5, unitDecimals: 6 })
  await joins("alice", "fund-a", "index-r")
  await joins("bob", "fund-a")
  const [alice, bob] = [wallet("alice"), wallet("bob")]
  await mint("fund-a", alice.party, "100", "subscription")
  await mint("fund-a", alice.party, "20", "mint")
  await mint("fund-a", alice.party, "5", "distribution")
  await alice.acts(
    Templates.exercise(
      Templates.Holding,
      await first(alice, Templates.Holding, ({ amount }) => amount === Decimal.of("100")),
      "OfferTransfer",
      { receiver: bob.party, amount: Decimal.of("40"), executeBefore: farFuture }
    )
  )
  await bob.acts(
    Templates.exercise(
      Templates.TransferOffer,
      await first(bob, Templates.TransferOffer),
      "Accept",
      {
        credentialCid: await first(bob, Templates.Credential)
      }
    )
  )
  await burns(bob, "30", "redemption")
  await burns(bob, "10", "anything")
  await publishes("fund-a", "1.5")
  await mint("index-r", alice.party, "294.1176470588", "mint")
  await publishes("index-r", "1.7", "index")
})
afterAll(() => venue.close())

const movements = "/v1/instruments/fund-a/movements"
const movementTexts = (all: ReadonlyArray<Row>) =>
  all.map(({ kind, units, balanceAfter }) => `${kind} ${units} ${balanceAfter}`)

describe("an instrument's movements", () => {
  it("never miss one, or are out of order, or leave another supply than they say", async () => {
    const { value } = await venue.read(movements)
    expect(movementTexts(rows(value))).toEqual([
      "subscription 100 100",
      "mint 20 120",
      "distribution 5 125",
      "lock 40 125",
      "unlock 40 125",
      "transfer 40 125",
      "lock 30 125",
      "unlock 30 125",
      "redemption 30 95",
      "lock 10 95",
      "unlock 10 95",
      "burn 10 85"
    ])
    expect(rows(value).map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
    // Every record says when it changed and who must act next
    // (docs/domain/every-record.md#waiting-on): nobody here.
    const never = { createdAt: expect.any(String), updatedAt: expect.any(String) }
    for (const row of rows(value))
      expect(row).toMatchObject({ ...never, version: 1, waitingOn: [] })
    const [subscribed, , , , , sent, , , redeemed] = rows(value)
    const [alice, bob] = [wallet("alice").party, wallet("bob").party]
    expect(subscribed).toMatchObject({
      from: null,
      to: alice,
      reference: { resourceKind: "subscription", id: "subscription-1" }
    })
    expect(sent).toMatchObject({ from: alice, to: bob, reference: null })
    expect(redeemed).toMatchObject({
      from: bob,
      to: null,
      reference: { resourceKind: "redemption", id: "redemption-1" }
    })
  })

  it("never are paged into something else than the list, filtered by another kind, or pinned elsewhere", async () => {
    const paged: Array<Row> = []
    let path = `${movements}?limit=5`
    for (let pages = 0; pages < 3; pages++) {
      const { text } = await venue.read(path)
      const page = JSON.parse(text) as { value: ReadonlyArray<Row>; next: string | null }
      paged.push(...page.value)
      expect(page.next === null).toBe(pages === 2)
      path = `${movements}?limit=5&after=${page.next}`
    }
    const all = rows((await venue.read(movements)).value)
    expect(paged).toEqual(all)
    const some = await venue.read(`${movements}?kind=mint&kind=burn`)
    expect(movementTexts(rows(some.value))).toEqual(["mint 20 120", "burn 10 85"])
    const pinned = await venue.read(`${movements}?at=${all[2]?.["offset"]}`)
    expect(rows(pinned.value)).toEqual(all.slice(0, 3))
    const between = await venue.read(`${movements}?to=${all[1]?.["at"]}`)
    expect(rows(between.value)).toEqual(all.slice(0, 1))
    const stolen = path.replace("fund-a", "index-r").replace(/after=.*/u, "")
    const cursor = (JSON.parse((await venue.read(`${movements}?limit=5`)).text) as { next: string })
      .next
    expect((await venue.read(`${stolen}after=${cursor}`)).status).toBe(400)
    expect((await venue.read(`${movements}?kind=teleport`)).status).toBe(400)
  })

  it("never are shown to an investor, or to a registrar of another instrument", async () => {
    expect((await venue.read(movements, "investor", { holder: "alice" })).status).toBe(403)
    const near = await venue.read(movements, "registrar", { party: registrar.party })
    expect(near.status).toBe(200)
    const far = await venue.read(movements, "registrar", { party: wallet("bob").party })
    expect(far.status).toBe(404)
    expect((await venue.read("/v1/instruments/none/movements")).status).toBe(404)
  })
})

describe("movements as a table", () => {
  const table = async (
    path: string,
    as: string,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    const answer = await Venue.send(venue, { path, as, headers })
    return { answer, text: await answer.text() }
  }
  const paths = [movements, "/v1/holders/alice/movements"]

  it.each(paths)("have a line for each of %s, a cell for each member", async (path) => {
    const as = await Venue.bearer(["auditor"])
    const { answer, text } = await table(`${path}?format=csv`, as)
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(answer.headers.get("etag")).toBeNull()
    const listed = rows((await venue.read(path)).value)
    // Units have ten places in a cell, where JSON as it is read here has a number.
    const cell = (value: unknown): string => {
      if (value === null) return ""
      if (typeof value === "object") return `"${JSON.stringify(value).replaceAll('"', '""')}"`
      return typeof value === "string" ? `"${value}"` : String(value)
    }
    const lineOf = (cells: ReadonlyArray<string>) => `${cells.join(",")}\r\n`
    const head = lineOf(Object.keys(listed[0] ?? {}).map(cell))
    const plain = text.replaceAll(/,(\d+)\.(\d*?)0*(?=,)/gu, (_, whole, part) =>
      part === "" ? `,${whole}` : `,${whole}.${part}`
    )
    expect(listed.length).toBeGreaterThan(3)
    expect(plain).toBe(head + listed.map((row) => lineOf(Object.values(row).map(cell))).join(""))
    const some = await table(`${path}?format=csv&kind=mint&at=${listed[1]?.["offset"]}`, as)
    expect(some.text.split("\r\n").length).toBe(
      2 + listed.slice(0, 2).filter(({ kind }) => kind === "mint").length
    )
  })

  it("have no pages, no other form than is accepted, and nothing for whom the list has nothing", async () => {
    const as = await Venue.bearer(["auditor"])
    const { next } = JSON.parse((await venue.read(`${movements}?limit=5`)).text) as {
      readonly next: string
    }
    for (const [query, pointers] of [
      ["limit=5", ["/query/limit"]],
      [`after=${next}`, ["/query/after"]],
      [`limit=5&after=${next}`, ["/query/limit", "/query/after"]]
    ] as const) {
      const { answer, text } = await table(`${movements}?format=csv&${query}`, as)
      expect([query, answer.status]).toEqual([query, 400])
      const { errors } = JSON.parse(text) as { errors: ReadonlyArray<{ pointer: string }> }
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers)
    }
    for (const path of [...paths, "/v1/instruments/fund-a/register"]) {
      for (const [query, accept, status] of [
        ["?format=csv", "text/csv", 200],
        ["?format=csv", "application/json", 406],
        ["", "text/csv", 406],
        ["?format=xml", "*/*", 400]
      ] as const) {
        const { answer } = await table(`${path}${query}`, as, { accept })
        expect([path, query, accept, answer.status]).toEqual([path, query, accept, status])
      }
      const head = await Venue.send(venue, { method: "HEAD", path: `${path}?format=csv`, as })
      expect([head.status, await head.text()]).toEqual([200, ""])
    }
    const own = async (
      path: string,
      claims: { readonly holder?: string; readonly party?: string }
    ) =>
      (
        await table(
          path,
          await Venue.bearer(["holder" in claims ? "investor" : "registrar"], claims)
        )
      ).answer.status
    const bobs = { holder: "bob" }
    expect(await own("/v1/holders/alice/movements?format=csv", bobs)).toBe(404)
    expect(await own("/v1/holders/bob/movements?format=csv", bobs)).toBe(200)
    expect(await own(`${movements}?format=csv`, bobs)).toBe(403)
    const far = { party: wallet("bob").party }
    expect(await own(`${movements}?format=csv`, far)).toBe(404)
  })

  it("are logged as an export, and lists of movements are not", async () => {
    const as = await Venue.bearer(["auditor"])
    const logged = async () => {
      const { value } = await venue.read("/v1/audit-log?action=export.read&limit=1000")
      return rows(value).map(({ resourceId, resourceKind, detail, route }) => ({
        resourceId,
        resourceKind,
        detail,
        route
      }))
    }
    const before = (await logged()).length
    for (const path of paths) await table(path, as)
    for (const path of paths) await table(`${path}?format=csv`, as)
    const csv = { detail: { format: "csv" } }
    expect((await logged()).slice(before)).toEqual([
      {
        ...csv,
        resourceKind: "instrument",
        resourceId: "fund-a",
        route: "/v1/instruments/{instrumentId}/movements"
      },
      {
        ...csv,
        resourceKind: "holder",
        resourceId: "alice",
        route: "/v1/holders/{holderId}/movements"
      }
    ])
  })
})

describe("a holder's movements", () => {
  it("never are another's, or leave the holder another balance than they say", async () => {
    const bobs = await venue.read("/v1/holders/bob/movements")
    expect(movementTexts(rows(bobs.value))).toEqual([
      "transfer 40 40",
      "lock 30 40",
      "unlock 30 40",
      "redemption 30 10",
      "lock 10 10",
      "unlock 10 10",
      "burn 10 0"
    ])
    const alices = await venue.read("/v1/holders/alice/movements?kind=mint&kind=transfer")
    expect(movementTexts(rows(alices.value))).toEqual([
      "mint 20 120",
      "transfer 40 85",
      "mint 294.1176470588 294.1176470588"
    ])
    const one = await venue.read("/v1/holders/alice/movements?instrumentId=index-r")
    expect(movementTexts(rows(one.value))).toEqual(["mint 294.1176470588 294.1176470588"])
  })

  it("never are denied their own investor, or shown to another", async () => {
    const path = "/v1/holders/alice/movements"
    const all = await venue.read(path)
    const own = await venue.read(path, "investor", { holder: "alice" })
    expect(own.value).toEqual(all.value)
    const other = await venue.read(path, "investor", { holder: "bob" })
    const none = await venue.read("/v1/holders/none/movements", "investor", { holder: "bob" })
    expect([other.status, none.status]).toEqual([404, 404])
    expect((await venue.read(path, "registrar", { party: registrar.party })).status).toBe(403)
    const cursor = (JSON.parse((await venue.read(`${path}?limit=2`)).text) as { next: string }).next
    const stolen = await venue.read(`/v1/holders/bob/movements?limit=2&after=${cursor}`)
    expect(stolen.status).toBe(400)
  })
})

describe("a series", () => {
  const today = new Date().toISOString().slice(0, 10)
  const series = async (metric: string, query = "") => {
    const { value } = await venue.read(
      `/v1/instruments/fund-a/series?metric=${metric}&interval=month${query}`
    )
    const found = value as { readonly zone: string; readonly points: ReadonlyArray<Row> }
    const last = found.points.at(-1)
    const figures = ["open", "min", "max", "close", "sum"].map((name) => last?.[name] ?? null)
    return { ...found, last: figures }
  }

  it("of a metric answers that metric's figures alone", async () => {
    const figures: Record<string, unknown> = {}
    for (const metric of ["supply", "holders", "price", "subscriptions", "redemptions"]) {
      figures[metric] = (await series(metric)).last
    }
    expect(figures).toEqual({
      supply: [0, 0, 125, 85, null],
      holders: [0, 0, 2, 1, null],
      price: [1.5, 1.5, 1.5, 1.5, null],
      subscriptions: [100, 100, 100, 100, 100],
      redemptions: [30, 30, 30, 30, 30]
    })
    expect((await series("distributions")).last[4]).toBe(5)
    expect((await series("cover")).points).toEqual([])
  })

  it("never is told in another zone than asked for, or cut instead of refused", async () => {
    expect((await series("supply")).zone).toBe("UTC")
    const far = await series("supply", "&zone=Asia%2FKolkata")
    expect(far.zone).toBe("Asia/Kolkata")
    expect(String(far.points[0]?.["start"])).toMatch(/T18:30:00/u)
    expect((await series("supply", `&from=${today}`)).points).toHaveLength(1)
    const path = "/v1/instruments/fund-a/series?metric=supply"
    const long = await venue.read(`${path}&from=2001-01-01`)
    expect(long.status).toBe(400)
    expect(JSON.parse(long.text)).toMatchObject({ errors: [{ pointer: "/query/from" }] })
    expect((await venue.read(`${path}&from=2001-01-01&interval=month`)).status).toBe(200)
    for (const wrong of ["&zone=Mars%2FBase", "&interval=hour", "&from=2026-02-30"]) {
      expect((await venue.read(`${path}${wrong}`)).status, wrong).toBe(400)
    }
    expect((await venue.read("/v1/instruments/fund-a/series")).status).toBe(400)
  })
})

describe("the register and a portfolio", () => {
  it("never do not add up, or differ between JSON and CSV", async () => {
    const { value } = await venue.read("/v1/instruments/fund-a/register")
    const found = value as { readonly head: Row; readonly lines: ReadonlyArray<Row> }
    expect(found.head).toEqual({ totalUnits: 85, supplyOnLedger: 85, difference: 0, holders: 1 })
    expect(found.lines).toHaveLength(1)
    expect(found.lines[0]).toMatchObject({
      holderId: "alice",
      party: wallet("alice").party,
      admissionState: "admitted",
      restricted: false,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/u)
    })
    const answer = await Venue.send(venue, {
      path: "/v1/instruments/fund-a/register?format=csv",
      as: await Venue.bearer(["auditor"])
    })
    const [head = "", line = "", ...more] = (await answer.text()).trimEnd().split("\r\n")
    expect(head.replaceAll('"', "")).toBe(Object.keys(found.lines[0] ?? {}).join(","))
    expect(line.startsWith(`"alice","${wallet("alice").party}",85`), line).toBe(true)
    expect(more).toEqual([])
  })

  it("never are sent again where the caller has them, and are once anything in them has changed", async () => {
    const as = await Venue.bearer(["auditor"])
    const path = "/v1/instruments/fund-a/register"
    const first = await Venue.send(venue, { path, as })
    const etag = first.headers.get("etag") ?? ""
    expect(etag).toMatch(/^W\/"/u)
    expect(first.headers.get("cache-control")).toBe("private, no-cache")
    const again = await Venue.send(venue, { path, as, headers: { "if-none-match": etag } })
    expect([again.status, await again.text()]).toEqual([304, ""])
    const other = await Venue.send(venue, {
      path: "/v1/instruments/index-r/register",
      as,
      headers: { "if-none-match": etag }
    })
    expect(other.status).toBe(200)
    const body = { mode: "freeze", reason: "pledge", instrumentId: "fund-a" }
    const made = await venue.write("/v1/holders/alice:restrict", body, "risk")
    const changed = await Venue.send(venue, { path, as, headers: { "if-none-match": etag } })
    expect(changed.status).toBe(200)
    // An app is shown no restriction, and the tag discloses none.
    const tagOf = async () =>
      (await Venue.send(venue, { path, as: await Venue.bearer(["app"]) })).headers.get("etag")
    const restricted = await tagOf()
    const { restrictionId } = made["result"] as { readonly restrictionId: string }
    await venue.write(`/v1/restrictions/${restrictionId}:lift`, { reason: "over" }, "compliance")
    expect(await tagOf()).toBe(restricted)
    expect(restricted).not.toBeNull()
  })

  it("never show a rebasing instrument in base units, or lose an atom to its index", async () => {
    const { value } = await venue.read("/v1/instruments/index-r/register")
    const found = value as { readonly head: Row; readonly lines: ReadonlyArray<Row> }
    expect(found.head).toEqual({ totalUnits: 500, supplyOnLedger: 500, difference: 0, holders: 1 })
    expect(found.lines[0]).toMatchObject({ units: 500, share: 1 })
    const csv = await Venue.send(venue, {
      path: "/v1/instruments/index-r/register?format=csv",
      as: await Venue.bearer(["auditor"])
    })
    const [, line = ""] = (await csv.text()).split("\r\n")
    expect(line.startsWith(`"alice","${wallet("alice").party}",500`), line).toBe(true)
    const portfolio = rows((await venue.read("/v1/holders/alice/portfolio")).value)
    const usual = { currency: "USD", restricted: false, locked: 0 }
    expect(portfolio).toMatchObject([
      { ...usual, instrumentId: "fund-a", units: 85, price: 1.5, value: 127.5 },
      { ...usual, instrumentId: "index-r", units: 500, price: 1.7, value: 500 }
    ])
    const own = await venue.read("/v1/holders/alice/portfolio", "investor", { holder: "alice" })
    // An investor is never told whether it is restricted, so neither that it is not.
    expect(own.value).toEqual(portfolio.map((row: object) => ({ ...row, restricted: null })))
  })
})

describe("what a restriction shows of itself", () => {
  const marks = async (
    path: string,
    role?: string,
    claims?: Parameters<typeof Venue.bearer>[1]
  ) => {
    const { value } = await venue.read(path, role, claims)
    const found = rows((value as { readonly lines?: unknown }).lines ?? value)
    return found.map(({ holderId, instrumentId, restricted }) => [
      holderId ?? instrumentId,
      restricted
    ])
  }
  const registerOf = (instrumentId: string, query = "") =>
    `/v1/instruments/${instrumentId}/register${query}`
  const portfolio = "/v1/holders/alice/portfolio"
  const restricts = async (members: object) => {
    const body = { mode: "receive-only", reason: "pledge", ...members }
    const made = await venue.write("/v1/holders/alice:restrict", body, "risk")
    expect(made).toMatchObject({ state: "succeeded" })
    return (made["result"] as { readonly restrictionId: string }).restrictionId
  }
  const lifts = (id: string) =>
    venue.write(`/v1/restrictions/${id}:lift`, { reason: "paid back" }, "compliance")
  const own = { holder: "alice" }

  it("never is another holder's or instrument's, or is told to an investor, an app, or after it is over", async () => {
    const both = [
      ["fund-a", false],
      ["index-r", false]
    ]
    const free = [["alice", false]]
    const never = (all: ReadonlyArray<ReadonlyArray<unknown>>) => all.map(([who]) => [who, null])
    const asInvestor = (await venue.read(portfolio, "investor", own)).text
    expect(await marks(registerOf("fund-a"))).toEqual(free)
    expect(await marks(portfolio)).toEqual(both)
    const onOne = await restricts({ instrumentId: "fund-a" })
    const { offset } = JSON.parse((await venue.read(portfolio)).text) as { readonly offset: number }
    expect(await marks(registerOf("fund-a"))).toEqual([["alice", true]])
    expect(await marks(registerOf("index-r"))).toEqual([["alice", false]])
    expect(await marks(portfolio)).toEqual([
      ["fund-a", true],
      ["index-r", false]
    ])
    const onAll = await restricts({})
    await lifts(onOne)
    expect(await marks(registerOf("index-r"))).toEqual([["alice", true]])
    expect(await marks(registerOf("fund-a"), "app")).toEqual(never(free))
    expect(await marks(portfolio, "app")).toEqual(never(both))
    expect(await marks(portfolio, "investor", own)).toEqual(never(both))
    const claims = { party: registrar.party }
    expect(await marks(registerOf("index-r"), "registrar", claims)).toEqual([["alice", true]])
    await lifts(onAll)
    expect(await marks(registerOf("fund-a"))).toEqual(free)
    expect(await marks(portfolio)).toEqual(both)
    // The restriction was recorded after this offset.
    expect(await marks(registerOf("fund-a", `?at=${offset}`))).toEqual(free)
    // Apart from its instant, an investor's answer is byte for byte that of before.
    const after = (await venue.read(portfolio, "investor", own)).text
    const timeless = (text: string) => ({ ...JSON.parse(text), now: null })
    expect(timeless(after)).toEqual(timeless(asInvestor))
  })
})

/** Base units at 10 places of shown units with 6, in atoms, rounded half up: without the engine's decimals. */
const baseOf = (shown: bigint, index: { readonly atoms: bigint; readonly places: bigint }) => {
  const atoms = shown * 10n ** (4n + index.places)
  return (2n * atoms + index.atoms) / (2n * index.atoms)
}
const decimalOf = (atoms: bigint): string => {
  const digits = String(atoms).padStart(11, "0")
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`
}

/** Last in this file, since its holder is one more of the venue. */
describe("golden vectors of rebasing registers, by text", () => {
  const index = { atoms: 173222n, places: 5n }
  /** Base units of so many orders of shown units, each converted for itself; in atoms of 6 places. */
  const bought = (from: bigint, step: bigint) =>
    Array.from({ length: 10_000 }, (_, nth) => baseOf(from + BigInt(nth) * step, index)).reduce(
      (sum, base) => sum + base,
      0n
    )

  /** Units and locked units of dora in the register and in its portfolio, as JSON and as a table. */
  const shownOf = async (instrumentId: string) => {
    const path = `/v1/instruments/${instrumentId}/register`
    const jsons = [await venue.read(path), await venue.read("/v1/holders/dora/portfolio")].map(
      ({ text }) => text.slice(text.lastIndexOf("{", text.indexOf(instrumentId)))
    )
    const [line = ""] = jsons[0]?.split('"lines":[').slice(-1) ?? []
    const figures = (text: string) =>
      ["units", "locked"].map((name) => new RegExp(`"${name}":([0-9.]+)`, "u").exec(text)?.[1])
    const csv = await Venue.send(venue, {
      path: `${path}?format=csv`,
      as: await Venue.bearer(["auditor"])
    })
    const [{ units, locked } = {}] = Csv.records(await csv.text())
    return { line: figures(line), portfolio: figures(jsons[1] ?? ""), csv: [units, locked] }
  }
  const everywhere = (units: string, locked: string) => {
    const both = [units, locked]
    return { line: both, portfolio: both, csv: both }
  }

  beforeAll(async () => {
    const terms = { ...rebasingTerms, holderCap: 5 }
    await records("g-seven", { ...terms, unitDecimals: 6 })
    await records("g-eight", { ...terms, unitDecimals: 6 })
    await records("g-eight-coarse", { ...terms, unitDecimals: 2 })
    await joins("dora", "g-seven", "g-eight", "g-eight-coarse")
  })

  it("G7: 500 units of which 200 are locked leave 300, never an atom less", async () => {
    const seven = { atoms: 17n, places: 1n }
    const [base, lock] = [baseOf(500_000_000n, seven), baseOf(200_000_000n, seven)]
    expect([base, lock].map(decimalOf)).toEqual(["294.1176470588", "117.6470588235"])
    const dora = wallet("dora")
    await mint("g-seven", dora.party, decimalOf(base), "mint")
    await publishes("g-seven", "1.7", "index")
    await dora.acts(
      Templates.exercise(Templates.Holding, await holding(dora, "free", "g-seven"), "RequestBurn", {
        amount: Decimal.of(decimalOf(lock)),
        reference: { kind: "mint", id: "locked" },
        custodian: null,
        executeBefore: farFuture
      })
    )
    expect(await shownOf("g-seven")).toEqual(everywhere("500.0000000000", "200.0000000000"))
  })

  it.each([
    { instrumentId: "g-eight", base: bought(100_000n, 1n), shown: "1049.9950000000" },
    { instrumentId: "g-eight-coarse", base: bought(10_000n, 10_000n), shown: "500050.0000000000" }
  ])("G8: $instrumentId: ten thousand orders add up to what was ordered", async (row) => {
    await mint(row.instrumentId, wallet("dora").party, decimalOf(row.base), "mint")
    await publishes(row.instrumentId, "1.73222", "index")
    expect(await shownOf(row.instrumentId)).toEqual(everywhere(row.shown, "0.0000000000"))
  })
})
