/**
 * Fetch as a page of another origin has it: it asks the host before a call that is not simple, sends
 * nothing that was not permitted, and shows the page only the headers that it may read
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */

/** Headers that need no leave; a content type only in three forms, of which JSON is none. */
const simpleHeaders = new Set(["accept", "accept-language", "content-language"])
const simpleMethods = new Set(["GET", "HEAD", "POST"])

/** Headers of an answer that a page may read without leave. */
const simpleAnswers = new Set([
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma"
])

const wordsOf = (headers: Headers, name: string): ReadonlySet<string> =>
  new Set((headers.get(name) ?? "").split(",").map((word) => word.trim().toLowerCase()))

/** A browser tells its page no more than this; the reason is in its console. */
const refused = (reason: string): never => {
  throw new TypeError("Failed to fetch", { cause: reason })
}

/** Makes the fetch of pages of an origin; `preflights` gets the headers that each call asks leave for. */
export const pageFetch =
  (origin: string, preflights: Array<ReadonlyArray<string>> = []): typeof fetch =>
  async (input, init) => {
    const { headers, method, url } = new Request(input, init)
    const customHeaders = [...headers.keys()].filter((name) => !simpleHeaders.has(name)).toSorted()
    if (customHeaders.length > 0 || !simpleMethods.has(method)) {
      preflights.push(customHeaders)
      const leave = await fetch(url, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": method,
          "access-control-request-headers": customHeaders.join(",")
        }
      })
      if (!leave.ok) refused(`the preflight is answered ${leave.status}`)
      if (leave.headers.get("access-control-allow-origin") !== origin) refused("no such origin")
      const methods = wordsOf(leave.headers, "access-control-allow-methods")
      if (!methods.has(method.toLowerCase())) refused(`${method} is not permitted`)
      const permitted = wordsOf(leave.headers, "access-control-allow-headers")
      const more = customHeaders.filter((name) => !permitted.has(name))
      if (more.length > 0) refused(`${more.join(", ")}: not permitted`)
    }
    const sent = new Headers(init?.headers ?? headers)
    sent.set("origin", origin)
    const answer = await fetch(input, { ...init, headers: sent })
    if (answer.headers.get("access-control-allow-origin") !== origin)
      refused("the answer is hidden")
    const shown = wordsOf(answer.headers, "access-control-expose-headers")
    const readable = [...answer.headers].filter(
      ([name]) => simpleAnswers.has(name) || shown.has(name)
    )
    const { status, statusText } = answer
    return new Response(status === 204 ? null : answer.body, {
      status,
      statusText,
      headers: readable
    })
  }
