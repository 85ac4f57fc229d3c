/** Page of one subscription or redemption: its strip, its terms, its cash, and the acts of its state. */
import { Acts } from "../kit/Acts.tsx"
import { Failure, Loading } from "../kit/Outcome.tsx"
import { Copy, IdLink, InstantText, State, Value } from "../kit/Values.tsx"
import { Waiting } from "../kit/Waiting.tsx"
import { Members } from "../pages/RecordPage.tsx"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayRead, type Row, valueRead } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"
import {
  redemptionSteps,
  redemptionTerms,
  remarks,
  type Step,
  subscriptionSteps,
  subscriptionTerms
} from "./Order.ts"

export type OrderKind = "subscription" | "redemption"

const kinds = {
  subscription: {
    title: "Subscription",
    read: "subscriptions.get",
    id: "subscriptionId",
    steps: subscriptionSteps,
    terms: subscriptionTerms,
    figures: ["residual", "refund", "refunded"],
    acts: [
      "subscription.deliver",
      "subscription.settle",
      "subscription.release",
      "subscription.withdraw"
    ]
  },
  redemption: {
    title: "Redemption",
    read: "redemptions.get",
    id: "redemptionId",
    steps: redemptionSteps,
    terms: redemptionTerms,
    figures: [],
    acts: ["redemption.settle", "redemption.release", "redemption.withdraw"]
  }
} as const

export const OrderPage = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) => {
  const about = kinds[kind]
  const { error, value } = useRead(valueRead(about.read, { [about.id]: id }))
  return (
    <>
      <Title text={`${about.title} ${id}`} />
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      {value === undefined ? (
        error === null || error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <OrderView id={id} kind={kind} order={value.value} />
      )}
    </>
  )
}

const Strip = ({ steps }: { readonly steps: ReadonlyArray<Step> }) => (
  <ol class="strip" aria-label="States">
    {steps.map(({ at, name }, nth) => (
      <li
        key={name}
        class={at === null ? "ahead" : "reached"}
        aria-current={at !== null && (steps[nth + 1]?.at ?? null) === null ? "step" : undefined}
      >
        <span>{word(name)}</span>
        {at === null ? <span class="fine">ahead</span> : <InstantText at={at} />}
      </li>
    ))}
  </ol>
)

const OrderView = ({
  id,
  kind,
  order
}: {
  readonly kind: OrderKind
  readonly id: string
  readonly order: Row
}) => {
  const about = kinds[kind]
  const { orderState, remainderOf, state, waitingOn } = order
  return (
    <article class="record">
      <p class="lead">
        <State value={String(state)} />
        {typeof orderState === "string" && orderState !== state ? (
          <State value={orderState} />
        ) : null}
        <span class="id">
          <bdi>{id}</bdi>
          <Copy text={id} />
        </span>
      </p>
      <Strip steps={about.steps(order)} />
      <section class="move">
        <h2>Whose move</h2>
        <Waiting moves={waitingOn} />
      </section>
      {remarks(order).map((sentence) => (
        <p key={sentence} class="remark">
          {sentence}
        </p>
      ))}
      {typeof remainderOf === "string" ? (
        <p>
          The remainder of{" "}
          <IdLink id={remainderOf} href={`redemptions/${encodeURIComponent(remainderOf)}`} />
        </p>
      ) : null}
      <Acts kinds={about.acts} fixed={{ [about.id]: id }} />
      <h2>Terms</h2>
      <Members
        record={order}
        members={about.terms.filter(
          (member) => order[member] !== null && order[member] !== undefined
        )}
      />
      {about.figures.length === 0 ? null : (
        <>
          <h2>Figures</h2>
          <Members record={order} members={about.figures} />
        </>
      )}
      <h2>Cash</h2>
      <Value member="cash" value={order["cash"]} />
      <details>
        <summary>Allocations and lot</summary>
        <Members
          record={order}
          members={["allocation", "unitsAllocation", "lot", "attestors", "burnRequestCid"].filter(
            (member) => Object.hasOwn(order, member)
          )}
        />
      </details>
      <Events id={id} kind={kind} />
    </article>
  )
}

/** Events beside the order; roles without the feed have no box for them. */
const Events = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) => {
  const isReader = mayRead("events.list", Session.person.value?.roles ?? [])
  return isReader ? <EventList id={id} kind={kind} /> : null
}

const EventList = ({ id, kind }: { readonly kind: OrderKind; readonly id: string }) => {
  const { error, value } = useRead({
    ...listRead("events.list", {
      where: { resourceKind: [kind], resourceId: id, order: "desc" },
      limit: 20
    }),
    kinds: [kind]
  })
  return (
    <section>
      <h2>Events</h2>
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      {value === undefined ? null : value.value.length === 0 ? (
        <p class="none">No event names it.</p>
      ) : (
        <ol class="events">
          {value.value.map((event) => (
            <li key={String(event["seq"])}>
              <span class="figure fine">{String(event["seq"])}</span>{" "}
              <b>{label(String(event["type"]))}</b>{" "}
              {event["at"] === null ? null : <InstantText at={String(event["at"])} />}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
