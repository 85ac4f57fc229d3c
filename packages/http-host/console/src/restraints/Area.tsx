/** Pages of restrictions of holders and of holds of instruments, with what ends each. */
import { useLocation } from "preact-iso"
import { useState } from "preact/hooks"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Loaded, Rows } from "../kit/Sheet.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { Quote, State, Text, Value } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayWrite, type Row, valueRead } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import { columnsOf } from "../record/Columns.tsx"
import { factsOf } from "../record/Fact.ts"
import { JudgedActs } from "../record/Judgement.tsx"
import { Facts, Head, mayI, Moves, Sheet, VersionLine } from "../record/Page.tsx"
import { actsOf } from "../record/StateActs.ts"
import { RecordLink } from "../record/RecordLink.tsx"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { word } from "../words/Words.ts"
import {
  findingColumns,
  holdColumns,
  holdFacts,
  inTheWay,
  modeText,
  passesAgain,
  pastedColumns,
  pastedRows,
  restrictionColumns,
  restrictionFacts
} from "./Restraint.ts"

export const RestrictionsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Restrictions" />
      <RestrictMany />
      <Filters read="restrictions.list" />
      <ListTable
        caption="Restrictions"
        read="restrictions.list"
        where={whereOf("restrictions.list", url)}
        columns={[
          idColumn({ id: "restrictionId", page: "restrictions", title: "Restriction" }),
          { name: "State", draw: ({ state }) => <InForce state={String(state)} /> },
          { name: "The holder", draw: ({ mode }) => <Text value={modeText(mode)} /> },
          {
            name: "In",
            draw: ({ instrumentId }) =>
              typeof instrumentId === "string" ? (
                <RecordLink
                  id={instrumentId}
                  href={`instruments/${encodeURIComponent(instrumentId)}`}
                />
              ) : (
                "every instrument"
              )
          },
          ...columnsOf(restrictionColumns)
        ]}
        empty="A restriction says what a holder may not do with its units. None fits the filter."
      />
    </>
  )
}

/** State of a restriction: one in force is marked as what stops, not as what is well. */
const InForce = ({ state }: { readonly state: string }) =>
  state === "active" ? <span class="state bad">! in force</span> : <State value={state} />

/** Restricts many holders by rows that are pasted: their faults stand at their line before anything is sent. */
const RestrictMany = () => {
  const [text, set] = useState("")
  const kind = "holder.restrict-batch"
  if (point.value !== null || !mayWrite(kind, Session.person.value?.roles ?? [])) return null
  const { faults, rows } = pastedRows(text)
  return (
    <>
      <Acts kinds={["holder.restrict"]} fixed={{}} />
      <details>
        <summary>Restrict many holders at once</summary>
        <Sheet title="Rows" about="all of them are restricted, or none">
          <label class="entry">
            <span>
              One row a line, cells by comma, semicolon or tab: {pastedColumns.join(", ")}. An empty
              instrument means all.
            </span>
            <textarea
              rows={6}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
          </label>
          {rows.length === 0 ? null : (
            <Rows
              caption={`${rows.length} rows read`}
              cells={[
                { name: "Line", isFigure: true, draw: ({ line }) => line },
                { name: "Holder", draw: ({ entry }) => <Text value={String(entry["holderId"])} /> },
                {
                  name: "Instrument",
                  draw: ({ entry }) =>
                    entry["instrumentId"] === undefined ? (
                      "all"
                    ) : (
                      <Text value={String(entry["instrumentId"])} />
                    )
                },
                { name: "The holder", draw: ({ entry }) => modeText(entry["mode"]) },
                {
                  name: "Reason",
                  draw: ({ entry }) => <Text value={word(String(entry["reason"]))} />
                },
                {
                  name: "Faults",
                  draw: ({ line }) => {
                    const own = faults.filter((fault) => fault.line === line)
                    return own.length === 0 ? (
                      <span class="state good">✓ none</span>
                    ) : (
                      <ul>
                        {own.map(({ detail }) => (
                          <li key={detail} class="fault">
                            {detail}
                          </li>
                        ))}
                      </ul>
                    )
                  }
                }
              ]}
              rows={rows}
              empty=""
            />
          )}
          {rows.length > 0 && faults.length === 0 ? (
            <Acts
              key={text}
              kinds={[kind]}
              fixed={{}}
              initial={{ [kind]: { entries: rows.map(({ entry }) => entry) } }}
            />
          ) : null}
        </Sheet>
      </details>
    </>
  )
}

interface IdProps {
  readonly id: string
}

export const RestrictionPage = ({ id }: IdProps) => {
  const state = useRead(valueRead("restrictions.get", { restrictionId: id }))
  return (
    <>
      <Title text={`Restriction ${id}`} />
      <Loaded state={state}>{({ value }) => <RestrictionView id={id} record={value} />}</Loaded>
    </>
  )
}

