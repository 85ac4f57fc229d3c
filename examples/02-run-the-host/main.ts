/**
 * Runs the host on its embedded PostgreSQL, sends every request of four-eyes.http and checks each
 * answer.
 */
import { readFile } from "node:fs/promises"
import { withTemporaryVenue } from "../demo/temporaryVenue.ts"
import { tokenOf } from "../demo/Desk.ts"
import type { Venue } from "#demo/Stack.ts"
import { people } from "#demo/People.ts"
import { filled, type Request, requests } from "./http-file.ts"

const file = await readFile(new URL("four-eyes.http", import.meta.url), "utf8")

/** Values of the variables at the top of the file, which a person would fill in. */
const variablesOf = async (venue: Venue, parties: Readonly<Record<string, string>>) =>
  new Map([
    ["api", venue.api],
    ["operator", await tokenOf(venue, people.operator)],
    ["approver", await tokenOf(venue, people.approver)],
    ["auditor", await tokenOf(venue, people.auditor)],
    ["registrar", parties["registrar"] ?? ""],
    ["oracle", parties["oracle"] ?? ""]
  ])

interface Answer {
  readonly status: number
  /** Members of the answer, or of the value inside a read's envelope. */
  readonly members: Readonly<Record<string, unknown>>
}

const send = async (request: Request, variables: ReadonlyMap<string, string>): Promise<Answer> => {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name, filled(value, variables)] as const
  )
  const response = await fetch(filled(request.url, variables), {
    method: request.method,
    headers: Object.fromEntries(headers),
    ...(request.body === undefined ? {} : { body: filled(request.body, variables) })
  })
  const json: unknown = await response.json()
  const members: Readonly<Record<string, unknown>> = { ...(json as object) }
  const { value } = members
  return {
    status: response.status,
    members: typeof value === "object" && value !== null ? { ...value } : members
  }
}

/** State of an answer, or the last segment of a problem's type. */
const wordOf = ({ members }: Answer): string =>
  String(
    members["state"] ??
      String(members["type"] ?? "")
        .split(":")
        .at(-1)
  )

const tries = 200

const answered = async (
  request: Request,
  variables: ReadonlyMap<string, string>
): Promise<Answer> => {
  for (let tried = 1; ; tried++) {
    const answer = await send(request, variables)
    if (request.until === undefined || wordOf(answer) === request.until || tried === tries)
      return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

await withTemporaryVenue(
  { instruments: [{ instrumentId: "elf-usd", unitDecimals: 6 }] },
  async (stack) => {
    const variables = await variablesOf(stack.venue, stack.parties)
    for (const request of requests(file)) {
      const answer = await answered(request, variables)
      const { status, word } = request.expect
      console.log(`${answer.status} ${wordOf(answer).padEnd(24)} ${request.title}`)
      if (answer.status !== status || (word !== undefined && word !== wordOf(answer))) {
        throw new Error(`expected ${status} ${word ?? ""}: ${JSON.stringify(answer.members)}`)
      }
      if (request.name === undefined) continue
      for (const [member, value] of Object.entries(answer.members)) {
        if (typeof value === "string") variables.set(`${request.name}.${member}`, value)
      }
    }
  }
)
