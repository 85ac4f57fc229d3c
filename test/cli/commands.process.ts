/** Command `bursar`, run as a process: answers, help, faults in a line, exit status. */
import { createServer } from "node:http"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { settings } from "#host/HostConfig.ts"
import { firstOf } from "../long-run.ts"
import { run } from "./Bin.ts"
import { remove } from "../folders.ts"

const needed = { BURSAR_ISSUER: "https://issuer.test", BURSAR_JWKS_URL: "https://issuer.test/jwks" }
const folder = mkdtempSync(join(tmpdir(), "bursar-cli-"))
afterAll(() => remove(folder))

const fileOf = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

const lines = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line !== "")

describe.concurrent("bursar", () => {
  it("prints its help where it is asked for, and ends well: its sources load as they are", async () => {
    const { code, err, out } = await run(["--help"], {}, "sources")
    expect([code, err]).toEqual([0, ""])
    for (const command of ["start", "migrate", "config", "openapi", "token"]) {
      expect(out).toContain(`\n  ${command}`)
    }
  })

  it.each(firstOf(1, [["start"], ["migrate"], ["config"], ["openapi"], ["token"]]))(
    "says what `%s` does, whole, when asked",
    async (command) => {
      const { code, out } = await run([command, "--help"])
      expect(code).toBe(0)
      expect(out).toMatch(/DESCRIPTION\n {2}[A-Z].{60,}/)
      expect(out).toContain(`bursar ${command}`)
    }
  )

  it.each<readonly [what: string, words: ReadonlyArray<string>, said: string]>(
    firstOf(2, [
      ["a command there is not", ["srat"], "srat"],
      ["an argument left out", ["token"], "client"],
      ["no command", [], "a command is missing"],
      ["a flag there is not", ["config", "--jsn"], "--jsn"],
      ["an argument too many", ["openapi", "twice"], "twice"]
    ])
  )("tells %s in one line and ends with 2", async (_what, words, said) => {
    const { code, err, out } = await run(words)
    expect([code, out]).toEqual([2, ""])
    expect(lines(err)).toHaveLength(1)
    expect(err).toMatch(/^bursar: .*--help/)
    expect(err).toContain(said)
  })

  it("never does anything with wrong settings: each is told in a line, without its value", async () => {
    const env = { ...needed, BURSAR_PORT: "planted-secret", DATABASE_URL: "mysql://planted-secret" }
    for (const command of firstOf(1, ["start", "serve", "migrate", "config"])) {
      const { code, err, out } = await run([command], env)
      expect([command, code, out]).toEqual([command, 1, ""])
      expect(lines(err).map((line) => line.split(":")[1])).toEqual([
        " port (BURSAR_PORT)",
        " database.url (DATABASE_URL)"
      ])
      expect(err).not.toContain("planted-secret")
    }
  })

  it("lists every setting with where it came from, and never a secret", async () => {
    const env = {
      ...needed,
      BURSAR_CONFIG: fileOf("venue.json", { port: 1, ledger: { token: "planted-secret" } }),
      BURSAR_HOST: "::1",
      DATABASE_URL: "postgres://u:planted-secret@db/x"
    }
    const [shown, json] = await Promise.all([run(["config"], env), run(["config", "--json"], env)])
    expect([shown.code, shown.err, json.code]).toEqual([0, "", 0])
    expect(shown.out + json.out).not.toContain("planted-secret")
    const rows = lines(shown.out).map((line) => line.split(/ {2,}/))
    expect(rows[0]).toEqual(["SETTING", "VARIABLE", "FROM", "VALUE"])
    expect(rows.slice(1).map(([name]) => name)).toEqual(Object.keys(settings))
    const row = (name: string) => rows.find(([first]) => first === name)
    expect(row("port")).toEqual(["port", "BURSAR_PORT", "file", "1"])
    expect(row("host")).toEqual(["host", "BURSAR_HOST", "environment", "::1"])
    expect(row("audience")).toEqual(["audience", "BURSAR_AUDIENCE", "default", "urn:bursar"])
    expect(row("database.url")).toEqual(["database.url", "DATABASE_URL", "environment", "set"])
    expect(row("ledger.token")).toEqual(["ledger.token", "BURSAR_LEDGER_TOKEN", "file", "set"])
    const parsed: ReadonlyArray<Readonly<Record<string, string>>> = JSON.parse(json.out)
    expect(parsed.map(({ name, from, value }) => [name, from, value])).toEqual(
      rows.slice(1).map(([name, , from, value]) => [name, from, value])
    )
  })

  it("lists the defaults where nothing is set, and which setting a start would still need", async () => {
    const [shown, started] = await Promise.all([run(["config"]), run(["start"])])
    expect([shown.code, shown.err]).toEqual([0, ""])
    const rows = lines(shown.out).slice(1)
    const from = (word: string) =>
      rows.map((row) => row.split(/ {2,}/)).filter(([, , one]) => one === word)
    const must = Object.entries(settings).flatMap(([name, { fallback }]) =>
      fallback === null ? [name] : []
    )
    expect(from("unset").map(([name, , , value]) => [name, value])).toEqual(
      must.map((name) => [name, "must be set"])
    )
    expect(from("default")).toHaveLength(rows.length - must.length)
    expect(started.code).toBe(1)
    expect(lines(started.err).map((line) => line.split(" ")[1])).toEqual(must)
  })

  it.each<readonly [given: string, nearest: string]>(
    firstOf(1, [
      ["BURSAR_PROT", "BURSAR_PORT"],
      ["BURSAR_DATABASE_URL", "DATABASE_URL"],
      ["BURSAR_LEDGER_DOOR", "BURSAR_LEDGER_TOKEN"],
      ["BURSAR_RETENTION_EVENT", "BURSAR_RETENTION_EVENTS"],
      ["BURSAR_PORT_80", "BURSAR_PORT"],
      ["BURSAR_CONFIGS", "BURSAR_CONFIG"]
    ])
  )(
    "refuses the variable %s, which no setting has, with the nearest: %s",
    async (given, nearest) => {
      const { code, err, out } = await run(["config"], { [given]: "planted-secret" })
      expect([code, out]).toEqual([1, ""])
      expect(err).toBe(
        `bursar: "${given}" is no variable of a setting; the nearest is ${nearest}\n`
      )
    }
  )

  it("prints the document that is checked in, without any setting", async () => {
    const { code, out } = await run(["openapi"])
    const checkedIn = new URL("../../packages/http-host/openapi.json", import.meta.url)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual(JSON.parse(readFileSync(checkedIn, "utf8")))
  })
})

