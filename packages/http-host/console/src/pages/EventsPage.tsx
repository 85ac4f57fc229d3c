/** Page of the live feed: newest on top, paused in place, each row open to its payload. */
import { useState } from "preact/hooks"
import { InstantText, Text, Value } from "../kit/Values.tsx"
import { events, type FeedEvent, light } from "../reads/Feed.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"

const marks: Readonly<Record<string, string>> = { journal: "▪ journal", control: "▫ control" }

export const EventsPage = () => {
  const [held, hold] = useState<ReadonlyArray<FeedEvent> | null>(null)
  const shown = held ?? events.value
  const newest = held?.[0]?.seq
  const waiting =
    held === null
      ? 0
      : events.value.filter(({ seq }) => newest === undefined || BigInt(seq) > BigInt(newest))
          .length
  return (
    <>
      <Title text="Live feed" />
      <p class="acts">
        <button
          type="button"
          aria-pressed={held !== null}
          onClick={() => hold(held === null ? events.value : null)}
        >
          {held === null ? "Pause" : "Go on"}
        </button>
        {held === null ? null : <span role="status">{waiting} came since</span>}
        <span class="fine">
          {light.value.state === "away" ? "The feed is away." : `At most 500 events are kept here.`}
        </span>
      </p>
      <ol class="feed">
        {shown.map((event, at) => {
          const after = shown[at + 1]
          const missing = after === undefined ? 0n : BigInt(event.seq) - BigInt(after.seq) - 1n
          return (
            <li key={String(event.seq)}>
              <details>
                <summary>
                  <span class="figure fine">{String(event.seq)}</span>{" "}
                  <span class="fine">{marks[event.kind] ?? event.kind}</span>{" "}
                  <b>{label(event.type)}</b> <span>{word(event.resourceKind)}</span>{" "}
                  <Text value={event.resourceId ?? ""} />{" "}
                  {event.at === null ? null : <InstantText at={event.at} near />}
                </summary>
                <Value member="payload" value={event.payload} />
              </details>
              {missing > 0n ? (
                <p class="fine">
                  {String(missing)} of the sequence are not for this reader, or outside this page.
                </p>
              ) : null}
            </li>
          )
        })}
      </ol>
      {shown.length === 0 ? <p class="nothing">No event has come yet.</p> : null}
    </>
  )
}
