/** Parts of a record's page: its head, its sheets of facts. */
import type { ComponentChildren } from "preact"
import { basisOf, BasisView } from "../kit/Basis.tsx"
import { Copy, Figure, InstantText, pageOfId, State, Term, Terms, Value } from "../kit/Values.tsx"
import { Waiting } from "../kit/Waiting.tsx"
import { mayRead, type Row } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { isDecimal } from "../words/Figures.ts"
import { label } from "../words/Words.ts"
import "../look/records.css"
import type { Fact } from "./Fact.ts"
import { RecordLink } from "./RecordLink.tsx"

/** Whether the person who is signed in may call a read. */
export const mayI = (read: string): boolean => mayRead(read, Session.person.value?.roles ?? [])

/** State, id and one line of context over a record. */
export const Head = ({
  children,
  id,
  states
}: {
  readonly id: string
  readonly states: ReadonlyArray<string>
  readonly children?: ComponentChildren
}) => (
  <div class="record-head">
    {states.map((state) => (
      <State key={state} value={state} />
    ))}
    <span class="id">
      <bdi>{id}</bdi>
      <Copy text={id} />
    </span>
    {children}
  </div>
)

/** A titled part of a page. */
export const Sheet = ({
  about,
  children,
  title
}: {
  readonly title: string
  readonly about?: ComponentChildren
  readonly children: ComponentChildren
}) => (
  <section class="sheet">
    <div class="sheet-head">
      <h2>{title}</h2>
      {about === undefined ? null : <div class="fine">{about}</div>}
    </div>
    {children}
  </section>
)

/** A member of any record; one that names another record leads to its page where the person may open it. */
const FactValue = ({ member, value }: { readonly member: string; readonly value: unknown }) => {
  const page = typeof value === "string" ? pageOfId(member, value) : null
  return page === null ? (
    <Value member={member} value={value} />
  ) : (
    <RecordLink id={String(value)} href={page} />
  )
}

/** Facts with their units, and their basis where the record has one. */
export const Facts = ({
  basis,
  facts
}: {
  readonly facts: ReadonlyArray<Fact>
  readonly basis?: unknown
}) => (
  <Terms>
    {facts.map(({ member, name, unit, value }) => {
      const found = basisOf(basis, member)
      return (
        <Term key={member} name={name ?? label(member)}>
          {typeof value === "string" && unit !== null && isDecimal(value) ? (
            <Figure value={value} unit={unit} />
          ) : (
            <FactValue member={member.slice(member.lastIndexOf("/") + 1)} value={value} />
          )}
          {found === undefined ? null : <BasisView basis={found} />}
        </Term>
      )
    })}
  </Terms>
)

/** Whose move it is, at the head of what can be done. */
export const Moves = ({ moves }: { readonly moves: unknown }) => (
  <div class="whose">
    <h3>Whose move</h3>
    <Waiting moves={moves} />
  </div>
)

/** Version of a record, and when it was made and changed. */
export const VersionLine = ({ record }: { readonly record: Row }) =>
  typeof record["createdAt"] === "string" && typeof record["updatedAt"] === "string" ? (
    <p class="fine">
      Version {String(record["version"])}, made <InstantText at={record["createdAt"]} />, changed{" "}
      <InstantText at={record["updatedAt"]} />
    </p>
  ) : null
