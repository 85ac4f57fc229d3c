/** Page of one subscription or redemption: its steps, whose move it is, its acts, its figures and its cash. */
import { Failure } from "../kit/Outcome.tsx"
import { Loaded } from "../kit/Sheet.tsx"
import { Figure, InstantText, PartyText } from "../kit/Values.tsx"
import { zone } from "../kit/Zone.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, type Row, valueRead } from "../reads/Lists.ts"
import { groupsOf } from "../record/Fact.ts"
import { JudgedActs } from "../record/Judgement.tsx"
import { Facts, Head, mayI, Moves, Sheet, VersionLine } from "../record/Page.tsx"
import { actsOf } from "../record/StateActs.ts"
import { RecordLink } from "../record/RecordLink.tsx"
import { Title } from "../shell/Title.tsx"
import * as Instants from "../words/Instants.ts"
import { label, word } from "../words/Words.ts"
import {
  actSays,
  type Cash,
  cashOf,
  contractFacts,
  orderSheets,
  type OrderKind,
  presentStep,
  remarks,
  type Step,
  stepsOf
} from "./Order.ts"

const kinds = {
  subscription: { title: "Subscription", read: "subscriptions.get", id: "subscriptionId" },
  redemption: { title: "Redemption", read: "redemptions.get", id: "redemptionId" }
} as const

export const OrderPage = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) => {
  const about = kinds[kind]
  const state = useRead(valueRead(about.read, { [about.id]: id }))
  return (
    <>
      <Title text={`${about.title} ${id}`} />
      <Loaded state={state}>
        {({ value }) => <OrderView id={id} kind={kind} order={value} />}
      </Loaded>
    </>
  )
}

const Strip = ({ steps }: { readonly steps: ReadonlyArray<Step> }) => {
  const present = presentStep(steps)
  return (
    <ol class="strip" aria-label="States">
      {steps.map(({ at, name, who }, nth) => (
        <li
          key={name}
          class={at === null ? "ahead" : "reached"}
          aria-current={nth === present ? "step" : undefined}
        >
          <span>{word(name)}</span>
          {at === null ? <span class="who">ahead: {who}</span> : <InstantText at={at} />}
        </li>
      ))}
    </ol>
  )
}

interface OrderProps {
  readonly kind: OrderKind
  readonly id: string
  readonly order: Row
}

const OrderView = ({ id, kind, order }: OrderProps) => {
  const { currency, holderId, instrumentId, orderState, remainderOf, state, waitingOn } = order
  const cash = cashOf(order)
  const judged = { instrumentId, [kinds[kind].id]: id }
  const rows = actsOf(kind, String(state)).map((act) => ({
    kind: act,
    fixed: { [kinds[kind].id]: id },
    judged,
    ...(actSays[act] === undefined ? {} : { says: actSays[act] })
  }))
  return (
    <article class="record">
      <Head id={id} states={[String(orderState ?? state)]}>
        <span class="context">
          <span>
            of{" "}
            <RecordLink
              id={String(holderId)}
              href={`holders/${encodeURIComponent(String(holderId))}`}
            />
          </span>
          <span>
            in{" "}
            <RecordLink
              id={String(instrumentId)}
              href={`instruments/${encodeURIComponent(String(instrumentId))}`}
            />
          </span>
        </span>
      </Head>
      <Strip steps={stepsOf(kind, order)} />
      {remarks(order).map((sentence) => (
        <p key={sentence} class="alert">
          {sentence}
        </p>
      ))}
      {typeof remainderOf === "string" ? (
        <p>
          The remainder of{" "}
          <RecordLink id={remainderOf} href={`redemptions/${encodeURIComponent(remainderOf)}`} />
        </p>
      ) : null}
      <div class="beside">
        <div>
          <Sheet title="What can be done">
            {rows.length === 0 ? (
              <p class="none">The order has ended: nothing is left to do.</p>
            ) : (
              <Moves moves={waitingOn} />
            )}
            <JudgedActs
              leads
              rows={rows}
              about={{ instrumentId: String(instrumentId), holderId: String(holderId) }}
            />
          </Sheet>
          {cash === null ? null : <CashSheet cash={cash} currency={String(currency)} />}
          {groupsOf(order, orderSheets).map(({ facts, title }) => (
            <Sheet key={title} title={title}>
              <Facts facts={facts} basis={order["basis"]} />
              {title === "Order" ? <CutOff order={order} /> : null}
            </Sheet>
          ))}
          <Contracts order={order} />
          <VersionLine record={order} />
        </div>
        <div>
          <Events id={id} kind={kind} />
        </div>
      </div>
    </article>
  )
}

