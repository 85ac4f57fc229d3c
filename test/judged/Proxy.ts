/** Prism between a caller and the host: every request and every answer judged by the document. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"

const prism = fileURLToPath(
  new URL("../tools/node_modules/@stoplight/prism-cli/dist/index.js", import.meta.url)
)

export interface Proxy {
  readonly url: string
  readonly stop: () => Promise<void>
}

const startWithin = 60_000

/** Starts it in front of an address; ready once it listens. */
export const start = async (options: {
  /** The document's file. */
  readonly document: string
  readonly upstream: string
}): Promise<Proxy> => {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      prism,
      "proxy",
      "--errors",
      "-h",
      "127.0.0.1",
      "-p",
      String(port),
      options.document,
      options.upstream
    ],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  const tooLate = setTimeout(() => child.kill("SIGKILL"), startWithin)
  const gone = once(child, "exit").then(() => {
    throw new Error("prism ended before it listened")
  })
  const listening = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString("utf8").includes("is listening")) resolve()
    })
  })
  await Promise.race([listening, gone])
  clearTimeout(tooLate)
  gone.catch(() => undefined)
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const ended = once(child, "exit")
      if (child.exitCode === null && child.kill("SIGTERM")) await ended
    }
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  server.close()
  await once(server, "close")
  return port
}
