/** Injection in filters (security test 19): every text of every read is a value, on a real PostgreSQL. */
import { Catalogue, type Read } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { readdir, readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { served as feeds } from "#host/api/FeedsApi.ts"
import { firstOf } from "../../long-run.ts"
import {
  bearer,
  json,
  type Listed,
  open,
  type Problem,
  send,
  slugOf,
  type Venue
} from "../venue.ts"
import { holderIds, instrumentId, move } from "./two-holders.ts"

const attacks = firstOf(5, [
  "'; drop table bursar.document; --",
  '","x":"',
  "%",
  "\\'",
  "$1",
  "'",
  "' or '1'='1",
  "\u{1F600}",
  "''",
  '"',
  "_",
  "\\",
  "a%' --",
  "{}",
  "[]",
  "null",
  "\u2019",
  "\uFFFD",
  "\r\n"
])

interface Target {
  readonly name: string
  readonly path: string
  readonly params: ReadonlyArray<string>
}

const ids: Readonly<Record<string, string>> = {
  holderId: holderIds.a,
  subscriptionId: "order-a1",
  instrumentId
}

const fieldsOf = (params: object): ReadonlyArray<string> =>
  "fields" in params && typeof params.fields === "object" ? Object.keys(params.fields ?? {}) : []

const targetOf = ({
  name,
  params,
  route
}: Pick<Read.Read, "name" | "params" | "route">): Target => {
  const inPath = [...route.matchAll(/\{([A-Za-z]+)\}/g)].map(([, found]) => found ?? "")
  return {
    name,
    path: route.slice(4).replaceAll(/\{([A-Za-z]+)\}/g, (_, id: string) => ids[id] ?? "op_1"),
    params: fieldsOf(params).filter((param) => !inPath.includes(param))
  }
}

const standard = ["at", "asOf", "limit", "after", "updatedFrom", "updatedTo"]
const targets: ReadonlyArray<Target> = [
  ...Catalogue.queries.map(targetOf),
  ...feeds
    .filter(({ route }) => route.startsWith("GET "))
    .map(({ name, params, route }) =>
      targetOf({ name: name as `${string}.${string}`, params, route: route as Read.ReadRoute })
    )
]

// Switched off in a copy and seen red: NUL in Query.ts (reads answer 500); the placeholder of a
// text in PgAudit.ts (the audit log by `actor`, and the SQL's own test); the placeholders of filters in
// ListSql.ts (the SQL's own test alone: the grammar of ids keeps the attacks from getting there).
describe("texts that would be more than values", () => {
  let venue: Venue
  let auditor = ""
  beforeAll(async () => {
    venue = await open({ tables: Catalogue, storage: TestDatabase.layer })
    await move(venue)
    auditor = await bearer(["auditor", "operator"])
  })
  afterAll(() => venue.close())
  const ask = (path: string) => send(venue, { path, as: auditor })

  it.each(targets.map((target) => [target.name, target] as const))(
    "%s takes them as values in every parameter: no defect, and nothing found by them",
    async (_, { params, path }) => {
      for (const name of [...params, ...standard]) {
        // Parameters that are numbers, instants or cursors have grammars of their own, so four
        // attacks suffice.
        for (const attack of standard.includes(name) ? attacks.slice(0, 4) : attacks) {
          const answer = await ask(`${path}?${name}=${encodeURIComponent(attack)}`)
          expect([name, attack, [200, 400, 404].includes(answer.status)]).toEqual([
            name,
            attack,
            true
          ])
          if (answer.status !== 200) {
            expect(["invalid-request", "not-found"]).toContain(await slugOf(answer))
            continue
          }
          const { value } = await json<Listed>(answer)
          if (Array.isArray(value)) expect([name, attack, value]).toEqual([name, attack, []])
        }
      }
    }
  )

  it.each(targets.map((target) => [target.name, target] as const))(
    "%s refuses NUL by the parameter's name, before any store sees it",
    async (_, { params, path }) => {
      for (const name of [...params, ...standard, "unknown"]) {
        for (const nul of ["%00", "a%00b", "%00%00"]) {
          const answer = await ask(`${path}?${name}=${nul}`)
          expect([name, nul, answer.status]).toEqual([name, nul, 400])
          const { errors } = await json<Problem>(answer)
          expect(errors?.map(({ pointer }) => pointer)).toEqual([`/query/${name}`])
        }
      }
      const answer = await ask(`${path}?%00=1`)
      expect(answer.status).toBe(400)
      await answer.text()
    }
  )

  it("in a path are no record: 404, and the tables stand", async () => {
    for (const attack of [...attacks, "%00"]) {
      for (const route of [
        "/v1/holders/",
        "/v1/instruments/",
        "/v1/subscriptions/",
        "/v1/operations/"
      ]) {
        const sent = attack === "%00" ? attack : encodeURIComponent(attack)
        const answer = await ask(`${route}${sent}`)
        expect([route, attack, answer.status]).toEqual([route, attack, 404])
        await answer.text()
      }
    }
    const { value } = await json<Listed>(await ask("/v1/holders"))
    expect(value.map(({ holderId }) => holderId)).toEqual([holderIds.a, holderIds.b])
  })
})

/**
 * Expressions that may stand in a template of SQL: names and conditions that the adapter wrote
 * itself, and the placeholders that `add` answers. Any other expression would put a value into the
 * text of a statement.
 */
const reviewed = [
  /^(given|sqlParameters|bindings|values)?\.?add\(/u,
  /^[A-Z][A-Z_]*$/u,
  /^(where|after|open|closed|order|limit|counted|counts|value|compared|beyond|newest|pinned\.(from|closed)|offset|instant|record|sql)\b/u,
  // A column, conditions made by the functions above, and what a work item must meet.
  /^(recordId|which|fenceCondition)$|^lockOf\("[\w$:]+", "[\w$:]+"\)$|^pin\.by === "latest" \? "true" : atPin\(pin, given\)$|^timeAt\("/u,
  // Parts of statements, and functions of them, that are given literals of the adapter alone.
  /^(columns|sessions\.headColumns|branch|queue|items|parameter( \+ [0-9])?)$|^due\("[\w$.:]+", "[\w$.:]+"\)$/u,
  // Delay and payload of a release of work: placeholders of one item, or columns of several.
  /^(delay|payload)$/u,
  // Access paths of a list: conditions made of placeholders, and numbers that the adapter made.
  /^(from|path|atMost|first|collection|condition|inOrder|max|texts|ListSql\.COLUMNS)$/u,
  /^(parts|rows|sorted|rarest|conditions)\.join\("[a-z, ]*"\)$/u,
  /^(query\.(direction|order)|all\.join|comparisons\[clause\.is\]|given\.values\.length)/u,
  // Conditions and limits of pages: names of columns, placeholders, and numbers of the program.
  /^(begun|matches|isOpen|isFew|isEnough|since|inCollection)$|^limited\((armLimit|limit)\)$/u,
  /^areAtMost\(COUNTED_MAX, closed\)$|^planned\(pinned, collection\)$|^latest\("d\.\*", recordId\)$|^versionAt\("asked\.id"\)$/u,
  // Versions at a pin: each takes its point as a placeholder.
  /^(PinSql\.)?closedSince\(pinned\)$/u,
  // Sides and names of a comparison of bulk rows: statements of placeholders, and placeholders.
  /^(groups|names|amounts)$|^(side\((left|right), bindings|namesOf\(source\.then, sqlParameters)\)$/u,
  // Waiting records: conditions of columns and placeholders, and selections that are made of those.
  /^(pair|common|at|arms\.join\(" union all "\)|audienceOf\(query, bindings\)|rowsOf\(query, bindings, page\))$/u,
  // Versions in a range of offsets: columns of the pin, and placeholders.
  /^(asked|to|point|idsBinding|PinSql\.inForceSince\(pinned, inCollection, since\))$/u,
  /^PinSql\.inForce\((pinned|PinSql\.pinnedAt\(query\.pin, sqlParameters\)!), (collection|inCollection)\)$/u
]

describe("the SQL of the adapter", () => {
  it("binds every value: what its templates put into a statement is its own words", async () => {
    const folder = new URL(
      "../../../packages/storage-adapters/src/storage/postgres/",
      import.meta.url
    )
    const files = (await readdir(folder)).filter((file) => file.endsWith(".ts"))
    expect(files.length).toBeGreaterThan(8)
    const found: Array<string> = []
    for (const file of files) {
      const text = await readFile(new URL(file, folder), "utf8")
      // A value is never quoted by hand.
      expect([file, /replaceAll?\(\s*["'/]'/u.test(text)]).toEqual([file, false])
      expect([file, /'\$\{(?![A-Z_]+\})/u.test(text)]).toEqual([file, false])
      for (const [statement] of text.matchAll(
        /`[^`]*\b(select|insert into|update|delete from|set local)\b[^`]*`/giu
      )) {
        for (const [, inside = ""] of statement.matchAll(/\$\{([^{}]*)\}/gu)) {
          if (!reviewed.some((pattern) => pattern.test(inside.trim())))
            found.push(`${file}: ${inside}`)
        }
      }
    }
    expect(found).toEqual([])
  })
})
