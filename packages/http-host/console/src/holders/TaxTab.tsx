/** Tax statement of a holder's person for a year; opening it is an entry of the audit log, which the page says before. */
import { useEffect, useRef, useState } from "preact/hooks"
import { Loaded } from "../kit/Sheet.tsx"
import { present, zone } from "../kit/Zone.ts"
import type { Read, ReadState } from "../reads/Cache.ts"
import { type Answer, type Row, valueRead } from "../reads/Lists.ts"
import { factsOf } from "../record/Fact.ts"
import { Facts, Sheet } from "../record/Page.tsx"
import { RowsOf } from "../record/RowsOf.tsx"
import { RecordLink } from "../record/RecordLink.tsx"
import { type OpenedStatement, openedIn, yearOf } from "./Holder.ts"

export const TaxTab = ({ id }: { readonly id: string; readonly holder: Row }) => {
  // Neither in the address nor beyond this tab: an address that is opened again would be logged again.
  const [opened, open] = useState<OpenedStatement | null>(null)
  const last = useRef(0)
  const [text, set] = useState(present.value.slice(0, 4))
  const page = { holderId: id, zone: zone.value }
  const shown = openedIn(opened, page)
  // Closed for good: a zone that is chosen again must not read it again by itself.
  useEffect(() => open((before) => openedIn(before, page)), [id, zone.value])
  return (
    <>
      <Sheet title="Open a tax statement">
        <p>
          A tax statement tells what a person was paid and what left its books. Whoever opens one is
          written into the audit log, with the year and the holder.
        </p>
        <form
          class="ask"
          onSubmit={(event) => {
            event.preventDefault()
            const chosen = yearOf(text.trim())
            if (chosen !== null) {
              last.current += 1
              open({ ...page, year: chosen, nth: last.current })
            }
          }}
        >
          <label>
            Year
            <input
              type="text"
              inputMode="numeric"
              maxLength={4}
              value={text}
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
          </label>
          <button type="submit">Open, and have it logged</button>
          <span class="fine">days of {zone.value}</span>
        </form>
      </Sheet>
      {shown === null ? null : <Statement key={shown.nth} opened={shown} />}
    </>
  )
}

const paidColumns = [
  { member: "instrumentId", title: "Instrument" },
  { member: "incomeCode", title: "Income" },
  { member: "chapter" },
  { member: "exemptionCode", title: "Exemption" },
  { member: "rate", as: "figure" },
  { member: "gross", as: "figure" },
  { member: "equalisation", as: "figure" },
  { member: "withheld", as: "figure" },
  { member: "net", as: "figure" },
  { member: "repaid", as: "figure" }
] as const

/** Reads once for as long as it is drawn: a reading is logged, so that nothing makes it again by itself. */
const useOnce = (read: Read<Answer>): ReadState<Answer> => {
  const [state, set] = useState<ReadState<Answer>>({
    value: undefined,
    error: null,
    isLoading: true
  })
  useEffect(() => {
    const ended = new AbortController()
    read.load(ended.signal).then(
      (value) => set({ value, error: null, isLoading: false }),
      (error: unknown) => {
        if (!ended.signal.aborted) set({ value: undefined, error, isLoading: false })
      }
    )
    return () => ended.abort()
  }, [])
  return state
}

const Statement = ({
  opened: { holderId, year, zone: days }
}: {
  readonly opened: OpenedStatement
}) => {
  const state = useOnce(valueRead("holders.tax-statement", { holderId, year, zone: days }))
  return (
    <Loaded state={state}>
      {({ value }) => (
        <>
          <Sheet
            title={`Tax statement of ${year}`}
            about={
              value["final"] === true ? (
                <span class="state good">✓ final</span>
              ) : (
                <span class="state waits">○ not final: the year may still change</span>
              )
            }
          >
            <Facts
              facts={factsOf(value, [
                { member: "version" },
                { member: "corrects" },
                { member: "zone" }
              ])}
            />
            <p>
              One person:{" "}
              {((value["holderIds"] ?? []) as ReadonlyArray<string>).map((one) => (
                <RecordLink key={one} id={one} href={`holders/${encodeURIComponent(one)}`} />
              ))}
            </p>
          </Sheet>
          {((value["currencies"] ?? []) as ReadonlyArray<Row>).map(
            ({ currency, rows, totals, wholeUnits }) => (
              <Sheet key={String(currency)} title={`Paid in ${String(currency)}`}>
                <RowsOf
                  caption="By instrument and rate"
                  columns={paidColumns}
                  rows={rows}
                  empty="Nothing was paid."
                />
                <h3>Totals</h3>
                <Facts facts={amountsOf(totals, String(currency))} />
                <h3>In whole units of the currency</h3>
                <Facts facts={amountsOf(wholeUnits, String(currency))} />
              </Sheet>
            )
          )}
          <RowsOf
            caption="Disposals"
            columns={[
              { member: "instrumentId", title: "Instrument" },
              { member: "acquiredOn", title: "Acquired" },
              { member: "disposedOn", title: "Disposed" },
              { member: "units", as: "figure" },
              { member: "cost", as: "figure", unitOf: "currency" },
              { member: "proceeds", as: "figure", unitOf: "currency" },
              { member: "reference", title: "By", as: "reference" }
            ]}
            rows={value["disposals"]}
            empty="Nothing was disposed of."
          />
          <RowsOf
            caption="Units that left for another person"
            columns={[
              { member: "instrumentId", title: "Instrument" },
              { member: "acquiredOn", title: "Acquired" },
              { member: "movedOn", title: "Moved" },
              { member: "kind", as: "words" },
              { member: "units", as: "figure" },
              { member: "cost", as: "figure", unitOf: "currency" },
              { member: "reference", title: "By", as: "reference" }
            ]}
            rows={value["transfersOut"]}
            empty="Nothing left."
          />
        </>
      )}
    </Loaded>
  )
}

const amountsOf = (amounts: unknown, currency: string) =>
  typeof amounts !== "object" || amounts === null
    ? []
    : Object.entries(amounts).map(([member, value]) => ({
        member,
        name: null,
        value: value as unknown,
        unit: currency
      }))
