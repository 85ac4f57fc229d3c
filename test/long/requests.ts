/** Requests by chance, read off the document: such as its routes take, and then bent in one place or more. */
import type { Dice } from "../simulation/faults.ts"

export type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }

/** A request as it goes on the wire; every text holds a character for each byte. */
export interface Sent {
  readonly method: string
  readonly target: string
  /** Names and values in turn. */
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer | null
}

/** Ids, keys, hashes and cursors that may mean something, by the name of the member that has them. */
export type Known = Map<string, Array<string>>

const knownMax = 60

/** Collects the ids in an answer, for later requests. */
export const learn = (valuesByName: Known, die: Dice, answer: Json): void => {
  const note = (name: string, value: string): void => {
    if (!/(Id|Key|Hash|Version|Cid)$|^(next|etag|cid|party|fund|registrar)$/.test(name)) return
    const values = valuesByName.get(name) ?? []
    valuesByName.set(name, values)
    if (value.length > 600 || values.includes(value)) return
    if (values.length < knownMax) values.push(value)
    else values[die.roll(knownMax)] = value
  }
  const look = (json: Json): void => {
    if (Array.isArray(json)) for (const one of json.slice(0, 20)) look(one)
    else if (typeof json === "object" && json !== null) {
      const { id, kind } = json as { readonly id?: Json; readonly kind?: Json }
      if (typeof id === "string" && typeof kind === "string") {
        const words = kind.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
        note(`${words}Id`, id)
      }
      for (const [name, value] of Object.entries(json)) {
        if (typeof value === "string") note(name, value)
        else look(value)
      }
    }
  }
  look(answer)
}

/** A route of the document with the members of its calls. */
interface Listed {
  readonly method: string
  readonly template: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: Json | undefined
  /** Roles that the route admits. */
  readonly roles: ReadonlyArray<Json>
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Json
}

/** JSON that is about to be written: a number is its text, a member may stand twice. */
type Draft = null | boolean | string | { readonly digits: string } | Array<Draft> | Members
class Members extends Array<[name: string, value: Draft]> {}

const member = (json: Json | undefined, name: string): Json | undefined =>
  typeof json === "object" && json !== null && !Array.isArray(json) && Object.hasOwn(json, name)
    ? (json as { readonly [name: string]: Json })[name]
    : undefined
const listOf = (json: Json | undefined): ReadonlyArray<Json> => (Array.isArray(json) ? json : [])
const numberOf = (json: Json | undefined, otherwise: number): number =>
  typeof json === "number" ? json : otherwise

export interface Making {
  readonly die: Dice
  readonly valuesByName: Known
  readonly document: Json
  /** Authorization headers by role; undefined: no such header. */
  readonly callers: ReadonlyMap<string, ReadonlyArray<string | undefined>>
}

