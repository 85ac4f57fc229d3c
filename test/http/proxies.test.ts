/**
 * Signed requests behind a proxy that takes a prefix off every path: the path that was signed is
 * the one that is verified.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, request } from "node:http"
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SigningKey } from "@bursar/http-host"
import { Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { secret, sign } from "./signing.ts"
import { bearer, json, open, type Venue } from "./venue.ts"
import { until } from "../waiting.ts"

const prefix = "/engine"
const key: SigningKey = {
  keyId: "k-1",
  sub: "signer",
  secret: Redacted.make(new Uint8Array(secret)),
  notBefore: null,
  notAfter: null
}

interface Proxy {
  readonly port: number
  readonly stop: () => Promise<void>
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createTcpServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** The least a proxy does: one path less, all other bytes of the target as they came. */
const plain = async (to: number): Promise<Proxy> => {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming
    const path = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
    const onward = request({ host: "127.0.0.1", port: to, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

const reachable = (port: number): Promise<void> =>
  until(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)))
        socket.once("error", () => resolve(false))
      })
  )

/** A program of its own with a file of its own, which ends with the test. */
const program = async (entry: {
  readonly run: (folder: string) => readonly [string, ReadonlyArray<string>]
  readonly file: (port: number, folder: string) => string
}): Promise<Proxy> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-proxy-"))
  const port = await freePort()
  await writeFile(join(folder, "proxy.conf"), entry.file(port, folder))
  const [command, options] = entry.run(folder)
  const child: ChildProcess = spawn(command, options, { stdio: "ignore" })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  await reachable(port)
  return {
    port,
    stop: async () => {
      child.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}

const nginx = (to: number) =>
  program({
    run: (folder) => [
      "nginx",
      ["-p", folder, "-c", join(folder, "proxy.conf"), "-g", "daemon off;"]
    ],
    // $request_uri is the target as it came; a proxy_pass with a path would spell it anew.
    file: (port, folder) => `
      pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        server {
          listen 127.0.0.1:${port};
          location ${prefix}/ {
            if ($request_uri ~ "^${prefix}(/.*)$") { set $rest $1; }
            proxy_pass http://127.0.0.1:${to}$rest;
          }
        }
      }`
  })

const haproxy = (to: number) =>
  program({
    run: (folder) => ["haproxy", ["-db", "-f", join(folder, "proxy.conf")]],
    file: (port) => `
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 5s
frontend in
  bind 127.0.0.1:${port}
  http-request replace-pathq ^${prefix}(/.*)$ \\1
  default_backend engine
backend engine
  server one 127.0.0.1:${to}
`
  })

const isThere = (command: string) => spawnSync(command, ["-v"]).error === undefined

const proxies = [
  ["a proxy in plain", true, plain],
  ["nginx", isThere("nginx"), nginx],
  ["haproxy", isThere("haproxy"), haproxy]
] as const

for (const [name, there, start] of proxies) {
  describe.skipIf(!there)(`behind ${name}${there ? "" : " (skipped: it is not installed)"}`, () => {
    let venue: Venue
    let proxy: Proxy
    let as: string
    beforeAll(async () => {
      venue = await open({ basePath: prefix, signing: { keys: [key], basePath: prefix } })
      proxy = await start(venue.port)
      as = await bearer(["operator"], { sub: "signer" })
    })
    afterAll(async () => {
      await proxy.stop()
      await venue.close()
    })

    const call = (method: string, target: string, signed: string, body?: string) =>
      fetch(`http://127.0.0.1:${proxy.port}${target}`, {
        method,
        headers: {
          authorization: as,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...sign({ method, target: signed, ...(body === undefined ? {} : { body }) })
        },
        ...(body === undefined ? {} : { body })
      })

    it("a request signed as it was sent is taken, whatever is encoded in it", async () => {
      for (const target of [
        `${prefix}/v1/holders?limit=1`,
        `${prefix}/v1/holders?text=one&text=two`,
        `${prefix}/v1/holders?text=%6fne`,
        `${prefix}/v1/holders?holderId=a.b~c`
      ]) {
        expect([target, (await call("GET", target, target)).status]).toEqual([target, 200])
      }
      const encoded = `${prefix}/v1/holders/%61bsent`
      expect((await call("GET", encoded, encoded)).status).toBe(404)
      const onboard = `${prefix}/v1/holders:onboard`
      const made = await call("POST", onboard, onboard, '{"holderId":"px-1"}')
      expect(made.status).toBe(202)
      expect(made.headers.get("location")).toMatch(/^\/engine\/v1\/operations\/op_/)
    })

    it("one signed without the path that the proxy took off is not", async () => {
      const response = await call("GET", `${prefix}/v1/holders?limit=1`, "/v1/holders?limit=1")
      expect(response.status).toBe(401)
      expect((await json<{ type: string }>(response)).type).toContain("signature-invalid")
    })
  })
}
