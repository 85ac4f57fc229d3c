/** A venue whose holders are restricted, and the words of its tests. */
import { Layer } from "effect"
import { expect } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

export type Row = Readonly<Record<string, unknown>>
export const order = {
  authority: "Bezirksgericht Zug, Kammer 7",
  reference: "Z 2026/123456",
  documentHash: "c0ffee".padEnd(64, "0")
}

let opened: Wallets.WholeVenue | undefined

/** The venue of the file that opened it. */
export const venue = (): Wallets.WholeVenue => {
  if (opened === undefined) throw new Error("nobody opened the venue")
  return opened
}

/** Opens a venue of two instruments, with the ports that an embedder may replace. */
export const opens = async (plugged: Layer.Layer<never> = Layer.empty): Promise<void> => {
  opened = await Wallets.open({ plugged })
  const registrar = await venue().wallet("registrar")
  for (const instrumentId of ["fund-a", "fund-b"]) {
    const terms = { instrumentId, registrar: registrar.party, oracle: registrar.party }
    await venue().write("/v1/instruments", { ...bodyOf(), ...terms })
  }
}
export const closes = () => venue().close()

let count = 0
/** A new holder; that it has not answered its invitation yet is no matter here. */
export const joins = async (holderId = `holder-${++count}`): Promise<string> => {
  const { party } = await venue().wallet(holderId)
  expect(await venue().write("/v1/holders", { holderId, party })).toMatchObject({
    state: "succeeded"
  })
  return holderId
}
/** A call of one person, with its answer. */
export const calls = async (path: string, body: unknown, role = "operator") =>
  Venue.send(venue(), {
    method: "POST",
    path,
    as: await Venue.bearer([role]),
    body: JSON.stringify(body),
    headers: { "idempotency-key": crypto.randomUUID() }
  })
export const faults = async (answer: Promise<Response>) => {
  const response = await answer
  const { errors } = await Venue.json<Venue.Problem>(response)
  return [response.status, ...(errors ?? []).map(({ pointer }) => pointer)]
}
export const pledged = { mode: "freeze", reason: "pledge" }
export const restricts = async (holderId: string, body: object = pledged, role = "compliance") => {
  const ended = await venue().write(`/v1/holders/${holderId}:restrict`, body, role)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  return ended["result"] as Row & { readonly restrictionId: string }
}
export const lifting = (id: string) => `/v1/restrictions/${id}:lift`
export const lifts = (id: string) => venue().write(lifting(id), { reason: "paid back" })
export const one = async (id: string, query = "", role = "auditor") => {
  const { status, value } = await venue().read(`/v1/restrictions/${id}${query}`, role)
  return status === 200 ? (value as Row) : status
}
export const listed = async (query: string) =>
  (await venue().read(`/v1/restrictions?${query}`)).value as ReadonlyArray<Row>
export const idsOf = async (query: string) =>
  (await listed(query)).map(({ restrictionId }) => restrictionId)
export const checkOf = (ended: Row) => {
  const problem = (ended["problem"] ?? ended) as Row
  return [String(problem["type"]).split(":").at(-1), problem["gate"], problem["check"]]
}
export const envelope = async () =>
  JSON.parse((await venue().read("/v1/restrictions")).text) as {
    readonly now: string
    readonly offset: number
  }
export const events = async (type: string, holderId: string) =>
  (await venue().read(`/v1/events?type=${type}&holderId=${holderId}`, "operator"))
    .value as ReadonlyArray<Row>
