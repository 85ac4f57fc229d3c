/** A caller of the ledger's door that sends its calls at once on one connection. */
import { connect } from "node:net"

/** Sends so many calls, reads until each is answered or the connection ends, and returns the text. */
export const pipelined = (url: string, calls: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const peer = connect(Number(port), hostname)
    let text = ""
    peer.on("data", (part) => {
      text += String(part)
      if (text.split("HTTP/1.1 ").length > calls) peer.end()
    })
    peer.once("close", () => resolve(text))
    peer.once("error", reject)
    peer.write("GET /v2/version HTTP/1.1\r\nHost: ledger\r\n\r\n".repeat(calls))
  })
