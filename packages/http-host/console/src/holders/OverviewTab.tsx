/** Overview of a holder: who it is, what is known of it, what it agreed to, and what can be done. */
import { InstantText, PartyText, State } from "../kit/Values.tsx"
import { Acts } from "../kit/Acts.tsx"
import type { Row } from "../reads/Lists.ts"
import { factsOf } from "../record/Fact.ts"
import { JudgedActs } from "../record/Judgement.tsx"
import { Facts, Moves, Sheet, VersionLine } from "../record/Page.tsx"
import { RowsOf } from "../record/RowsOf.tsx"
import { RecordLink } from "../record/RecordLink.tsx"
import { attributeColumns, holderActsOf, holderFacts, successionOf } from "./Holder.ts"

export const OverviewTab = ({ holder, id }: { readonly id: string; readonly holder: Row }) => {
  const acts = holderActsOf(String(holder["state"]))
  const succession = successionOf(holder)
  const { predecessor } = holder
  return (
    <>
      <div class="halves">
        <div>
          <Sheet title="Who it is">
            <Facts
              facts={factsOf(holder, holderFacts).filter(({ member }) => member !== "predecessor")}
            />
            {typeof predecessor === "string" ? (
              <p>
                It follows{" "}
                <RecordLink id={predecessor} href={`holders/${encodeURIComponent(predecessor)}`} />
              </p>
            ) : null}
            {succession === null ? null : (
              <p>
                <PartyText value={succession.party} /> is to follow it, from{" "}
                <InstantText at={succession.usableFrom} near />
              </p>
            )}
          </Sheet>
          <Part title="Screening" value={holder["screening"]} none="It was not screened." />
          <Part
            title="Terms of the venue"
            value={holder["terms"]}
            none="It accepted no terms yet."
          />
        </div>
        <Sheet title="What can be done">
          {acts.length === 0 ? (
            <p class="none">The holder has ended: nothing is left to do.</p>
          ) : (
            <Moves moves={holder["waitingOn"]} />
          )}
          <JudgedActs
            rows={acts.map(({ kind, says }) => ({
              kind,
              says,
              fixed: { holderId: id },
              judged: null
            }))}
            about={{ instrumentId: null, holderId: id }}
          />
        </Sheet>
      </div>
      <RowsOf
        caption="Attributes"
        columns={attributeColumns}
        rows={holder["attributes"]}
        empty="Nothing is known of it yet: attributes are set with the hash of their evidence."
      />
      <RowsOf
        caption="Tax residences"
        columns={[
          { member: "country" },
          { member: "tin", title: "TIN" },
          { member: "tinType", title: "Kind" }
        ]}
        rows={holder["taxResidences"]}
        empty="No tax residence is recorded."
      />
      <VersionLine record={holder} />
    </>
  )
}

const Part = ({
  none,
  title,
  value
}: {
  readonly title: string
  readonly value: unknown
  readonly none: string
}) => {
  if (typeof value !== "object" || value === null) {
    return (
      <Sheet title={title}>
        <p class="none">{none}</p>
      </Sheet>
    )
  }
  const { state, ...rest } = value as Row
  return (
    <Sheet title={title}>
      {typeof state === "string" ? (
        <p class="lead">
          <State value={state} />
        </p>
      ) : null}
      <Facts
        facts={factsOf(
          rest,
          Object.keys(rest).map((member) => ({ member }))
        )}
      />
    </Sheet>
  )
}

export const PowersTab = ({ holder, id }: { readonly id: string; readonly holder: Row }) => (
  <>
    <Acts kinds={["issuer-powers-consent.offer"]} fixed={{ holderId: id }} />
    <RowsOf
      caption="Consents to the issuer's powers"
      columns={[
        { member: "issuerPowersConsentId", title: "Consent" },
        { member: "instrumentId", title: "Instrument" },
        { member: "state", as: "state" },
        { member: "endsAt", as: "near" },
        { member: "cid" }
      ]}
      rows={holder["consents"]}
      empty="It consented to no power: its units move by its own wallet alone."
    />
  </>
)
