/** Tabs of an instrument that are lists of its records, and its agreements. */
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { State } from "../kit/Values.tsx"
import type { Row } from "../reads/Lists.ts"
import type { ColumnRow } from "../record/Columns.ts"
import { columnsOf } from "../record/Columns.tsx"
import { CsvButton } from "../record/Csv.tsx"
import { factsOf } from "../record/Fact.ts"
import { Facts, mayI, Moves, Sheet } from "../record/Page.tsx"
import { calendarColumns, movementColumns, priceColumns } from "./Instrument.ts"

interface TabProps {
  readonly id: string
  readonly instrument: Row
}

export const PricesTab = ({ id, instrument }: TabProps) => (
  <>
    <Sheet title="NAV feed">
      <p class="lead">
        <State value={String(instrument["navFeedState"])} />
      </p>
      <Facts
        facts={factsOf(instrument, [
          { member: "navFeed", name: "Source" },
          { member: "navGuardrail", name: "Guardrail" }
        ])}
      />
    </Sheet>
    <ListTable
      caption="Prices"
      read="instruments.prices"
      where={{ instrumentId: id }}
      columns={columnsOf(priceColumns)}
      empty="No price was published: the oracle publishes from its wallet."
    />
  </>
)

export const MovementsTab = ({ id, url }: { readonly id: string; readonly url: string }) => {
  const { kind } = whereOf("instruments.movements", url)
  return (
    <>
      <div class="acts">
        <CsvButton
          read="instruments.movements"
          params={{ instrumentId: id }}
          file={`movements-${id}`}
        />
      </div>
      <Filters read="instruments.movements" hidden={["from", "to"]} />
      <ListTable
        caption="Movements"
        read="instruments.movements"
        where={{ instrumentId: id, ...(kind === undefined ? {} : { kind }) }}
        columns={columnsOf(movementColumns)}
        empty="No unit of this filter has moved."
      />
    </>
  )
}

const agreements = [
  {
    member: "primaryMarket",
    title: "Primary market",
    act: "primary-market.propose",
    says: "The fund and the registrar agree that orders are settled in one transaction.",
    rows: [
      { member: "marketId" },
      { member: "fund" },
      { member: "paymentAsset" },
      { member: "from" },
      { member: "until" },
      { member: "cid" }
    ]
  },
  {
    member: "admissionConsent",
    title: "Admission consent",
    act: "admission-consent.propose",
    says: "The registrar consents that this venue admits holders.",
    rows: []
  },
  {
    member: "issuerPowersAgreement",
    title: "Issuer's powers",
    act: "issuer-powers-agreement.propose",
    says: "Issuer and registrar agree which powers there are over units of others.",
    rows: [
      { member: "issuer" },
      { member: "registrar" },
      { member: "powers" },
      { member: "consentRevocable", name: "Consents may be revoked" },
      { member: "from" },
      { member: "until" },
      { member: "cid" }
    ]
  }
] as const

export const MarketTab = ({ id, instrument }: TabProps) => (
  <>
    <div class="halves">
      {agreements.map(({ act, member, rows, says, title }) => {
        const held = instrument[member]
        const agreement = typeof held === "object" && held !== null ? (held as Row) : null
        return (
          <Sheet key={member} title={title}>
            <p class="fine">{says}</p>
            {agreement === null ? (
              <p class="none">There is none.</p>
            ) : (
              <>
                <p class="lead">
                  <State value={String(agreement["state"])} />
                </p>
                <Moves moves={agreement["waitingOn"]} />
                <Facts facts={factsOf(agreement, rows)} />
              </>
            )}
            <Acts kinds={[act]} fixed={{ instrumentId: id }} />
          </Sheet>
        )
      })}
      <Sheet title="Provision settlement">
        <p class="fine">The fund agrees that what it provides is settled with the orders.</p>
        <Acts kinds={["provision-settlement.propose"]} fixed={{ instrumentId: id }} />
      </Sheet>
    </div>
    <ListTable
      caption="Proposals that wait for a party"
      read="proposals.list"
      prefix="proposals-"
      where={{ instrumentId: id }}
      columns={columnsOf([
        { member: "kind", as: "words" },
        { member: "resource", title: "Of", as: "reference" },
        { member: "from" },
        { member: "awaiting" },
        { member: "at", title: "Since", as: "near" },
        { member: "expiresAt", as: "deadline" }
      ])}
      empty="No proposal of this instrument waits on the ledger."
    />
  </>
)

