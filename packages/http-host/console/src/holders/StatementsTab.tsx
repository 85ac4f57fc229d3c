/** Statements of a holder, one a month: opening, movements, closing, worth and payments of each instrument. */
import { useLocation } from "preact-iso"
import { Amount, Loaded, Rows } from "../kit/Sheet.tsx"
import { InstantText } from "../kit/Values.tsx"
import { zone } from "../kit/Zone.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, type Row } from "../reads/Lists.ts"
import { Sheet } from "../record/Page.tsx"
import { RowsOf } from "../record/RowsOf.tsx"
import { RecordLink } from "../record/RecordLink.tsx"
import { parametersOf, sameWith } from "../shell/Links.ts"

/** Months of a page. */
const monthsShown = 12

export const StatementsTab = ({ id }: { readonly id: string; readonly holder: Row }) => {
  const { route, url } = useLocation()
  const after = parametersOf(url).get("after") ?? undefined
  const state = useRead({
    ...listRead("holders.statements", {
      where: { holderId: id, zone: zone.value },
      after,
      limit: monthsShown
    }),
    kinds: ["*"]
  })
  return (
    <>
      <p class="fine">Months of {zone.value}; the switch above chooses the zone.</p>
      <Loaded state={state}>
        {({ next, value }) => (
          <>
            {value.length === 0 ? <p class="none">No month has a statement yet.</p> : null}
            {value.map((statement) => (
              <Month key={String(statement["month"])} statement={statement} />
            ))}
            <nav class="turn" aria-label="Pages of statements">
              {after === undefined ? null : (
                <button type="button" onClick={() => route(sameWith(url, { after: null }))}>
                  First page
                </button>
              )}
              {next === null ? null : (
                <button type="button" onClick={() => route(sameWith(url, { after: next }))}>
                  Next
                </button>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </>
  )
}

const Month = ({ statement }: { readonly statement: Row }) => {
  const instruments = (statement["instruments"] ?? []) as ReadonlyArray<Row>
  return (
    <Sheet
      title={String(statement["month"])}
      about={
        statement["final"] === true ? (
          <span class="state good">✓ final</span>
        ) : (
          <span class="state waits">○ not final: the month may still change</span>
        )
      }
    >
      <Rows<Row>
        caption="Instruments"
        cells={[
          {
            name: "Instrument",
            draw: ({ instrumentId }) => (
              <RecordLink
                id={String(instrumentId)}
                href={`instruments/${encodeURIComponent(String(instrumentId))}`}
              />
            )
          },
          ...(["opening", "closing"] as const).map((member) => ({
            name: member === "opening" ? "Opening" : "Closing",
            isFigure: true,
            draw: (row: Row) => <Amount value={row[member]} unit="units" />
          })),
          {
            name: "Price",
            isFigure: true,
            draw: ({ price, priceAt }) => (
              <>
                <Amount value={price} />
                {typeof priceAt === "string" ? (
                  <div class="fine">
                    <InstantText at={priceAt} near />
                  </div>
                ) : null}
              </>
            )
          },
          {
            name: "Worth",
            isFigure: true,
            draw: ({ currency, value }) => (
              <Amount value={value} unit={typeof currency === "string" ? currency : undefined} />
            )
          }
        ]}
        rows={instruments}
        empty="It held nothing in this month."
      />
      {instruments.map((instrument) => (
        <details key={String(instrument["instrumentId"])}>
          <summary>
            {String(instrument["movementCount"])} movements of {String(instrument["instrumentId"])}
          </summary>
          <RowsOf
            caption="Movements"
            columns={[
              { member: "at", as: "near" },
              { member: "kind", as: "words" },
              { member: "units", as: "figure" },
              { member: "balanceAfter", title: "Held after", as: "figure" },
              { member: "reference", title: "By", as: "reference" }
            ]}
            rows={instrument["movements"]}
            empty="Nothing moved."
          />
          <RowsOf
            caption="Payments"
            columns={[
              { member: "distributionId", title: "Distribution" },
              { member: "gross", as: "figure" },
              { member: "equalisation", as: "figure" },
              { member: "withheld", as: "figure" },
              { member: "net", as: "figure" },
              { member: "paidOn", title: "Paid on" },
              { member: "payoutUnits", title: "In units", as: "figure" }
            ]}
            rows={instrument["paid"]}
            empty="Nothing was paid."
          />
        </details>
      ))}
    </Sheet>
  )
}
