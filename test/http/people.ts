/** Kit of people who make, sign and reject writes over HTTP, and the answers they get. */
import { expect } from "vitest"
import { json, type Problem, send, slugOf, type Venue } from "./venue.ts"

/** A write answer, as far as these tests look at it. */
export interface Written {
  readonly state: string
  readonly operationId: string | null
  readonly actionKey: string | null
  readonly maker: string | null
  readonly makerRole: string | null
  readonly actor: string | null
  readonly role: string | null
  readonly signedBy: ReadonlyArray<string> | null
  readonly request: unknown
  readonly problem: Problem | null
}

/** Result of a call: its status, its slug or its record, and the headers that tests compare. */
export interface Became {
  readonly status: number
  readonly slug: string | null
  readonly written: Written | null
  readonly location: string | null
  readonly retryAfter: string | null
  readonly replayed: string | null
  readonly text: string
}

/** Sends a write: a key is a header, and a body may be left out. */
export const write = async (
  venue: Venue,
  options: {
    readonly path: string
    readonly as: string
    readonly method?: string
    readonly body?: string
    readonly key?: string
  }
): Promise<Became> => {
  const { path, as, method = "POST", body, key } = options
  const response = await send(venue, {
    method,
    path,
    as,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } })
  })
  return became(response)
}

export const became = async (response: Response): Promise<Became> => {
  const text = await response.clone().text()
  const isRefusal = response.status >= 400
  return {
    status: response.status,
    slug: isRefusal ? await slugOf(response) : null,
    written: isRefusal || text === "" ? null : await json<Written>(response),
    location: response.headers.get("location"),
    retryAfter: response.headers.get("retry-after"),
    replayed: response.headers.get("idempotent-replayed"),
    text
  }
}

/** The action's key of a call that has to have made or met one. */
export const actionOf = ({ written }: Became): string => {
  expect(written?.actionKey).toMatch(/^ak_[0-9A-HJKMNP-TV-Z]{26}$/)
  return written?.actionKey ?? ""
}

/** Approves or rejects an action by its key. */
export const decide = (
  venue: Venue,
  person: {
    readonly verb: "approve" | "reject"
    readonly action: string
    readonly as: string
    readonly body?: string
    readonly key?: string
  }
): Promise<Became> => {
  const { verb, action, ...rest } = person
  return write(venue, { path: `/v1/approvals/${action}:${verb}`, ...rest })
}

/** All operations that the caller's list shows. */
export const operationsOf = async (
  venue: Venue,
  as: string
): Promise<ReadonlyArray<Written & { readonly resource: { readonly id: string } }>> =>
  (
    await json<{ value: ReadonlyArray<Written & { resource: { id: string } }> }>(
      await send(venue, { path: "/v1/operations", as })
    )
  ).value
