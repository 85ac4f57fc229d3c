/**
 * Reports of the demo's story: the holder's statement by month, and the tax statement of the person
 * that the holder and its successor are.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import * as Desk from "./Desk.ts"
import { holderId, people, successorId } from "#demo/People.ts"
import type { Walk } from "./steps.ts"
import * as steps from "./steps.ts"

/** Zone in which the fund's months and years are counted. */
const zone = "America/New_York"

const plain = Decimal.formatPlain

/** Prints the statements and returns the checks of their figures. */
export const reports = async (
  { desks, instrument, tell }: Walk,
  { left }: { readonly left: Decimal.Decimal }
): Promise<Readonly<Record<string, boolean>>> => {
  const monthsOf = async (holderId: string) => {
    const months = desks.auditor.records("holders.statements", { where: { holderId, zone } })
    return (await Desk.all(months)).flatMap(({ instruments, month }) =>
      instruments
        .filter(({ instrumentId }) => instrumentId === instrument.instrumentId)
        .map((statement) => monthOf(month, statement))
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
  const taxOf = (holderId: string) =>
    desks.auditor.read("holders.tax-statement", { holderId, year, zone })
  const tax = await taxOf(holderId)
  const { disposals, holderIds: persons } = tax
  tell(`the tax statement of ${year}, of ${persons.join(" and ")}, one person:`)
  for (const { cost, currency, disposedOn, proceeds, units } of disposals) {
    tell(
      `  ${disposedOn}  ${steps.plain(units)} units, which cost ${steps.plain(cost)}, for ${steps.plain(proceeds)} ${currency}`
    )
  }
  const sumOf = (figures: ReadonlyArray<string | null>) =>
    Decimal.sum(figures.map((figure) => Decimal.of(steps.plain(figure))))
  const redeemed = await Desk.all(desks.auditor.records("redemptions.list"))
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
      sumOf(disposals.map(({ proceeds }) => proceeds)) ===
        sumOf(redeemed.map(({ proceeds }) => proceeds)) &&
      sumOf(disposals.map(({ units }) => units)) === sumOf(redeemed.map(({ units }) => units))
  }
}

type Statement = PlainClient.RowJson<"holders.statements">["instruments"][number]

const monthOf = (month: string, { closing, movements, opening }: Statement) => ({
  month,
  opening: Decimal.of(opening),
  closing: Decimal.of(closing),
  movements: movements.map(({ kind, units }) => ({ kind, units: Decimal.of(units) }))
})
