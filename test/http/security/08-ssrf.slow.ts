/** A webhook's address reaches nothing inside: not when it is registered, and not when it is posted to. */
import { settingsDefaults, Settings } from "@bursar/engine-core"
import { WebhookSender } from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Catalogue } from "@bursar/engine-core"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { isPublic, networkOf } from "#host/outbound/Addresses.ts"
import { bearer, json, open, type Problem, send, type Venue } from "../venue.ts"

type Resolve = NonNullable<Host.WebhookSender.Options["resolve"]>

const closing: Array<() => void> = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A receiver on loopback that counts who connects. */
const receiver = async (
  answer: Parameters<typeof createServer>[1] = (_, response) => response.end()
) => {
  const server: Server = createServer(answer)
  let connections = 0
  server.on("connection", () => {
    connections += 1
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, count: () => connections }
}

const senderOf = (options: Partial<Host.WebhookSender.Options>) =>
  Effect.runSync(
    Effect.provide(
      Effect.flatMap(WebhookSender.WebhookSender, Effect.succeed),
      Host.WebhookSender.layer({
        ports: [443, 8443],
        http: "refused",
        allowAddresses: [],
        ...options
      }).pipe(Layer.provide(NodeCrypto.layer))
    )
  )

const answers =
  (...addresses: ReadonlyArray<string>): Resolve =>
  () =>
    Promise.resolve(
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }) as const)
    )

const post = (sender: WebhookSender.Sender, url: string) =>
  Effect.runPromise(
    sender.post({ url, headers: { "webhook-id": "evt_1" }, body: "{}", trace: null })
  )

const loopback = [networkOf("127.0.0.0/8")!]

const refused = [
  "http://receiver.example/",
  "file:///etc/passwd",
  "gopher://receiver.example/",
  "ftp://receiver.example/",
  "https:receiver.example",
  "//receiver.example/",
  "https://user@receiver.example/",
  "https://user:pass@receiver.example/",
  "https://@receiver.example/",
  "https://receiver.example/#there",
  "https://receiver.example/#",
  "https://receiver.example:22/",
  "https://receiver.example:0/",
  "https://127.0.0.1/",
  "https://8.8.8.8/",
  "https://2130706433/",
  "https://0177.0.0.1/",
  "https://0x7f000001/",
  "https://0x7f.1/",
  "https://127.1/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2606:4700::1111]/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://api.localhost/",
  "https://receiver.example./",
  "https://receiver。example/",
  "https://receiver．example/",
  "https://receiver%2eexample/",
  "https://127。0。0。1/",
  "https://rece\tiver.example/",
  "https://receiver.example\\@127.0.0.1/",
  "https://-receiver.example/",
  "https://receiver..example/",
  "https:///receiver.example/",
  "https://",
  "not an address"
]

