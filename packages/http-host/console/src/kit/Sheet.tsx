/** Parts of pages of records: the head, a table of computed rows, tabs, a figure that was computed again. */
import { useLocation } from "preact-iso"
import type { ComponentChildren } from "preact"
import type { ReadState } from "../reads/Cache.ts"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { pageOfResource } from "../words/Resources.ts"
import { word } from "../words/Words.ts"
import { Aged, Failure, Loading } from "./Outcome.tsx"
import { Copy, Figure, IdLink, State } from "./Values.tsx"
import { Waiting } from "./Waiting.tsx"

/** What a read shows: the old answer stays while a newer one is loaded. */
export const Loaded = <A,>({
  children,
  state: { error, isLoading, value }
}: {
  readonly state: ReadState<A>
  readonly children: (value: A) => ComponentChildren
}) => (
  <>
    {error !== null && error !== undefined ? <Failure error={error} /> : null}
    <Aged error={error} now={(value as { readonly now?: string } | undefined)?.now} />
    {value === undefined ? isLoading ? <Loading /> : null : children(value)}
  </>
)

/** State, severity or verdict of a record, its id whole, and what else stands in its first line. */
export const Lead = ({
  children,
  id,
  states
}: {
  readonly id: string
  readonly states: ReadonlyArray<unknown>
  readonly children?: ComponentChildren
}) => (
  <p class="lead">
    {states.map((state) =>
      typeof state === "string" ? <State key={state} value={state} /> : null
    )}
    <span class="id">
      <bdi>{id}</bdi>
      <Copy text={id} />
    </span>
    {children}
  </p>
)

/** Whose move it is; a record that waits for nobody has no box. */
export const Move = ({ moves }: { readonly moves: unknown }) =>
  Array.isArray(moves) && moves.length > 0 ? (
    <section class="move">
      <h2>Whose move</h2>
      <Waiting moves={moves} />
    </section>
  ) : null

export interface Cell {
  readonly name: string
  readonly isFigure?: boolean
}

export interface RowsProps<A> {
  readonly caption: string
  readonly order?: string
  readonly cells: ReadonlyArray<Cell & { readonly draw: (row: A) => ComponentChildren }>
  readonly rows: ReadonlyArray<A>
  readonly empty: string
  /** Row that stands under a line: the total of those above it. */
  readonly foot?: ReadonlyArray<ComponentChildren>
}

/** A table of rows that the page has already. */
export const Rows = <A,>({ caption, cells, empty, foot, order, rows }: RowsProps<A>) => (
  <section class="list">
    <div class="scroll">
      <table>
        <caption>
          {caption}
          {order === undefined ? null : <span class="order"> {order}</span>}
        </caption>
        <thead hidden={rows.length === 0}>
          <tr>
            {cells.map(({ isFigure, name }) => (
              <th key={name} scope="col" class={isFigure === true ? "right" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {cells.map(({ draw, isFigure, name }) => (
                <td key={name} data-name={name} class={isFigure === true ? "right" : undefined}>
                  {draw(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {foot === undefined || rows.length === 0 ? null : (
          <tfoot>
            <tr>
              {foot.map((child, at) => (
                <td
                  key={at}
                  data-name={cells[at]?.name}
                  class={cells[at]?.isFigure === true ? "right" : undefined}
                >
                  {child}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {rows.length === 0 ? <p class="nothing">{empty}</p> : null}
    </div>
  </section>
)

/** A record that another names, by the word of its kind and its id. */
export const ResourceLink = ({ id, kind }: { readonly kind: string; readonly id: string }) => (
  <span>
    {word(kind)} <IdLink id={id} href={pageOfResource(kind, id)} />
  </span>
)

/** A figure or the word that there is none. */
export const Amount = ({
  unit,
  value
}: {
  readonly value: unknown
  readonly unit?: string | undefined
}) =>
  value === null || value === undefined ? (
    <span class="none">none</span>
  ) : (
    <Figure value={String(value)} unit={unit} />
  )

/** Says whether what the page computed again is what the answer has. */
export const Recomputed = ({ isSame }: { readonly isSame: boolean }) => (
  <span class={isSame ? "state good" : "state bad"}>
    {isSame ? "✓ recomputed here: the same" : "! recomputed here: differs"}
  </span>
)

/** Tabs of a page, of which the address names the one that is shown; the first where it names none. */
export const useTab = (names: ReadonlyArray<string>): string => {
  const { url } = useLocation()
  const named = parametersOf(url).get("tab")
  return names.find((name) => name === named) ?? names[0] ?? ""
}

export const Tabs = ({
  label,
  tabs
}: {
  readonly label: string
  readonly tabs: ReadonlyArray<readonly [name: string, title: string]>
}) => {
  const { url } = useLocation()
  const shown = useTab(tabs.map(([name]) => name))
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, title], nth) => (
        <a
          key={name}
          href={sameWith(url, { tab: nth === 0 ? null : name, after: null })}
          aria-current={name === shown ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