interface ListedProps {
  readonly id: string
  readonly caption: string
  readonly read: string
  readonly idOf: string
  readonly page: string
  readonly columns: ReadonlyArray<ColumnRow>
  readonly empty: string
}

const Listed = ({ caption, columns, empty, id, idOf, page, read }: ListedProps) => (
  <ListTable
    caption={caption}
    read={read}
    where={{ instrumentId: id }}
    columns={[idColumn({ id: idOf, page, title: "Id" }), ...columnsOf(columns)]}
    empty={empty}
  />
)

export const OrdersTab = ({ id }: TabProps) => (
  <ListTable
    caption="Open orders"
    read="open-orders.list"
    where={{ instrumentId: id }}
    columns={columnsOf([
      { member: "kind", as: "words" },
      { member: "orderId" },
      { member: "state", as: "state" },
      { member: "holderId", title: "Holder" },
      { member: "quantity", as: "figure" },
      { member: "cash", as: "figure", unitOf: "currency" },
      { member: "waitingOn", as: "moves" }
    ])}
    empty="No order of this instrument waits for anything."
  />
)

export const HoldsTab = ({ id }: TabProps) => (
  <>
    <Acts kinds={["instrument.pause"]} fixed={{ instrumentId: id }} />
    <Listed
      id={id}
      caption="Holds"
      read="holds.list"
      idOf="holdId"
      page="holds"
      columns={[
        { member: "state", as: "state" },
        { member: "source", as: "words" },
        { member: "blocks" },
        { member: "reason" },
        { member: "openedAt", as: "near" },
        { member: "until", title: "Ends by itself", as: "near" }
      ]}
      empty="Nothing was held."
    />
  </>
)

export const DistributionsTab = ({ id }: TabProps) => (
  <>
    {mayI("distribution-calendar.list") ? (
      <ListTable
        caption="Calendar"
        read="distribution-calendar.list"
        prefix="calendar-"
        where={{ instrumentId: id }}
        columns={columnsOf(calendarColumns)}
        empty="No month is in sight: the instrument does not distribute."
      />
    ) : null}
    <Listed
      id={id}
      caption="Distributions"
      read="distributions.list"
      idOf="distributionId"
      page="distributions"
      columns={[
        { member: "month" },
        { member: "state", as: "state" },
        { member: "rollState", title: "Roll", as: "state" },
        { member: "recordDate" },
        { member: "paymentDate" }
      ]}
      empty="No distribution was executed."
    />
  </>
)

export const FindingsTab = ({ id }: TabProps) => (
  <Listed
    id={id}
    caption="Findings"
    read="findings.list"
    idOf="findingId"
    page="findings"
    columns={[
      { member: "check", as: "words" },
      { member: "severity", as: "state" },
      { member: "state", as: "state" },
      { member: "difference", as: "figure" },
      { member: "unexplained", as: "figure", unitOf: "unit" },
      { member: "ageDays", title: "Days", as: "figure" }
    ]}
    empty="No difference was found."
  />
)

export const ReserveTab = ({ id }: TabProps) => (
  <Listed
    id={id}
    caption="Reserves"
    read="reserves.list"
    idOf="reserveId"
    page="reserves"
    columns={[
      { member: "state", as: "state" },
      { member: "cover", as: "state" },
      { member: "required", as: "figure" },
      { member: "counted", as: "figure" },
      { member: "mintable", as: "figure" }
    ]}
    empty="No reserve covers this instrument."
  />
)
