/** Receiver of webhooks that verifies each delivery by code of its own. */
import { once } from "node:events"
import { createServer } from "node:http"
import { type Verdict, verify } from "@bursar/http-host/webhook-receiver"

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly secret: string
  readonly verdicts: ReadonlyArray<Verdict>
  readonly stop: () => void
}

export const start = async (): Promise<Receiver> => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
  const verdicts: Array<Verdict> = []
  const server = createServer(async (request, response) => {
    const parts: Array<Buffer> = []
    for await (const part of request) parts.push(part)
    const delivery = { headers: request.headers, body: Buffer.concat(parts) }
    verdicts.push(await verify(delivery, { secrets: [secret] }))
    response.writeHead(204).end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://localhost:${port}/bursar`,
    port,
    secret,
    verdicts,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
