/** Values of records as a page draws them: figures, instants, ids, states, parties, texts of others. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { hrefOf } from "../shell/Links.ts"
import { grouped, isDecimal } from "../words/Figures.ts"
import * as Instants from "../words/Instants.ts"
import { hintOf, isParty, label, markOf, signs, word } from "../words/Words.ts"
import { announce } from "./Announce.ts"
import { present, zone } from "./Zone.ts"

/** A figure with all its digits, grouped by style alone: what is copied has no separator. */
export const Figure = ({
  unit,
  value
}: {
  readonly value: string
  readonly unit?: string | undefined
}) => {
  if (!isDecimal(value)) return <Text value={value} />
  const { groups, rest, sign } = grouped(value)
  return (
    <span class="figure">
      <data value={value}>
        {sign}
        {groups.map((group, at) => (
          <span key={at} class="group">
            {group}
          </span>
        ))}
        {rest}
      </data>
      {unit === undefined ? null : <span class="unit"> {unit}</span>}
    </span>
  )
}

/** An instant in the page's zone, which is named, with its distance beside it. */
export const InstantText = ({
  at,
  near = false
}: {
  readonly at: string
  readonly near?: boolean
}) => (
  <time dateTime={at} title={at} class="instant">
    {near
      ? Instants.short(at, { zone: zone.value, now: present.value })
      : Instants.zoned(at, zone.value)}
    {near ? <span class="distance"> {Instants.distance(at, present.value)}</span> : null}
  </time>
)

/** A deadline: in words too when it is over. */
export const Deadline = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span class="none">no deadline</span>
  ) : (
    <span class={Instants.isPast(at, present.value) ? "overdue" : undefined}>
      {Instants.isPast(at, present.value) ? <b>overdue </b> : null}
      <InstantText at={at} near />
    </span>
  )

export const Copy = ({ text }: { readonly text: string }) => (
  <button
    type="button"
    class="copy"
    aria-label={`Copy ${text}`}
    title="Copy"
    onClick={() => {
      void navigator.clipboard.writeText(text).then(
        () => announce("Copied."),
        () => announce("The browser did not copy it.")
      )
    }}
  >
    <svg aria-hidden="true" viewBox="0 0 16 16" width="12" height="12">
      <path
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z"
      />
    </svg>
  </button>
)

/** An id as a link to its record, and whole for the clipboard. */
export const IdLink = ({
  href,
  id
}: {
  readonly id: string
  readonly href?: string | null | undefined
}) => (
  <span class="id">
    {href === undefined || href === null ? (
      <bdi title={id}>{id}</bdi>
    ) : (
      <a href={hrefOf(href)} title={id}>
        <bdi>{id}</bdi>
      </a>
    )}
    <Copy text={id} />
  </span>
)

/** A state by its word and a mark, beside colour. */
export const State = ({ value }: { readonly value: string }) => {
  const mark = markOf(value)
  return (
    <span class={`state ${mark}`}>
      <span aria-hidden="true">{signs[mark]}</span> {word(value)}
    </span>
  )
}

/** A party by its hint; its fingerprint opens. */
export const PartyText = ({ value }: { readonly value: string }) => {
  const [isOpen, open] = useState(false)
  return (
    <span class="party">
      <bdi>{hintOf(value)}</bdi>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        {isOpen ? <bdi class="fingerprint">{value.slice(hintOf(value).length)}</bdi> : "…"}
      </button>
    </span>
  )
}

/** Text that somebody wrote: isolated in direction, and as text. */
export const Text = ({ value }: { readonly value: string }) => (
  <bdi class={value.length <= wholeTo ? "text whole" : "text"}>{value}</bdi>
)

/** Characters of a text that a cell does not break. */
const wholeTo = 24

/** Text of others in a box of its own. */
export const Quote = ({ value }: { readonly value: string }) => (
  <blockquote dir="auto">{value}</blockquote>
)

/** A list of names and values. */
export const Terms = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="terms">{children}</dl>
)

export const Term = ({
  children,
  name
}: {
  readonly name: string
  readonly children: ComponentChildren
}) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Members that hold an id of another record, by the path of its page. */
const pagesOfIds: Readonly<Record<string, string>> = {
  instrumentId: "instruments",
  holderId: "holders",
  subscriptionId: "subscriptions",
  redemptionId: "redemptions",
  cycleId: "dealing-cycles",
  holdId: "holds",
  findingId: "findings",
  runId: "reconciliation-runs",
  operationId: "operations",
  actionKey: "approvals",
  restrictionId: "restrictions",
  distributionId: "distributions",
  reserveId: "reserves",
  externalStatementId: "external-statements",
  externalSourceId: "external-sources",
  standingSettlementId: "standing-settlements",
  standingApprovalId: "standing-approvals",
  webhookId: "webhooks",
  remainderOf: "redemptions",
  predecessorId: "holders",
  successorId: "holders"
}

export const pageOfId = (member: string, id: string): string | null => {
  const page = pagesOfIds[member]
  return page === undefined ? null : `${page}/${encodeURIComponent(id)}`
}

const isStateMember = (member: string): boolean =>
  /(?:^|[a-z])(?:state|State|verdict|Verdict|severity|screening|cover)$/u.test(member)

/** A member of any record by what its name and its text say. */
export const Value = ({ member, value }: { readonly member: string; readonly value: unknown }) => {
  if (value === null || value === undefined) return <span class="none">none</span>
  if (typeof value === "boolean") return <span>{value ? "yes" : "no"}</span>
  if (typeof value === "number" || typeof value === "bigint")
    return <span class="figure">{String(value)}</span>
  if (typeof value === "string") {
    if (value === "") return <span class="none">empty</span>
    if (Instants.isInstant(value)) return <InstantText at={value} />
    if (isParty(value)) return <PartyText value={value} />
    const page = pageOfId(member, value)
    if (page !== null) return <IdLink id={value} href={page} />
    if (/(?:Id|Key|Cid|Hash|lei|isin|cusip|figi)$/u.test(member)) return <IdLink id={value} />
    if (isStateMember(member)) return <State value={value} />
    if (isDecimal(value)) return <Figure value={value} />
    if (value.length > 120) return <Quote value={value} />
    return <Text value={value} />
  }
  if (Array.isArray(value)) return <Items member={member} items={value} />
  return (
    <Terms>
      {Object.entries(value).map(([name, inner]) => (
        <Term key={name} name={label(name)}>
          <Value member={name} value={inner} />
        </Term>
      ))}
    </Terms>
  )
}

/** Rows that a page draws at once; the rest opens. */
const itemsShown = 20

const Items = ({
  items,
  member
}: {
  readonly member: string
  readonly items: ReadonlyArray<unknown>
}) => {
  const [isWhole, showWhole] = useState(false)
  if (items.length === 0) return <span class="none">none</span>
  const shown = isWhole ? items : items.slice(0, itemsShown)
  return (
    <div class="items">
      <ul>
        {shown.map((item, at) => (
          <li key={at}>
            <Value member={member.replace(/s$/u, "")} value={item} />
          </li>
        ))}
      </ul>
      {shown.length < items.length ? (
        <button type="button" onClick={() => showWhole(true)}>
          Show all {items.length}
        </button>
      ) : null}
    </div>
  )
}
