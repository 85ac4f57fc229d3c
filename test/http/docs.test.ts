/** The reference page: small on the wire, fetched once, of this release, and under its makers' licences. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Titles from "#host/api/document/Titles.ts"
import { routes } from "#host/api/Api.ts"
import * as Docs from "#host/Docs.ts"
import * as Licences from "#host/DocsLicences.ts"
import { version } from "#host/version.ts"
import { open, type Venue } from "./venue.ts"

let venue: Venue
beforeAll(async () => {
  venue = await open()
})
afterAll(() => venue.close())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly bytes: Buffer
}

/** The answer's bytes as sent: `fetch` would decompress them. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    request(`${venue.url}${path}`, { headers, agent: false }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: Buffer.concat(parts)
        })
      )
    })
      .once("error", reject)
      .end()
  })

describe("the reference page", () => {
  const negotiated = [
    [undefined, undefined],
    ["", undefined],
    ["br, gzip;q=0.5", "br"],
    ["gzip, br", "br"],
    ["gzip;q=1, br;q=0.9", "gzip"],
    ["gzip, deflate", "gzip"],
    ["GZIP", "gzip"],
    ["gzip;q=0", undefined],
    ["br;q=0, *;q=0.1", "gzip"],
    ["*", "br"],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0, deflate", undefined],
    ["gzip;q=2", undefined],
    ["deflate, zstd", undefined]
  ] as const
  it("is compressed for whoever takes it so, and the same text for who does not", async () => {
    for (const path of [Docs.path, Docs.licencesPath, "/v1/openapi.json"]) {
      const plain = await get(path)
      for (const [accepted, encoding] of negotiated) {
        const got = await get(path, accepted === undefined ? {} : { "accept-encoding": accepted })
        expect([accepted, got.headers["content-encoding"]]).toEqual([accepted, encoding])
        expect(got.headers["vary"]).toContain("accept-encoding")
        const { bytes } = got
        const unpacked =
          encoding === "br"
            ? brotliDecompressSync(bytes)
            : encoding === "gzip"
              ? gunzipSync(bytes)
              : bytes
        expect(unpacked.equals(plain.bytes)).toBe(true)
        if (encoding !== undefined && bytes.length > 100_000) {
          expect(bytes.length).toBeLessThan(plain.bytes.length / 2)
        }
      }
    }
  })

  it("is fetched once: whoever has it by its hash is told that it still is the page", async () => {
    for (const path of [Docs.path, Docs.licencesPath, "/v1/openapi.json"]) {
      for (const encoding of ["identity", "gzip", "br"]) {
        const headers = { "accept-encoding": encoding }
        const first = await get(path, headers)
        const etag = String(first.headers["etag"])
        expect(etag).toMatch(/^"[A-Za-z0-9_-]{43}(-gzip|-br)?"$/)
        const again = await get(path, { ...headers, "if-none-match": etag })
        expect([again.status, again.bytes.length, again.headers["etag"]]).toEqual([304, 0, etag])
        const other = await get(path, { ...headers, "if-none-match": '"another"' })
        expect([other.status, other.bytes.length]).toEqual([200, first.bytes.length])
      }
    }
  })

  it("shows the version of the release, a title for each route, and nothing of the viewer's makers", async () => {
    const page = (await get(Docs.path)).bytes.toString("utf8")
    // The viewer's settings and the document, which follow the viewer's own code.
    const configuration = page.slice(page.lastIndexOf("window.Scalar.createApiReference"))
    expect(configuration).toContain(`"version":"${version}"`)
    expect(configuration).toContain("Interface version 1.0.0.")
    expect(configuration).toContain('"showDeveloperTools":"never"')
    expect(configuration).toContain('"hideClientButton":true')
    expect(configuration).not.toMatch(/"summary":"[a-zA-Z-]+\.[a-zA-Z-]+"/)
    const shown = new Set(
      [...configuration.matchAll(/"summary":"([^"]+)"/g)].map(([, title]) => title)
    )
    expect(shown.size).toBeGreaterThan(10)
  })

  it("runs the scripts that it is served with, by their hashes, and no other", async () => {
    for (const path of [Docs.path, "/docs/problems", Docs.licencesPath]) {
      const { bytes, headers } = await get(path)
      const [, sources = ""] =
        /script-src ([^;]*)/.exec(String(headers["content-security-policy"])) ?? []
      const scripts = [...bytes.toString("utf8").matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)]
      const hashes = scripts.map(
        ([, , text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
      )
      expect(sources).toBe(hashes.length === 0 ? "'none'" : hashes.join(" "))
      expect(scripts.filter(([, attributes = ""]) => attributes.includes("src="))).toEqual([])
      expect(path === Docs.path).toBe(scripts.length > 0)
    }
  })

  it("has the licences of its viewer beside it, of the very version that it is", async () => {
    const [page, licences] = await Promise.all([get(Docs.path), get(Docs.licencesPath)])
    expect(page.bytes.toString("utf8")).toContain(`${Licences.viewer}@${Licences.viewerVersion}/`)
    expect(page.bytes.toString("utf8")).toContain(Docs.licencesPath)
    expect([licences.status, licences.bytes.toString("utf8")]).toEqual([200, Licences.text])
    expect(Licences.text).toContain(`${Licences.viewer} ${Licences.viewerVersion}`)
    const own = readFileSync(new URL("../LICENSE", import.meta.resolve("effect")), "utf8")
    const [, permission = ""] = own.split("Permission is hereby granted")
    const words = (text: string) => text.replaceAll(/\s+/g, " ").trim()
    expect(words(Licences.text)).toContain(words(permission))
  })
})

describe("the titles of routes", () => {
  it("are words, and each route's own", () => {
    const titles = routes.map(({ name }) => Titles.of(name))
    expect(new Set(titles).size).toBe(routes.length)
    for (const title of titles) expect(title).toMatch(/^[A-Z][A-Za-z ]+: [a-z ]+$/)
    expect(Titles.of("holder.register-successor")).toBe("Holder: register successor")
    expect(Titles.of("instruments.policyVersions")).toBe("Instruments: policy versions")
  })
})
