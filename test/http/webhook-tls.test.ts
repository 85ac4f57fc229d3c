/** Deliveries over TLS: the receiver's certificate must be for the registered name. */
import { WebhookSender } from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

let folder = ""
let server: Server
let port = 0
let certificate = ""
const serverRequests: Array<{
  readonly name: string | false | null
  readonly host: string | undefined
}> = []

/**
 * Posts to a registered name, which resolves to loopback: the certificate alone identifies the
 * receiver.
 */
const post = (name: string, authorities?: string) => {
  const loopback = Host.WebhookAddresses.networkOf("127.0.0.0/8")
  const layer = Host.WebhookSender.layer({
    ports: [port],
    http: "refused",
    allowAddresses: loopback === undefined ? [] : [loopback],
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    ...(authorities === undefined ? {} : { authorities })
  }).pipe(Layer.provide(NodeCrypto.layer))
  const url = `https://${name}:${port}/`
  return Effect.runPromise(
    Effect.flatMap(WebhookSender.WebhookSender, (sender) =>
      sender.post({ url, headers: {}, body: "{}", trace: null })
    ).pipe(Effect.provide(layer))
  )
}

describe.skipIf(!hasOpenssl)("a receiver's certificate (made with openssl)", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "bursar-tls-"))
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
        ...["-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=receiver.invalid"],
        ...["-addext", "subjectAltName=DNS:receiver.invalid"]
      ],
      { stdio: "ignore" }
    )
    certificate = readFileSync(cert, "utf8")
    server = createServer({ key: readFileSync(key), cert: certificate }, (request, response) => {
      serverRequests.push({
        name: (request.socket as TLSSocket).servername,
        host: request.headers.host
      })
      response.writeHead(204).end()
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })

  it("of its name, by an authority that is trusted, is taken; it is asked for by its name", async () => {
    // Red when the name is not sent: the socket goes to an address, and no address is in the certificate.
    expect(await post("receiver.invalid", certificate)).toEqual({ status: 204, retryAfter: null })
    expect(serverRequests).toEqual([{ name: "receiver.invalid", host: `receiver.invalid:${port}` }])
  })

  it("that nobody vouches for is refused before anything is posted", async () => {
    // Red when TLS is not verified.
    const before = serverRequests.length
    expect(await post("receiver.invalid")).toEqual({ failure: "tls" })
    expect(serverRequests).toHaveLength(before)
  })

  it("of another name is refused before anything is posted", async () => {
    const before = serverRequests.length
    expect(await post("other.invalid", certificate)).toEqual({ failure: "tls" })
    expect(serverRequests).toHaveLength(before)
  })
})