const RestrictionView = ({ id, record }: IdProps & { readonly record: Row }) => {
  const { instrumentId, liftReason, mode, order, state, waitingOn } = record
  const acts = actsOf("restriction", String(state))
  return (
    <article class="record">
      <Head id={id} states={[]}>
        <InForce state={String(state)} />
        <span class="context">
          the holder {modeText(mode)}
          {instrumentId === null ? ", in every instrument" : ""}
        </span>
      </Head>
      <div class="halves">
        <div>
          <Sheet title="Restriction">
            <Facts facts={factsOf(record, restrictionFacts)} />
          </Sheet>
          <Sheet title="Order cited">
            {typeof order === "object" && order !== null ? (
              <Facts
                facts={factsOf(order as Row, [
                  { member: "authority" },
                  { member: "reference" },
                  { member: "documentHash", name: "Hash of the document" }
                ])}
              />
            ) : (
              <p class="none">No order is cited.</p>
            )}
          </Sheet>
        </div>
        <Sheet title="What can be done">
          {acts.length === 0 ? (
            <>
              <p class="none">The restriction has ended: nothing is left to do.</p>
              {typeof liftReason === "string" ? <Quote value={liftReason} /> : null}
            </>
          ) : (
            <Moves moves={waitingOn} />
          )}
          <JudgedActs
            leads
            rows={acts.map((kind) => ({
              kind,
              fixed: { restrictionId: id },
              judged: null,
              says: `${passesAgain(mode)} Two approvers sign it.`
            }))}
            about={{ instrumentId: null, holderId: String(record["holderId"]) }}
          />
        </Sheet>
      </div>
      <VersionLine record={record} />
    </article>
  )
}

export const HoldsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Holds" />
      <Acts kinds={["instrument.pause"]} fixed={{}} />
      <Filters read="holds.list" />
      <ListTable
        caption="Holds"
        read="holds.list"
        where={whereOf("holds.list", url)}
        columns={[
          idColumn({ id: "holdId", page: "holds", title: "Hold" }),
          ...columnsOf(holdColumns)
        ]}
        empty="A hold blocks acts of an instrument. None fits the filter."
      />
    </>
  )
}

export const HoldPage = ({ id }: IdProps) => {
  const state = useRead(valueRead("holds.get", { holdId: id }))
  return (
    <>
      <Title text={`Hold ${id}`} />
      <Loaded state={state}>{({ value }) => <HoldView id={id} record={value} />}</Loaded>
    </>
  )
}

const HoldView = ({ id, record }: IdProps & { readonly record: Row }) => {
  const { cover, instrumentId, override, reason, state, waitingOn } = record
  const acts = actsOf("hold", String(state))
  return (
    <article class="record">
      <Head id={id} states={[String(state)]}>
        <span class="context">
          of{" "}
          <RecordLink
            id={String(instrumentId)}
            href={`instruments/${encodeURIComponent(String(instrumentId))}`}
          />
        </span>
      </Head>
      <div class="halves">
        <div>
          <Sheet title="Hold">
            <Facts facts={factsOf(record, holdFacts)} />
            <Quote value={String(reason)} />
          </Sheet>
          {typeof cover === "object" && cover !== null ? (
            <Sheet title="Cover of the reserve">
              <Facts
                facts={factsOf(cover as Row, [
                  { member: "reserveId", name: "Reserve" },
                  { member: "ratio", name: "Cover" },
                  { member: "minCover", name: "Least cover" }
                ])}
              />
            </Sheet>
          ) : null}
          {typeof override === "object" && override !== null ? (
            <Sheet title="Released over findings">
              <Quote value={String((override as Row)["reason"])} />
              <Value member="findings" value={(override as Row)["findings"]} />
            </Sheet>
          ) : null}
        </div>
        <Sheet title="What can be done">
          {acts.length === 0 ? (
            <p class="none">The hold is released: nothing is left to do.</p>
          ) : (
            <Moves moves={waitingOn} />
          )}
          <JudgedActs
            leads
            rows={acts.map((kind) => ({
              kind,
              fixed: { holdId: id },
              judged: null,
              says: "Lets pass what the hold blocks. Two approvers sign it; each blocking finding is cleared by then, or accepted by its id with a reason."
            }))}
            about={{ instrumentId: String(instrumentId), holderId: null }}
          />
        </Sheet>
      </div>
      {mayI("findings.list") ? <HoldFindings id={id} isOpen={state === "open"} /> : null}
      <VersionLine record={record} />
    </article>
  )
}

/** Findings behind a hold; those that a release must accept stand above them by id. */
const HoldFindings = ({ id, isOpen }: IdProps & { readonly isOpen: boolean }) => {
  const { value } = useRead(
    listRead("findings.list", {
      where: { holdId: id, state: ["open"], severity: ["blocking"] },
      limit: 100
    })
  )
  const open = value === undefined ? [] : inTheWay(value.value)
  return (
    <>
      {isOpen && open.length > 0 ? (
        <Sheet title="In the way of a release" about={<State value="blocking" />}>
          <ul class="rows">
            {open.map((findingId) => (
              <li key={findingId}>
                <RecordLink id={findingId} href={`findings/${encodeURIComponent(findingId)}`} />
              </li>
            ))}
          </ul>
          {value?.next === null ? null : (
            <p class="fine">More are in the way than the first {open.length}, which stand here.</p>
          )}
        </Sheet>
      ) : null}
      <ListTable
        caption="Findings"
        read="findings.list"
        where={{ holdId: id }}
        columns={[
          idColumn({ id: "findingId", page: "findings", title: "Finding" }),
          ...columnsOf(findingColumns)
        ]}
        empty="No finding is behind this hold."
      />
    </>
  )
}
