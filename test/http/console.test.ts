/**
 * The venue console as the host serves it: which paths answer the page, which a file and which nothing,
 * under which headers, in which encoding, and what the page says of its host.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { issuer, open, slugOf, type Venue } from "./venue.ts"

const script = `export const text = "${"console ".repeat(200)}"`
const page = `<!doctype html><html><head><meta name="bursar" content="" /><script type="module" src="./assets/index-1.js"></script><link rel="stylesheet" href="./assets/index-1.css"></head></html>`

const folder = mkdtempSync(join(tmpdir(), "console-"))

/** Writes what a build makes: the page, and each file with its encoded forms. */
const built = () => {
  mkdirSync(join(folder, "assets"))
  writeFileSync(join(folder, "index.html"), page)
  writeFileSync(join(folder, "sources.sha256"), "0")
  for (const [name, text] of [
    ["assets/index-1.js", script],
    ["assets/index-1.css", "body{}"],
    ["assets/mark-1.svg", "<svg/>"],
    ["licences.txt", "licences"]
  ] as const) {
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
  }
}

const roleNames = new Map([['<Desk "A">', ["risk", "compliance"]]] as const)
let venue: Venue
let without: Venue
beforeAll(async () => {
  built()
  const options = { origins: ["https://tokens.test"], roles: "/realm/roles", roleNames, folder }
  venue = await open({ console: options, basePath: "/engine", origins: ["https://app.test"] })
  without = await open()
})
afterAll(async () => {
  await venue.close()
  await without.close()
  rmSync(folder, { recursive: true })
})

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly bytes: Buffer
}