/** Cut-off of an order: in the page's zone, and in the instrument's where that is known. */
const CutOff = ({ order }: { readonly order: Row }) => {
  const at = order["cutOffAt"]
  if (typeof at !== "string") return null
  return mayI("instruments.get") ? (
    <ZonedCutOff at={at} instrumentId={String(order["instrumentId"])} />
  ) : (
    <p>
      Cut-off <InstantText at={at} />
    </p>
  )
}

const ZonedCutOff = ({
  at,
  instrumentId
}: {
  readonly at: string
  readonly instrumentId: string
}) => {
  const { value } = useRead(valueRead("instruments.get", { instrumentId }))
  const cutOff = value?.value["cutOff"] as { readonly zone?: unknown } | null | undefined
  const own = typeof cutOff?.zone === "string" && Instants.isZone(cutOff.zone) ? cutOff.zone : null
  return (
    <p>
      Cut-off <InstantText at={at} />
      {own === null || own === zone.value ? null : (
        <span class="fine">, {Instants.zoned(at, own)}</span>
      )}
    </p>
  )
}

const CashSheet = ({ cash, currency }: { readonly cash: Cash; readonly currency: string }) => (
  <Sheet title="Cash">
    <dl class="sums">
      <div>
        <dt>Expected</dt>
        <dd>
          {cash.expected === null ? (
            <span class="none">not priced yet</span>
          ) : (
            <Figure value={cash.expected} unit={currency} />
          )}
        </dd>
      </div>
      <div>
        <dt>Matched by bank lines</dt>
        <dd>
          <Figure value={cash.matched} unit={currency} />
        </dd>
      </div>
      {cash.due === null ? null : (
        <div>
          <dt>Still due, recomputed here</dt>
          <dd>
            <Figure value={cash.due} unit={currency} />
          </dd>
        </div>
      )}
    </dl>
    {cash.lines.length === 0 ? (
      <p class="none">No bank line pays it.</p>
    ) : (
      <div class="scroll">
        <table>
          <caption>Bank lines that pay it</caption>
          <thead>
            <tr>
              <th scope="col">Statement</th>
              <th scope="col" class="right">
                Line
              </th>
              <th scope="col" class="right">
                Amount
              </th>
            </tr>
          </thead>
          <tbody>
            {cash.lines.map(({ amount, line, statementId }) => (
              <tr key={`${statementId}:${line}`}>
                <td data-name="Statement">
                  <RecordLink
                    id={statementId}
                    href={`external-statements/${encodeURIComponent(statementId)}`}
                  />
                </td>
                <td data-name="Line" class="right">
                  {line}
                </td>
                <td data-name="Amount" class="right">
                  <Figure value={amount} unit={currency} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Sheet>
)

/** What of the order lies on the ledger: its allocations, its lot, its attestations. */
const Contracts = ({ order }: { readonly order: Row }) => {
  const facts = contractFacts(order)
  const attestors = order["attestors"]
  const attested = Array.isArray(attestors) ? (attestors as ReadonlyArray<Row>) : []
  if (facts.length === 0 && attested.length === 0) return null
  return (
    <Sheet title="On the ledger">
      <Facts facts={facts} />
      {attested.length === 0 ? null : (
        <ul class="rows">
          {attested.map(({ at, party }, nth) => (
            <li key={nth}>
              <PartyText value={String(party)} /> attested <InstantText at={String(at)} />
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  )
}

/** Events beside the order; roles without the feed have no box for them. */
const Events = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) =>
  mayI("events.list") ? <EventList id={id} kind={kind} /> : null

const EventList = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) => {
  const { error, value } = useRead({
    ...listRead("events.list", {
      where: { resourceKind: [kind], resourceId: id, order: "desc" },
      limit: 20
    }),
    kinds: [kind]
  })
  return (
    <Sheet title="Events" about="newest first">
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      {value === undefined ? null : value.value.length === 0 ? (
        <p class="none">No event names it.</p>
      ) : (
        <ol class="log">
          {value.value.map((event) => (
            <li key={String(event["seq"])}>
              <b>{label(String(event["type"]))}</b>
              <span class="fine">
                {String(event["seq"])}
                {event["at"] === null ? null : (
                  <>
                    {" · "}
                    <InstantText at={String(event["at"])} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Sheet>
  )
}
