/** A table over a list read: the service's order, its filters as toggles in the address, pages of fifty. */
import { useLocation } from "preact-iso"
import type { ComponentChildren } from "preact"
import { useRef, useState } from "preact/hooks"
import table from "virtual:interface"
import { type ReadState, useRead } from "../reads/Cache.ts"
import { listRead, type ListPage, type Row, type Where } from "../reads/Lists.ts"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { label, word } from "../words/Words.ts"
import { rowKeys } from "./RowKeys.ts"
import { Aged, Failure, Loading } from "./Outcome.tsx"
import { Waiting } from "./Waiting.tsx"
import { Deadline, IdLink, State, Text, Value } from "./Values.tsx"

export interface Column {
  readonly name: string
  readonly isFigure?: boolean
  readonly draw: (row: Row) => ComponentChildren
}

/** Members that hold amounts, counts and rates, which stand to the right. */
const figureMember =
  /^(?:amount|units|price|swungPrice|quantity|cash|proceeds|gross|fundNet|orders|fee|net|withheld|entitlement|rate|carryOut|carryIn|expected|actual|difference|unexplained|explained|balanceAfter|totalAmount|lineCount|holderCount|holderCap|uses|maxUses|usedNet|maxNet|required|counted|mintable|coverBefore|coverAfter|open|oldestDays|ageDays|policyVersion|seq|offset|status|notComparedCount|iterations)$/u

/** Column of a member, drawn by what its name and its value say. */
export const memberColumn = (member: string): Column => ({
  name: member === "waitingOn" ? "Whose move" : label(member),
  isFigure: figureMember.test(member),
  draw: (row) => {
    const value = row[member]
    if (member === "waitingOn") return <Waiting moves={value} />
    if (member === "kind" || member === "check" || member === "mode" || member === "source") {
      return typeof value === "string" ? (
        <Text value={word(value)} />
      ) : (
        <Value member={member} value={value} />
      )
    }
    if (member === "verdict" || member === "severity" || member === "cover") {
      return typeof value === "string" ? (
        <State value={value} />
      ) : (
        <Value member={member} value={value} />
      )
    }
    if (member === "resource") {
      const { id, kind } = value as { readonly kind: string; readonly id: string }
      return (
        <span>
          {word(kind)} <Text value={id} />
        </span>
      )
    }
    if (
      member === "settleBy" ||
      member === "expiresAt" ||
      member === "deadline" ||
      member === "cutOffAt"
    ) {
      return value === null || value === undefined ? (
        <Value member={member} value={null} />
      ) : (
        <Deadline at={String(value)} />
      )
    }
    return <Value member={member} value={value} />
  }
})

/** Column that opens the page of the record. */
export const idColumn = ({
  id,
  page,
  title
}: {
  readonly id: string
  readonly page: string | undefined
  readonly title: string
}): Column => ({
  name: title,
  draw: (row) => {
    const value = String(row[id] ?? "")
    return (
      <IdLink
        id={value}
        href={page === undefined ? null : `${page}/${encodeURIComponent(value)}`}
      />
    )
  }
})

const hashOf = (rows: ReadonlyArray<Row>): string =>
  JSON.stringify(rows, (_, value: unknown) => value)

interface Left {
  readonly currentTarget: Element
}

/** Checks whether a form is open over one of the rows: they stay under it, wherever the focus is. */
const hasDialog = (rows: Element): boolean => rows.querySelector("dialog[open]") !== null

/**
 * Rows that stay while a pointer or the focus is over them: a newer answer waits behind a bar until it is
 * let in.
 */
const useHeld = (state: ReadState<ListPage>, key: string) => {
  const [isTouched, touch] = useState(false)
  const shown = useRef<ListPage | undefined>(undefined)
  const shownKey = useRef(key)
  const { value } = state
  // Rows of another filter, page or point are no older state of these.
  if (shownKey.current !== key) {
    shownKey.current = key
    shown.current = undefined
  }
  if (value !== undefined) {
    const before = shown.current
    const isSame = before !== undefined && hashOf(before.value) === hashOf(value.value)
    if (!isTouched || before === undefined || isSame) shown.current = value
  }
  const page = shown.current
  const waiting =
    page === undefined || value === undefined || page === value
      ? 0
      : value.value.filter((row) => !page.value.some((other) => hashOf([other]) === hashOf([row])))
          .length
  return {
    page,
    waiting,
    isHeld: page !== undefined && value !== undefined && page !== value,
    letIn: () => {
      shown.current = value
      touch(false)
    },
    touched: {
      onPointerEnter: () => touch(true),
      onPointerLeave: ({ currentTarget }: Left) => touch(hasDialog(currentTarget)),
      onFocusCapture: () => touch(true),
      onBlurCapture: ({ currentTarget }: Left) => touch(hasDialog(currentTarget))
    }
  }
}

export interface ListTableProps {
  readonly caption: string
  readonly read: string
  readonly where: Where
  readonly columns: ReadonlyArray<Column>
  readonly empty: string
  /** Names of the address's parameters, where a page has several tables. */
  readonly prefix?: string
  readonly over?: (page: ListPage) => ComponentChildren
}

export const ListTable = ({
  caption,
  columns,
  empty,
  over,
  prefix = "",
  read,
  where
}: ListTableProps) => {
  const { route, url } = useLocation()
  const cursorName = `${prefix}after`
  const after = parametersOf(url).get(cursorName) ?? undefined
  const list = listRead(read, { where, after })
  const state = useRead(list)
  const { isHeld, letIn, page, touched, waiting } = useHeld(state, JSON.stringify(list.key))
  const order = table.reads[read]?.order ?? null
  const keys = rowKeys(read, page?.value ?? [])
  const turn = (cursor: string | null) => route(sameWith(url, { [cursorName]: cursor }))
  return (
    <section class="list" aria-busy={state.isLoading}>
      {page !== undefined && over !== undefined ? over(page) : null}
      {state.error !== null && state.error !== undefined ? <Failure error={state.error} /> : null}
      <Aged error={state.error} now={page?.now} />
      {page === undefined ? (
        state.isLoading ? (
          <Loading />
        ) : null
      ) : (
        <>
          {isHeld ? (
            <button type="button" class="held" onClick={letIn}>
              {waiting > 0 ? `${waiting} new` : "Changed"}: show
            </button>
          ) : null}
          <div class="scroll" {...touched}>
            <table>
              <caption>
                {caption}
                {order === null ? null : <span class="order"> {order}</span>}
              </caption>
              <thead hidden={page.value.length === 0}>
                <tr>
                  {columns.map(({ isFigure, name }) => (
                    <th key={name} scope="col" class={isFigure === true ? "right" : undefined}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {page.value.map((row, at) => (
                  <tr key={keys[at]}>
                    {columns.map(({ draw, isFigure, name }) => (
                      <td
                        key={name}
                        data-name={name}
                        class={isFigure === true ? "right" : undefined}
                      >
                        {draw(row)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
            {page.value.length === 0 ? <p class="nothing">{empty}</p> : null}
          </div>
          <nav class="turn" aria-label={`Pages of ${caption}`}>
            {after === undefined ? null : (
              <button type="button" onClick={() => turn(null)}>
                First page
              </button>
            )}
            {page.next === null ? null : (
              <button type="button" onClick={() => turn(page.next)}>
                Next
              </button>
            )}
          </nav>
        </>
      )}
    </section>
  )
}
