/**
 * Reports of the demo's story: the holder's statement by month, and the tax statement of the person
 * that the holder and its successor are.
 */
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import { holderId, people, successorId } from "#demo/People.ts"
import type { Walk } from "./steps.ts"
import * as VenueClient from "./VenueClient.ts"

/** Zone in which the fund's months and years are counted. */
const zone = "America/New_York"

const plain = Decimal.formatPlain

/** Prints the statements and returns the checks of their figures. */
export const reports = async (
  { desks, instrument, tell }: Walk,
  { left }: { readonly left: Decimal.Decimal }
): Promise<Readonly<Record<string, boolean>>> => {
  const monthsOf = async (id: string) => {
    const { json } = await desks.auditor.get(`/v1/holders/${id}/statements?zone=${zone}`)
    return VenueClient.list(json, "value").flatMap((row) =>
      VenueClient.list(row, "instruments")
        .filter((row) => VenueClient.text(row, "instrumentId") === instrument.instrumentId)
        .map((statement) => monthOf(VenueClient.text(row, "month"), statement))
    )
  }
  const [mine, next] = [await monthsOf(holderId), await monthsOf(successorId)]
  tell(`${people.investor.name}'s statement, by the months of ${zone}:`)
  for (const { month, opening, movements, closing } of mine) {
    tell(`  ${month}  opens at ${plain(opening)}`)
    for (const { kind, units } of movements) tell(`    ${kind}  ${plain(units)}`)
    tell(`  ${month}  closes at ${plain(closing)}`)
  }
  const [year = ""] = (mine.at(-1)?.month ?? "").split("-")
  const taxOf = async (id: string) =>
    VenueClient.member(
      (await desks.auditor.get(`/v1/holders/${id}/tax-statements/${year}?zone=${zone}`)).json,
      "value"
    )
  const tax = await taxOf(holderId)
  const persons = VenueClient.list(tax, "holderIds").map(String)
  const disposals = VenueClient.list(tax, "disposals")
  tell(`the tax statement of ${year}, of ${persons.join(" and ")}, one person:`)
  for (const disposal of disposals) {
    const figures = ["units", "cost", "proceeds"].map((name) =>
      plain(VenueClient.decimal(disposal, name))
    )
    tell(
      `  ${VenueClient.text(disposal, "disposedOn")}  ${figures[0]} units, which cost ${figures[1]}, for ${figures[2]} ${VenueClient.text(disposal, "currency")}`
    )
  }
  const sumOf = (all: ReadonlyArray<PlainJson.Plain>, name: string) =>
    Decimal.sum(all.map((row) => VenueClient.decimal(row, name)))
  const redeemed = VenueClient.list((await desks.auditor.get("/v1/redemptions")).json, "value")
  return {
    "every month's movements add up to its closing": [...mine, ...next].every(
      ({ opening, movements, closing }) =>
        Decimal.add(opening, Decimal.sum(movements.map(({ units }) => units))) === closing
    ),
    "the holder's statement closes at nothing, and its successor's at what was recovered":
      mine.at(-1)?.closing === Decimal.zero && next.at(-1)?.closing === left,
    "the successor is answered the same tax statement":
      JSON.stringify(await taxOf(successorId)) === JSON.stringify(tax) &&
      persons.join() === [holderId, successorId].join(),
    "what was disposed of brought what its redemptions paid":
      sumOf(disposals, "proceeds") === sumOf(redeemed, "proceeds") &&
      sumOf(disposals, "units") === sumOf(redeemed, "units")
  }
}

const monthOf = (month: string, statement: PlainJson.Plain) => ({
  month,
  opening: VenueClient.decimal(statement, "opening"),
  closing: VenueClient.decimal(statement, "closing"),
  movements: VenueClient.list(statement, "movements").map((movement) => ({
    kind: VenueClient.text(movement, "kind"),
    units: VenueClient.decimal(movement, "units")
  }))
})