describe("bursar token", () => {
  it("asks the provider that is found at the issuer, as the client, and prints the token alone", async () => {
    const requests: Array<string> = []
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`)
      const port = (server.address() as { readonly port: number }).port
      response.setHeader("content-type", "application/json")
      response.end(
        request.method === "POST"
          ? JSON.stringify({ access_token: "a.b.c" })
          : JSON.stringify({ token_endpoint: `http://127.0.0.1:${port}/token` })
      )
    })
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
    const { port } = server.address() as { readonly port: number }
    fileOf("identity.json", { secrets: { operator: "s3cret" } })
    const words = ["token", "operator", "--issuer", `http://127.0.0.1:${port}`, "--folder", folder]
    try {
      expect(await run(words)).toEqual({ code: 0, out: "a.b.c\n", err: "" })
      const basic = Buffer.from("operator:s3cret").toString("base64")
      expect(requests).toEqual([
        "GET /.well-known/openid-configuration ",
        `POST /token Basic ${basic}`
      ])
      const stranger = await run(words.with(1, "nobody"))
      expect([stranger.code, stranger.err]).toEqual([
        1,
        'bursar: there is no client "nobody"; there are operator\n'
      ])
    } finally {
      server.close()
    }
  })

  it("sends no secret over plain HTTP to another machine", async () => {
    fileOf("identity.json", { secrets: { operator: "s3cret" } })
    const words = ["token", "operator", "--issuer", "http://issuer.test", "--folder", folder]
    const { code, err } = await run(words)
    expect([code, lines(err).length]).toEqual([1, 1])
    expect(err).toContain("https")
  })

  it("says where the demo's file of secrets is not JSON, and shows none of it", async () => {
    writeFileSync(join(folder, "identity.json"), '{"secrets": {"operator": "s3cret",}}')
    const { code, err } = await run(["token", "operator", "--folder", folder])
    expect([code, lines(err).length]).toEqual([1, 1])
    expect(err).toContain("identity.json: it is not JSON at line 1, column 35: ")
    expect(err).not.toContain("s3cret")
  })

  it("says so where nobody answers, or the demo was never started", async () => {
    fileOf("identity.json", { secrets: { operator: "s3cret" } })
    const nobody = ["token", "operator", "--issuer", "http://127.0.0.1:1", "--folder", folder]
    const never = ["token", "operator", "--folder", join(folder, "none")]
    const [away, none] = await Promise.all([run(nobody), run(never)])
    expect([away.code, none.code]).toEqual([1, 1])
    expect(away.err).toContain("does the demo run?")
    expect(none.err).toContain("was the demo ever started?")
  })
})

describe("bursar listen", () => {
  it("never begins with an address, a secret or a type that is none: each is one line", async () => {
    const to = ["--to", "http://localhost:3000/hook"]
    const cases = [
      [["--to", "hook"], '"hook" is not an https address, or an http one of this machine'],
      [["--to", "http://elsewhere.test/hook"], "is not an https address"],
      [[...to, "--from", "ftp://localhost"], "is not an https address"],
      [[...to, "--secret", "whsec_short"], "a secret is whsec_ and base64 of 24 to 64 bytes"],
      [[...to, "--events", "operation.succeded"], "operation.succeeded"],
      [[], "--to"]
    ] as const
    await Promise.all(
      cases.map(async ([words, message]) => {
        const { code, err, out } = await run(["listen", ...words])
        expect([code, lines(err).length, out]).toEqual([2, 1, ""])
        expect(err).toContain(message)
      })
    )
  })

  it("ends where its token cannot be read or the venue is away, and never shows the token", async () => {
    const words = ["listen", "--to", "http://localhost:3000/hook", "--from", "http://127.0.0.1:1"]
    const none = await run([...words, "--token", join(folder, "none")])
    expect([none.code, none.err.includes("ENOENT")]).toEqual([1, true])
    writeFileSync(join(folder, "token.txt"), "s3cret\n")
    const token = ["--token", join(folder, "token.txt")]
    const away = await run([...words, ...token, "--state", join(folder, "place.json")])
    expect([away.code, lines(away.err)]).toEqual([
      1,
      ["bursar: GET /v1/tenants/venue-1 has no answer"]
    ])
    expect(away.out + away.err).not.toContain("s3cret")
  })
})