/** Makes requests, one after the other; the same dice make the same ones of the same answers. */
export const make = ({ die, valuesByName, document, callers }: Making): (() => Sent) => {
  const resolve = (json: Json | undefined): Json | undefined => {
    const reference = member(json, "$ref")
    if (typeof reference !== "string") return json
    return resolve(
      reference
        .slice(2)
        .split("/")
        .reduce<Json | undefined>((at, name) => member(at, name), document)
    )
  }
  const routes: ReadonlyArray<Listed> = Object.entries(
    member(document, "paths") as Record<string, Record<string, Json>>
  ).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      parameters: listOf(member(operation, "parameters")).map(
        (one) => resolve(one) as unknown as Parameter
      ),
      body: ["requestBody", "content", "application/json", "schema"].reduce<Json | undefined>(
        (at, name) => member(at, name),
        operation
      ),
      roles: listOf(member(operation, "x-roles"))
    }))
  )
  if (routes.length === 0) throw new Error("a document without a route")

  const choose = <A>(values: ReadonlyArray<A>): A | undefined => values[die.roll(values.length)]
  /** One in so many. */
  const rarely = die.once

  // Values such as the document takes

  const textOf = (schema: Json, name: string): string => {
    const format = member(schema, "format")
    if (format === "date-time") return instant()
    if (format === "date") return instant().slice(0, 10)
    if (format === "duration") return choose(["PT1H", "P1D", "P3M", "PT0S", "P2Y"]) ?? ""
    if (format === "decimal") return digits()
    const pattern = member(schema, "pattern")
    const meant = valuesByName.get(name) ?? valuesByName.get(name.replace(/^to|^from/, "holder"))
    if (typeof pattern === "string") {
      if (pattern.includes("::"))
        return choose([...(valuesByName.get("party") ?? []), "nobody::1220ab"]) ?? ""
      if (pattern.includes("[01][0-9]")) return choose(["16:00", "00:00", "23:59"]) ?? ""
    }
    if (meant !== undefined && !rarely(10)) return choose(meant) ?? ""
    if (typeof pattern === "string") return `new-${die.roll(40)}`
    const least = numberOf(member(schema, "minLength"), 0)
    const most = Math.min(numberOf(member(schema, "maxLength"), 40), 4_000)
    const length = rarely(20) ? most : Math.max(least, Math.min(most, 1 + die.roll(30)))
    return (choose(["a", "USD", "Zürich ", "0", "ab".repeat(32), "CH", "Lines\n"]) ?? "a")
      .repeat(length)
      .slice(0, length)
  }
  const instant = (): string =>
    new Date(
      Date.now() + (die.roll(2_000) - 1_000) * (rarely(3) ? 86_400_000 : 60_000)
    ).toISOString()
  const digits = (): string =>
    choose(["0", "1", "2", "10", "100", "1000", "0.5", "0.01", "13.37", "0.000001", "100000.25"]) ??
    ""

  const valueOf = (given: Json | undefined, name: string, depth = 0): Draft => {
    const schema = resolve(given) ?? {}
    const [part, ...parts] = listOf(member(schema, "allOf"))
    if (part !== undefined && parts.length === 0) return valueOf(part, name, depth)
    const choice = member(schema, "anyOf") ?? member(schema, "oneOf")
    if (Array.isArray(choice)) return valueOf(choose(choice), name, depth + 1)
    const only = listOf(member(schema, "enum"))
    const types = [member(schema, "type") ?? []].flat()
    if (types.includes("null") && rarely(3)) return null
    if (only.length > 0) return draftOf(choose(only) ?? null)
    const type = types.find((one) => one !== "null")
    switch (type) {
      case "boolean":
        return rarely(2)
      case "integer": {
        const least = numberOf(member(schema, "minimum"), 0)
        const most = Math.min(numberOf(member(schema, "maximum"), 1_000), least + 100_000)
        return {
          digits: String(rarely(5) ? most : least + die.roll(Math.min(20, most - least + 1)))
        }
      }
      case "number":
        return { digits: digits() }
      case "string":
        return textOf(schema, name)
      case "array": {
        const least = numberOf(member(schema, "minItems"), 0)
        const most = Math.min(numberOf(member(schema, "maxItems"), 5), 5)
        const length = Math.max(least, die.roll(most + 1))
        return Array.from({ length }, () => valueOf(member(schema, "items"), name, depth + 1))
      }
      default: {
        const properties = member(schema, "properties")
        if (typeof properties !== "object" || properties === null || depth > 12)
          return new Members()
        const required = listOf(member(schema, "required"))
        const members = new Members()
        for (const [property, shape] of Object.entries(properties)) {
          if (!required.includes(property) && rarely(2)) continue
          members.push([property, valueOf(shape, property, depth + 1)])
        }
        return members
      }
    }
  }
  const draftOf = (json: Json): Draft =>
    typeof json === "number"
      ? { digits: String(json) }
      : typeof json === "object" && json !== null
        ? "null"
        : json

  // Odd values: texts, numbers and members outside any expectation.

  const oddTexts = [
    "",
    " ",
    "\0",
    "\ud800",
    "\udfff\ud800",
    "\u202e\u0627\u0644",
    "e\u0301\u0301\u0301",
    "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
    "\ufeff",
    "\u2028",
    "' or 1=1 --",
    "%00%ff",
    "../../etc/passwd",
    "__proto__",
    "constructor",
    "null",
    "a:b/c d\r\nX-Evil: 1",
    "9".repeat(400),
    "a".repeat(129),
    "a".repeat(70_000)
  ]
  const oddDigits = [
    "-0",
    "-1",
    "0.00000000001",
    "1e3",
    "1e400",
    "99999999999999999999999999999",
    "9007199254740993",
    "-9007199254740993",
    "1.0000000000",
    "00",
    "1.",
    ".5",
    "NaN",
    "1".repeat(10_000)
  ]
  const nested = (depth: number): Draft => {
    const [open = "", close = ""] = choose([
      ["[", "]"],
      ['{"a":', "}"]
    ]) ?? ["[", "]"]
    return { digits: `${open.repeat(depth)}null${close.repeat(depth)}` }
  }
  const odd = (): Draft => {
    switch (die.roll(9)) {
      case 0:
        return null
      case 1:
        return rarely(2)
      case 2:
      case 3:
        return { digits: choose(oddDigits) ?? "" }
      case 4:
        return nested(choose([1, 20, 32, 33, 200, 100_000]) ?? 1)
      case 5:
        return Array.from({ length: choose([0, 1, 1_001]) ?? 0 }, () => null)
      case 6:
        return Members.from<[string, Draft]>([
          ["__proto__", { digits: "1" }],
          [choose(oddTexts) ?? "", "x"]
        ]) as Members
      default:
        return choose(oddTexts) ?? ""
    }
  }

  /** The same with one value, or one member, that it should not have. */
  const bent = (draft: Draft): Draft => {
    if (!Array.isArray(draft) || draft.length === 0 || rarely(6)) return odd()
    const at = die.roll(draft.length)
    if (draft instanceof Members) {
      const copy = Members.from<[string, Draft]>(draft) as Members
      const [name, value] = copy[at] ?? ["", null]
      switch (die.roll(8)) {
        case 0:
          copy.splice(at, 1)
          return copy
        case 1:
          copy.push([name, value])
          return copy
        case 2:
          copy.push([choose(oddTexts) ?? "", odd()])
          return copy
        case 3:
          copy[at] = [`${name} `, value]
          return copy
        default:
          copy[at] = [name, bent(value)]
          return copy
      }
    }
    return draft.map((one, i) => (i === at ? bent(one as Draft) : (one as Draft)))
  }

  const write = (draft: Draft): string => {
    if (draft instanceof Members) {
      return `{${draft.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join(",")}}`
    }
    if (Array.isArray(draft)) return `[${(draft as Array<Draft>).map(write).join(",")}]`
    if (typeof draft === "object" && draft !== null) return draft.digits
    return JSON.stringify(draft)
  }

  /** The same bytes with something that is no JSON, or no UTF-8. */
  const broken = (bytes: Buffer): Buffer => {
    const at = die.roll(bytes.length + 1)
    const insert = (what: Buffer) =>
      Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)])
    switch (die.roll(7)) {
      case 0:
        return bytes.subarray(0, at)
      case 1:
        return insert(Buffer.from([die.roll(256)]))
      case 2:
        return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
      case 3:
        return Buffer.concat([bytes, Buffer.from(choose([",", "}", "//", "\0", " {}"]) ?? "")])
      case 4:
        return insert(Buffer.from([0xc0, 0x80]))
      case 5:
        return insert(Buffer.from("\\ud800"))
      default:
        return rarely(8) ? Buffer.alloc(1024 * 1024 + 1, 0x20) : Buffer.alloc(0)
    }
  }

  const bodyOf = ({ body }: Listed): Buffer | null => {
    if (body === undefined) return rarely(15) ? Buffer.from("{}") : null
    if (rarely(25)) return null
    const draft = valueOf(body, "")
    const bytes = Buffer.from(write(rarely(3) ? bent(draft) : draft), "utf8")
    return rarely(20) ? broken(bytes) : bytes
  }

  // The path and the query

  const escape = (text: string): string =>
    [...Buffer.from(text, "utf8")].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

  const idFor = (name: string): string => {
    const id = textOf({ pattern: "id" }, name)
    switch (die.roll(40)) {
      case 0:
        return escape(id)
      case 1:
        return "a".repeat(choose([100, 101, 127, 128, 129, 400]) ?? 1)
      case 2:
        return escape((choose(oddTexts) ?? "").toWellFormed().slice(0, 300))
      case 3:
        return choose(["..", "%2e%2e", "%2F", "%", "%zz", "a%00", "\xe9", "%c3%28", ";x=1"]) ?? ""
      default:
        return encodeURIComponent(id)
    }
  }

  const pathOf = ({ template }: Listed): string => {
    const path = template.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) => idFor(name))
    if (!rarely(25)) return path
    const change = [
      `${path}/`,
      `${path}:approve`,
      path.replace("/v1", "//v1"),
      path.toUpperCase(),
      `${path}%20`,
      path.slice(0, -1),
      path.replaceAll(":", "%3A"),
      `http://x${path}`
    ]
    return choose(change) ?? path
  }

  const paramOf = ({ name, schema }: Parameter): ReadonlyArray<string> => {
    if (name === "after") {
      const cursor = choose(valuesByName.get("next") ?? []) ?? "A"
      return [rarely(3) ? `${cursor.slice(0, die.roll(cursor.length))}A` : cursor]
    }
    const values = [valueOf(schema, name)].flat().map((draft) => {
      const text = typeof draft === "string" ? draft : write(draft as Draft)
      return rarely(12)
        ? (choose([...oddTexts.slice(0, -1), ...oddDigits.slice(0, -1)]) ?? "")
        : text
    })
    return values
  }

  const queryOf = ({ parameters }: Listed): string => {
    const pairs: Array<string> = []
    for (const parameter of parameters) {
      if (parameter.in !== "query") continue
      if (parameter.required === true ? rarely(12) : !rarely(4)) continue
      for (const value of paramOf(parameter)) {
        const text = rarely(40)
          ? value.slice(0, 50).replaceAll(/[^!-~]|[#]/g, "%")
          : encodeURIComponent(value.toWellFormed())
        pairs.push(`${parameter.name}=${text}`)
        if (rarely(40)) pairs.push(`${parameter.name}=${text}`)
      }
    }
    if (rarely(30))
      pairs.push(choose(["x=1", "__proto__=1", "&", "=", "a", "at=1&asOf=2", "%=%"]) ?? "")
    if (rarely(400)) pairs.push("state=a&".repeat(101))
    return pairs.length === 0 ? (rarely(60) ? "?" : "") : `?${pairs.join("&")}`
  }

  // The headers

  const everybody = [...callers.values()].flat()
  /** Mostly an admitted caller; the others are refused. */
  const callerOf = ({ roles }: Listed): string | undefined =>
    choose(rarely(4) ? everybody : (callers.get(String(choose(roles))) ?? everybody))

  const headersOf = (route: Listed, body: Buffer | null): ReadonlyArray<string> => {
    const headers: Array<string> = ["Host", "x"]
    const add = (name: string, value: string | undefined): void => {
      if (value !== undefined) headers.push(name, value)
    }
    add("Authorization", callerOf(route))
    if (rarely(200)) add("Authorization", callerOf(route))
    if (body !== null) {
      const type = "application/json"
      const others = [
        `${type}; charset=utf-8`,
        `${type};charset=latin1`,
        "text/plain",
        "text/csv",
        ""
      ]
      add("Content-Type", rarely(20) ? choose(others) : type)
      if (rarely(20)) add("Content-Encoding", choose(["gzip", "identity", "br", ""]))
      if (rarely(10)) headers.push("Transfer-Encoding", "chunked")
      else headers.push("Content-Length", String(body.length))
    }
    if (rarely(3)) {
      add(
        "Idempotency-Key",
        choose([`k-${die.roll(50)}`, '"quoted"', crypto.randomUUID(), "", "é", "a".repeat(256)])
      )
      if (rarely(30)) add("Idempotency-Key", "second")
    }
    if (rarely(8)) {
      const [version = "1", hash = "ab"] = [
        choose(valuesByName.get("policyVersion") ?? []),
        choose(valuesByName.get("figuresHash") ?? [])
      ]
      add("If-Match", choose([version, `"${version}"`, hash, `"${hash}"`, "*", "", 'W/"1"']))
    }
    if (rarely(4)) {
      const etags = valuesByName.get("etag") ?? []
      add("If-None-Match", choose(["*", '"x"', "x", etags.join(", "), choose(etags) ?? ""]))
    }
    if (!rarely(3)) return headers
    if (rarely(12)) {
      add(
        "Accept",
        choose([
          "application/json",
          "text/csv",
          "*/*",
          "text/html",
          "application/json;q=0",
          "",
          ",,;"
        ])
      )
    }
    if (rarely(15))
      add("X-Request-Id", choose(["r-1", "a".repeat(128), "a".repeat(129), "a b", "é"]))
    if (rarely(15))
      add("traceparent", choose([`00-${"a".repeat(32)}-${"b".repeat(16)}-01`, "x", "00-0-0-0"]))
    if (rarely(30)) add("tracestate", choose(["a=1,b=2", "=", ",".repeat(600)]))
    if (rarely(30)) add("X-HTTP-Method-Override", choose(["DELETE", "GET"]))
    if (rarely(40)) {
      add("X-Signature-Key", choose(["k-1", "", "é"]))
      add("X-Signature-Timestamp", choose([String(Math.floor(Date.now() / 1000)), "x", "-1"]))
      if (!rarely(4)) add("X-Signature-Nonce", "a".repeat(choose([21, 22, 128, 129]) ?? 22))
      if (!rarely(4)) add("X-Signature", choose([`${"A".repeat(43)}=`, "x", ""]))
    }
    if (rarely(60))
      add(
        choose(["Origin", "Cookie", "Forwarded", "X-A"]) ?? "",
        "a".repeat(choose([1, 100, 8_200, 17_000]) ?? 1)
      )
    if (rarely(300)) for (let i = 0; i < 101; i++) add(`X-${i}`, "a")
    return headers
  }

  return () => {
    const route = choose(routes)
    if (route === undefined) throw new Error("no route")
    const others = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "HEAD"]
    const method = rarely(25)
      ? (choose(others) ?? "GET")
      : route.method === "GET" && rarely(10)
        ? "HEAD"
        : route.method
    const body = method === "HEAD" || method === "TRACE" ? null : bodyOf(route)
    return {
      method,
      target: `${pathOf(route)}${queryOf(route)}`,
      headers: headersOf(route, body),
      body
    }
  }
}
