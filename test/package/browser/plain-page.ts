/** A page's program over the plain client: it records an instrument with an approver, reads it and follows the feed. */
import * as PlainClient from "@bursar/http-host/plain-client"

const terms = {
  instrumentId: "elf",
  registrar: "registrar::1220aa",
  oracle: "oracle::1220bb",
  valuation: "accumulating",
  currency: "USD",
  unitDecimals: 6,
  holderCap: 100,
  distribution: { schedule: "none", withholding: "0.15", payoutDecimals: 2, payout: "units" },
  cutOff: { time: "16:00", days: ["monday", "tuesday"], zone: "America/New_York" },
  pricing: "historic",
  fees: { subscription: "0", redemption: "0" },
  residual: "refund"
} as const satisfies PlainClient.BodyJson<"instrument.record">

/** Writes, signs, waits, reads and follows; what came of it. */
export const visit = async (options: {
  readonly baseUrl: string
  readonly maker: string
  readonly approver: string
}) => {
  const as = (authorization: string) =>
    PlainClient.make({ baseUrl: options.baseUrl, authorization })
  const maker = as(options.maker)
  const made = await maker.write("instrument.record", terms)
  const signed = await as(options.approver).approve(made)
  const { result, state } = await maker.done(made)
  const again = await maker.write("instrument.record", terms).then(
    () => null,
    (error: unknown) => {
      if (PlainClient.isRefusal(error, "instrument.record")) return error
      throw error
    }
  )
  const reading = await maker.reading("instruments.get", { instrumentId: "elf" })
  const same = await maker.read("instruments.get", { instrumentId: "elf" }, { asOf: reading.now })
  const ids: Array<string> = []
  for await (const { instrumentId } of maker.records("instruments.list", { limit: 1 })) {
    ids.push(instrumentId)
  }
  let table = ""
  for await (const text of maker.csv("instruments.movements", { instrumentId: "elf" }))
    table += text
  let seqs = 0
  let cursor: string | null = null
  for await (const event of maker.feed({ until: "now" })) {
    seqs += Number.isSafeInteger(event.seq) ? 1 : 0
    cursor = event.cursor
  }
  return {
    awaiting: made.state,
    signed: signed.state,
    ended: [state, result.instrumentId, result.unitDecimals, result.distribution?.withholding],
    refused: [again?.slug, again?.status, again?.message.startsWith("409 already-exists: ")],
    read: [
      reading.value.instrumentId,
      reading.value.distribution?.withholding,
      JSON.stringify(same) === JSON.stringify(reading.value)
    ],
    listed: ids,
    table: table.includes(","),
    events: seqs > 0,
    cursor: cursor !== null
  }
}