/** The answer's bytes as sent, and the path as written: `fetch` resolves dots. */
const get = (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
): Promise<Got> =>
  new Promise((resolve, reject) => {
    const { port } = venue
    request({ port, host: "127.0.0.1", path, method, headers, agent: false }, (response) => {
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

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  `connect-src 'self' ${issuer} https://tokens.test; base-uri 'none'; form-action 'none'; ` +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

describe("the console", () => {
  const id = "a".repeat(128)
  const pages = [
    ["/console/", "./"],
    ["/console/?q=1", "./"],
    ["/console/orders", "./"],
    ["/console/approvals/ak_01", "../"],
    ["/console/orders/%73ub-1", "../"],
    [`/console/a/b/${id}`, "../../"],
    ["/console/1/2/3/4/5/6/7", "../../../../../../"]
  ] as const
  it.each(pages)(
    "answers the page at %s, with its files relative to that path",
    async (path, up) => {
      const { bytes, headers, status } = await get(path)
      const text = bytes.toString()
      expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-cache"
      ])
      expect(text).toContain(`src="${up}assets/index-1.js"`)
      expect(text).toContain(`href="${up}assets/index-1.css"`)
      const at = new URL(path, "http://h/engine/").pathname
      expect(new URL(`${up}assets/index-1.js`, `http://h${at}`).pathname).toBe(
        "/console/assets/index-1.js"
      )
    }
  )

  const lost = [
    "/console/assets/index-2.js",
    "/console/assets/",
    "/console/assets/index-1.js.br",
    "/console/assets/index-1.js/map",
    "/console/..%2F..%2Fetc",
    "/console/../v1/health",
    "/console/./orders",
    "/console//orders",
    "/console/orders/",
    "/console/a%2Fb",
    "/console/%00",
    "/console/%",
    "/console/1/2/3/4/5/6/7/8",
    `/console/${"a".repeat(129)}`,
    "/consoles/"
  ]
  it.each(lost)("answers no page and no file at %s", async (path) => {
    const { bytes, headers, status } = await get(path)
    expect([status, headers["content-type"]]).toEqual([404, "application/problem+json"])
    expect(JSON.parse(bytes.toString()).type).toBe("urn:bursar:problem:not-found")
  })

  it("serves no file of the build that is none of the page's", async () => {
    const { bytes } = await get("/console/sources.sha256")
    expect(bytes.toString()).toContain("<!doctype html>")
  })

  it("redirects the path without its slash, relative to what a proxy added", async () => {
    const { headers, status } = await get("/console")
    expect([status, headers["location"]]).toEqual([308, "console/"])
  })

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])(
    "refuses %s and names what it takes",
    async (method) => {
      for (const path of ["/console/", "/console/orders", "/console/assets/index-1.js"]) {
        const response = await fetch(`${venue.url}${path}`, { method })
        expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"])
        expect(await slugOf(response)).toBe("method-not-allowed")
      }
    }
  )

  it("answers HEAD as GET, without the body", async () => {
    for (const path of ["/console/", "/console/assets/index-1.js", "/console/assets/none.js"]) {
      const [whole, head] = [await get(path), await get(path, {}, "HEAD")]
      expect([head.status, head.bytes.length, head.headers["etag"]]).toEqual([
        whole.status,
        0,
        whole.headers["etag"]
      ])
    }
  })

  const served = [
    ["/console/assets/index-1.js", "text/javascript; charset=utf-8", "immutable"],
    ["/console/assets/index-1.css", "text/css; charset=utf-8", "immutable"],
    ["/console/assets/mark-1.svg", "image/svg+xml", "immutable"],
    ["/console/licences.txt", "text/plain; charset=utf-8", "no-cache"],
    ["/console/", "text/html; charset=utf-8", "no-cache"]
  ] as const
  it.each(served)(
    "serves %s under the policy, for as long as it holds",
    async (path, type, cached) => {
      const { headers, status } = await get(path)
      expect([status, headers["content-type"]]).toEqual([200, type])
      expect(headers["cache-control"]).toBe(
        cached === "immutable" ? "public, max-age=31536000, immutable" : cached
      )
      expect(headers).toMatchObject({
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin"
      })
      expect(String(headers["vary"])).toContain("accept-encoding")
    }
  )

  it("sends a file in the encoding that was made at the build, and once", async () => {
    const path = "/console/assets/index-1.js"
    const unpack = {
      br: brotliDecompressSync,
      gzip: gunzipSync,
      identity: (bytes: Buffer) => bytes
    }
    for (const encoding of ["br", "gzip", "identity"] as const) {
      const accepted = { "accept-encoding": encoding }
      const got = await get(path, accepted)
      expect(got.headers["content-encoding"] ?? "identity").toBe(encoding)
      expect(unpack[encoding](got.bytes).toString()).toBe(script)
      const again = await get(path, {
        ...accepted,
        "if-none-match": String(got.headers["etag"])
      })
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    }
  })

  it("tells the page its venue and where a token has the roles, as text", async () => {
    const text = (await get("/console/")).bytes.toString()
    const content = /<meta name="bursar" content="([^"]*)"/u.exec(text)?.[1] ?? ""
    const plain = content.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&")
    expect(content).not.toContain("<")
    expect(JSON.parse(plain)).toMatchObject({
      tenantId: "venue-1",
      roles: "/realm/roles",
      roleNames: { '<Desk "A">': ["risk", "compliance"] }
    })
  })

  it("is no part of a host that does not serve it, nor of the interface", async () => {
    for (const path of ["/console", "/console/", "/console/assets/index-1.js"]) {
      const response = await fetch(`${without.url}${path}`)
      expect([response.status, await slugOf(response)]).toEqual([404, "not-found"])
    }
    expect((await get("/v1/openapi.json")).bytes.toString()).not.toContain("/console")
  })

  it("is left out with a warning where its files are not built", async () => {
    const empty = await open({
      console: { origins: [], roles: "/roles", roleNames: null, folder: join(folder, "none") }
    })
    try {
      const response = await fetch(`${empty.url}/console/`)
      expect(response.status).toBe(404)
      expect(empty.logs.filter((line) => line.includes("its files are not built"))).toHaveLength(1)
    } finally {
      await empty.close()
    }
  })
})
