/** A plain client over a scripted service, which keeps what it was asked. */
import * as PlainClient from "@bursar/http-host/plain-client"

export interface Reply {
  readonly status?: number
  /** Text of the answer; `{}` by default. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Seconds for which the service holds the answer back, as the call prefers. */
  readonly held?: number
}

export interface SentCall {
  /** Second of the test's clock. */
  readonly second: number
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string
}

/** The replies in their order, the last one again and again; `"nothing"` is a connection that ended. */
export const scripted = (
  replies: ReadonlyArray<Reply | "nothing">,
  options: Partial<PlainClient.ClientOptions> = {}
) => {
  const calls: Array<SentCall> = []
  const began = Date.now()
  const answering: typeof fetch = async (input, init) => {
    const request = new Request(input, {
      ...init,
      ...(init?.body == null ? {} : { duplex: "half" })
    })
    const reply = replies[Math.min(calls.length, replies.length - 1)]
    calls.push({
      second: (Date.now() - began) / 1000,
      method: request.method,
      url: new URL(request.url),
      headers: request.headers,
      body: await request.text()
    })
    if (reply === undefined || reply === "nothing") throw new TypeError("fetch failed")
    const { held, status = 200, text = "{}" } = reply
    const headers = new Headers(reply.headers)
    if (held !== undefined) {
      headers.set("preference-applied", request.headers.get("prefer") ?? "")
      await new Promise((resolve) => setTimeout(resolve, held * 1000))
    }
    return new Response(status === 204 ? null : text, { status, headers })
  }
  const client = PlainClient.make({
    baseUrl: "http://venue.test/base/",
    authorization: "Bearer b",
    fetch: answering,
    makeKey: () => `key-${calls.length + 1}`,
    ...options
  })
  return { client, calls, seconds: () => calls.map(({ second }) => second) }
}
