/** Page of a record of the table: its head, whose move it is, its figures with their basis, its lists. */
import { Acts } from "../kit/Acts.tsx"
import { basisOf, BasisView } from "../kit/Basis.tsx"
import { Aged, Failure, Loading } from "../kit/Outcome.tsx"
import { idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import { Copy, State, Term, Terms, Value } from "../kit/Values.tsx"
import { Waiting } from "../kit/Waiting.tsx"
import { useRead } from "../reads/Cache.ts"
import { mayRead, type Row, valueRead } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { label } from "../words/Words.ts"
import type { RecordRow } from "./Pages.ts"

/** Members that the page shows in places of their own. */
const placed = new Set(["waitingOn", "basis", "version", "createdAt", "updatedAt"])

/** Members with their basis beside them. */
export const Members = ({
  members,
  record
}: {
  readonly record: Row
  readonly members: ReadonlyArray<string>
}) => (
  <Terms>
    {members.map((member) => {
      const basis = basisOf(record["basis"], member)
      return (
        <Term key={member} name={label(member)}>
          <Value member={member} value={record[member]} />
          {basis === undefined ? null : <BasisView basis={basis} />}
        </Term>
      )
    })}
  </Terms>
)

export const RecordPage = ({ id, row }: { readonly row: RecordRow; readonly id: string }) => {
  const { error, value } = useRead(valueRead(row.read, { [row.id]: id }))
  const roles = Session.person.value?.roles ?? []
  return (
    <>
      <Title text={`${row.title} ${id}`} />
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      <Aged error={error} now={value?.now} />
      {value === undefined ? (
        error === null || error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <Shown id={id} row={row} record={recordOf(row, value.value)} />
      )}
      {value === undefined
        ? null
        : row.lists
            .filter(({ read }) => mayRead(read, roles))
            .map(({ columns, empty, filter, idOf, page, read, title }) => (
              <ListTable
                key={read + title}
                caption={title}
                read={read}
                prefix={`${title.toLowerCase().replaceAll(" ", "-")}-`}
                where={{ [filter ?? row.id]: id }}
                columns={[
                  ...(idOf === undefined ? [] : [idColumn({ id: idOf, page, title: label(idOf) })]),
                  ...columns.map(memberColumn)
                ]}
                empty={empty}
              />
            ))}
    </>
  )
}

const recordOf = ({ within }: RecordRow, value: Row): Row =>
  within === undefined ? value : (value[within] as Row)

const Shown = ({
  id,
  record,
  row
}: {
  readonly id: string
  readonly row: RecordRow
  readonly record: Row
}) => {
  const head = row.head.filter((member) => Object.hasOwn(record, member))
  const rest = Object.keys(record).filter(
    (member) => !head.includes(member) && !placed.has(member) && member !== row.id
  )
  const { createdAt, state, updatedAt, version, waitingOn } = record
  return (
    <article class="record">
      <p class="lead">
        {typeof state === "string" ? <State value={state} /> : null}
        <span class="id">
          <bdi>{id}</bdi>
          <Copy text={id} />
        </span>
      </p>
      {waitingOn === undefined ? null : (
        <section class="move">
          <h2>Whose move</h2>
          <Waiting moves={waitingOn} />
        </section>
      )}
      <Acts kinds={row.acts} fixed={{ [row.id]: id, ...idsOf(record) }} />
      <Members record={record} members={head.filter((member) => member !== "state")} />
      {rest.length === 0 ? null : (
        <details class="rest" open={rest.length <= 12}>
          <summary>Everything else</summary>
          <Members record={record} members={rest} />
        </details>
      )}
      {version === undefined ? null : (
        <p class="fine">
          Version {String(version)}, made <Value member="createdAt" value={createdAt} />, changed{" "}
          <Value member="updatedAt" value={updatedAt} />
        </p>
      )}
    </article>
  )
}

/** Ids in the path of a record's writes, besides its own: those of a reserve's records. */
const idsOf = (record: Row): Readonly<Record<string, unknown>> =>
  typeof record["reserveId"] === "string" ? { reserveId: record["reserveId"] } : {}