describe("an address is refused when it is registered", () => {
  // Red when `WebhookTarget.formOf` lets a form through, or `locate` no longer judges the host.
  const sender = senderOf({ resolve: answers("93.184.215.14") })
  it.each(refused)("%s", async (url) => {
    expect(await Effect.runPromise(sender.judge(url))).toMatch(/\w+ .*\.$/)
    expect(await post(sender, url)).toEqual({ failure: "address-refused" })
  })

  // Red when an allowed network lets an address itself through: a certificate and SNI need a name.
  it("and so is every address in place of a name, where all addresses are allowed too", async () => {
    const all = ["0.0.0.0/0", "::/0"].map(Host.WebhookAddresses.networkOf)
    const open = senderOf({
      resolve: answers("93.184.215.14"),
      allowAddresses: all.filter((one) => one !== undefined)
    })
    const addresses = refused.filter((url) => /^https:\/\/(\[|[0-9])[!-~]*$/.test(url))
    expect(addresses.length).toBeGreaterThan(10)
    for (const url of addresses) {
      expect([url, await Effect.runPromise(open.judge(url))]).toEqual([
        url,
        expect.stringMatching(/^Its host is (an address, not a name|not a DNS name)\.$/)
      ])
      expect(await post(open, url)).toEqual({ failure: "address-refused" })
    }
  })

  it("and one that is https, by name, on a port that is allowed, is not", async () => {
    for (const url of [
      "https://receiver.example/hook?a=b",
      "https://Receiver.example:8443/",
      "https://xn--bcher-kva.example/"
    ]) {
      expect(await Effect.runPromise(sender.judge(url)), url).toBeUndefined()
    }
  })

  it("a name with no address, or one that cannot be asked for, is refused as such", async () => {
    const none = senderOf({ resolve: answers() })
    const silent = senderOf({ resolve: () => Promise.reject(new Error("SERVFAIL")) })
    for (const one of [none, silent]) {
      expect(await Effect.runPromise(one.judge("https://receiver.example/"))).toContain("name")
      expect(await post(one, "https://receiver.example/")).toEqual({ failure: "dns" })
    }
  })
})

describe("addresses that are not public", () => {
  it.each([
    ["0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
    ["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1"],
    ["198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255"],
    ["::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::127.0.0.1"],
    ["fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1"],
    ["3fff::1", "100::1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::1", "2001::1"],
    ["5f00::1", "4000::1", "not an address", ""]
  ])("%s and their like", (...addresses) => {
    expect(addresses.filter(isPublic)).toEqual([])
  })

  it("and those next to them are", () => {
    const open = ["9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255"]
    const more = ["172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"]
    const six = ["2606:4700::1111", "2001:4860::1", "2001:1::1", "::ffff:8.8.8.8", "2003::1"]
    expect([...open, ...more, ...six].filter((address) => !isPublic(address))).toEqual([])
  })
})

describe("an address is judged again at every attempt", () => {
  it("a name that was public and is loopback now: nothing connects", async () => {
    // Red when `post` no longer judges, or connects by name.
    const inside = await receiver()
    let lookups = 0
    const sender = senderOf({
      ports: [inside.port],
      http: "allowed",
      resolve: async () => {
        lookups += 1
        return [{ address: lookups === 1 ? "93.184.215.14" : "127.0.0.1", family: 4 }]
      }
    })
    const url = `http://receiver.example:${inside.port}/`
    expect(await Effect.runPromise(sender.judge(url))).toBeUndefined()
    expect(await post(sender, url)).toEqual({ failure: "address-refused" })
    expect(lookups).toBe(2)
    expect(inside.count()).toBe(0)
  })

  it("a public A beside an AAAA of this machine: nothing connects", async () => {
    const inside = await receiver()
    const sender = senderOf({
      ports: [inside.port],
      http: "allowed",
      resolve: answers("93.184.215.14", "::1")
    })
    expect(await post(sender, `http://receiver.example:${inside.port}/`)).toEqual({
      failure: "address-refused"
    })
    expect(inside.count()).toBe(0)
  })

  it("the socket opens to the address that was judged, whatever the name resolves to elsewhere", async () => {
    let host: string | undefined
    const inside = await receiver((request, response) => {
      host = request.headers.host
      response.end()
    })
    const sender = senderOf({
      ports: [inside.port],
      http: "allowed",
      allowAddresses: loopback,
      resolve: answers("127.0.0.1")
    })
    // The name exists nowhere: only what was judged can have been connected to.
    expect(await post(sender, `http://receiver.invalid:${inside.port}/`)).toMatchObject({
      status: 200
    })
    expect(host).toBe(`receiver.invalid:${inside.port}`)
  })
})

describe("what an answer says leads nowhere", () => {
  const to = (port: number, options: Partial<Host.WebhookSender.Options> = {}) =>
    senderOf({ ports: [port], http: "allowed", allowAddresses: loopback, ...options })

  it("a redirect to loopback is a failure, and is not followed", async () => {
    const inside = await receiver()
    const outside = await receiver((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end()
    })
    const answer = await post(to(outside.port), `http://localhost:${outside.port}/`)
    expect(answer).toEqual({ status: 302, retryAfter: null })
    expect(inside.count()).toBe(0)
  })

  it("of an answer of 10 MB about 64 KiB are read", async () => {
    let sent = 0
    const flood = await receiver((_, response) => {
      const more = () => {
        while (sent < 10 * 1024 * 1024 && response.writable) {
          sent += 16 * 1024
          if (!response.write(Buffer.alloc(16 * 1024))) return void response.once("drain", more)
        }
        response.end()
      }
      more()
    })
    const answer = await post(to(flood.port), `http://localhost:${flood.port}/`)
    expect(answer).toEqual({ status: 200, retryAfter: null })
    // The kernel's socket buffers hold some mebibytes that were sent and never read.
    expect(sent).toBeLessThan(8 * 1024 * 1024)
  })

  it("an answer that comes a byte at a time is cut off when its time is over, which is 15 seconds", async () => {
    expect(Host.WebhookSender.usual).toEqual({ connect: 5_000, attempt: 15_000 })
    const within = { connect: 500, attempt: 500 }
    const drip = await receiver((request, response) => {
      const { socket } = request
      if (request.url === "/body") response.writeHead(200)
      else if (request.url === "/head") socket.write("HTTP/1.1 200 OK\r\n")
      const timer = setInterval(() => {
        if (request.url === "/body") response.write("x")
        else if (request.url === "/head") socket.write("x-drip: 1\r\n")
      }, 50)
      socket.on("close", () => clearInterval(timer))
    })
    const sender = to(drip.port, { within })
    const ended = ["/body", "/head", "/silence"].map((path) =>
      post(sender, `http://localhost:${drip.port}${path}`)
    )
    expect(await Promise.all(ended)).toEqual([
      // The status was there in time: it decides.
      { status: 200, retryAfter: null },
      { failure: "timeout" },
      { failure: "timeout" }
    ])
  })

  it("a receiver that is not there, or hangs up, fails to connect", async () => {
    const gone = await receiver()
    closing.splice(0).forEach((close) => close())
    expect(await post(to(gone.port), `http://localhost:${gone.port}/`)).toEqual({
      failure: "connect"
    })
    const rude = await receiver((request) => request.socket.destroy())
    expect(await post(to(rude.port), `http://localhost:${rude.port}/`)).toEqual({
      failure: "connect"
    })
  })

  it("TLS is verified: a receiver that speaks none, or whose certificate nobody knows, is refused", async () => {
    const plain = await receiver()
    const sender = to(plain.port, { http: "refused" })
    expect(await post(sender, `https://localhost:${plain.port}/`)).toEqual({ failure: "tls" })
  })

  it("the proxies of the environment are not used", async () => {
    const proxy = await receiver()
    const inside = await receiver()
    const script = `
      import * as Host from "@bursar/http-host"
      import * as NodeCrypto from "@bursar/storage-adapters/node"
      import { WebhookSender } from "@bursar/engine-core/ports"
      import { Effect, Layer } from "effect"
      const port = ${inside.port}
      const sender = Effect.runSync(Effect.provide(
        Effect.flatMap(WebhookSender.WebhookSender, Effect.succeed),
        Host.WebhookSender.layer({
          ports: [port], http: "allowed", allowAddresses: [Host.WebhookAddresses.networkOf("127.0.0.0/8")]
        }).pipe(Layer.provide(NodeCrypto.layer))))
      const post = { url: "http://localhost:" + port + "/", headers: {}, body: "{}", trace: null }
      console.log(JSON.stringify(await Effect.runPromise(sender.post(post))))`
    const address = `http://127.0.0.1:${proxy.port}`
    const env = {
      PATH: process.env["PATH"],
      NODE_USE_ENV_PROXY: "1",
      ...Object.fromEntries(
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"].map(
          (name) => [name, address]
        )
      )
    }
    const said = await new Promise<string>((done, failed) => {
      execFile(
        process.execPath,
        ["--input-type=module-typescript", "-e", script],
        { env, cwd: import.meta.dirname },
        (error, stdout, stderr) => (error ? failed(new Error(stderr)) : done(stdout))
      )
    })
    expect(JSON.parse(said)).toEqual({ status: 200, retryAfter: null })
    expect(proxy.count()).toBe(0)
    expect(inside.count()).toBe(1)
  })
})

describe("over the wire", () => {
  let venue: Venue
  let operator = ""
  let approver = ""
  let namesAsked: ReadonlyArray<string> = []
  let resolve: Resolve = answers("93.184.215.14")

  beforeAll(async () => {
    const sender = senderOf({
      resolve: (name) => {
        namesAsked = [...namesAsked, name]
        return resolve(name)
      }
    })
    venue = await open({
      tables: Catalogue,
      storage: Layer.mergeAll(
        Memory.layer,
        Layer.succeed(WebhookSender.WebhookSender, sender),
        Layer.succeed(Settings, settingsDefaults)
      )
    })
    operator = await bearer(["operator"])
    approver = await bearer(["approver"])
  })
  afterAll(() => venue.close())

  const register = (url: string) =>
    send(venue, {
      method: "POST",
      path: "/v1/webhooks",
      as: operator,
      body: JSON.stringify({ url }),
      headers: { "idempotency-key": crypto.randomUUID() }
    })

  it.each(refused)("%s is answered 422", async (url) => {
    const answer = await register(url)
    const problem = await json<Problem>(answer)
    expect([answer.status, problem.type]).toEqual([422, "urn:bursar:problem:webhook-url-refused"])
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(["/body/url"])
  })

  it("a name that is public when it is made and loopback when it is approved is not registered", async () => {
    const made = await json<{ readonly actionKey: string }>(
      await register("https://receiver.example/")
    )
    resolve = answers("127.0.0.1")
    const approved = await send(venue, {
      method: "POST",
      path: `/v1/approvals/${made.actionKey}:approve`,
      as: approver
    })
    expect([approved.status, (await json<Problem>(approved)).type]).toEqual([
      422,
      "urn:bursar:problem:webhook-url-refused"
    ])
    resolve = answers("93.184.215.14")
    expect(namesAsked.length).toBeGreaterThan(0)
  })

  it("one that is loopback only when the write runs fails as an operation, and is not registered", async () => {
    const made = await json<{ readonly actionKey: string }>(
      await register("https://receiver.example/2")
    )
    const approved = await json<{ readonly operationId: string }>(
      await send(venue, {
        method: "POST",
        path: `/v1/approvals/${made.actionKey}:approve`,
        as: approver
      })
    )
    resolve = answers("::ffff:7f00:1")
    await venue.settle()
    const read = await json<{
      readonly value: { readonly state: string; readonly problem: Problem }
    }>(await send(venue, { path: `/v1/operations/${approved.operationId}`, as: operator }))
    expect([read.value.state, read.value.problem.type]).toEqual([
      "failed",
      "urn:bursar:problem:webhook-url-refused"
    ])
    resolve = answers("93.184.215.14")
    const listed = await json<{ readonly value: ReadonlyArray<unknown> }>(
      await send(venue, { path: "/v1/webhooks", as: operator })
    )
    expect(listed.value).toEqual([])
  })
})
