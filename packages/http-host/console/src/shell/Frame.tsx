/** Frame of every page: navigation by role, the venue, the point, the feed's light, the person. */
import { signal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import table from "virtual:interface"
import { announced } from "../kit/Announce.ts"
import { InstantText, Text } from "../kit/Values.tsx"
import { zone } from "../kit/Zone.ts"
import { isSlowed } from "../reads/Api.ts"
import { ofNow } from "../reads/Cache.ts"
import { light } from "../reads/Feed.ts"
import { point, pointTime } from "../reads/Point.ts"
import * as Keys from "./Keys.ts"
import { hrefOf, sameWith } from "./Links.ts"
import { offered } from "./Navigation.ts"
import { Palette } from "./Palette.tsx"
import { consolePath } from "./Place.ts"
import * as Session from "./Session.ts"
import { ClockNotice, SignInNotice } from "./SignInNotice.tsx"
import type { Tenant } from "./Tenant.ts"
import { word } from "../words/Words.ts"

const FeedLightView = () => {
  const { value } = light
  const words = {
    live: "● live",
    slowed: "◐ slowed: the budget of calls is nearly used",
    none: isSlowed.value ? "◐ slowed" : "○ read every 15 s",
    away: "○ away"
  }[value.state]
  return (
    <span class={`light ${value.state}`}>
      {words}
      {value.state === "away" ? (
        <>
          {" "}
          since <InstantText at={value.since} near />
        </>
      ) : null}
    </span>
  )
}

/** Bar of the point: the latest, or a pin, which colour and word tell apart. */
const PointBar = () => {
  const { route, url } = useLocation()
  const [isOpen, open] = useState(false)
  const [text, set] = useState("")
  const pin = (offset: string | null) => {
    open(false)
    route(sameWith(url, { at: offset, after: null }))
  }
  return (
    <div class={point.value === null ? "point" : "point pinned"}>
      {point.value === null ? (
        <span>Latest</span>
      ) : (
        <strong>
          Past: offset <span class="figure">{point.value}</span>
          {pointTime.value === null ? null : (
            <>
              {" "}
              of <InstantText at={pointTime.value} />
            </>
          )}
          , nothing can be written here
        </strong>
      )}
      {isOpen ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (/^\d{1,18}$/u.test(text.trim())) pin(text.trim())
          }}
        >
          <label for="pin">Offset</label>
          <input
            id="pin"
            type="text"
            inputMode="numeric"
            value={text}
            onInput={({ currentTarget }) => set(currentTarget.value)}
          />
          <button type="submit">Show</button>
        </form>
      ) : (
        <button type="button" class="plain" onClick={() => open(true)}>
          Change
        </button>
      )}
      {point.value === null ? null : (
        <button type="button" onClick={() => pin(null)}>
          Back to latest
        </button>
      )}
    </div>
  )
}

const zones = [
  "UTC",
  "Europe/Zurich",
  "Europe/London",
  "America/New_York",
  "Asia/Singapore",
  "Asia/Tokyo"
]

const ZoneSwitch = () => {
  const { route, url } = useLocation()
  return (
    <label class="zone">
      <span>Zone</span>
      <select
        value={zone.value}
        onChange={({ currentTarget }) =>
          route(sameWith(url, { zone: currentTarget.value === "UTC" ? null : currentTarget.value }))
        }
      >
        {[...new Set([...zones, zone.value])].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}

const Notices = () => (
  <>
    <SignInNotice />
    <ClockNotice />
    {point.value === null || ofNow.value.size === 0 ? null : (
      <p class="notice" role="status">
        Not of the past, since the venue keeps it only as it is now:{" "}
        {[...ofNow.value.keys()].map(readWord).join(", ")}.
      </p>
    )}
  </>
)

/** Words for a read by its name: `approvals.list` is "approvals". */
const readWord = (name: string): string => word((name.split(".")[0] ?? name).replace(/-/gu, " "))

/** Width from which the navigation stands beside the page; below it opens over the page. */
const wide = matchMedia("(min-width: 52.01rem)")
const isWideNow = signal(wide.matches)
wide.addEventListener("change", () => {
  isWideNow.value = wide.matches
})

export const Frame = ({
  children,
  tenant
}: {
  readonly tenant: Tenant
  readonly children: ComponentChildren
}) => {
  const { path, route } = useLocation()
  const [isSearching, search] = useState(false)
  const isWide = isWideNow.value
  const person = Session.person.value
  const groups = offered(table, person?.roles ?? [])
  useEffect(
    () =>
      Keys.listen({
        search: () => search(true),
        help: () => search(true),
        go: (letter) => {
          const row = groups.flatMap(({ rows }) => rows).find((each) => each.letter === letter)
          if (row !== undefined) route(hrefOf(row.path))
        }
      }),
    [person?.sub]
  )
  const here = path.slice(consolePath.length).split("/")[0]
  return (
    <div class={point.value === null ? "frame" : "frame past"}>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header>
        <a class="venue" href={hrefOf("venue")}>
          {tenant.displayName}
        </a>
        <PointBar />
        <FeedLightView />
        <span class="gap" />
        <ZoneSwitch />
        <button type="button" onClick={() => search(true)}>
          Go to … {Keys.areOn.value ? <kbd>/</kbd> : null}
        </button>
        <details class="person">
          <summary>
            <Text value={person?.name ?? ""} />
          </summary>
          <div>
            <p>
              <Text value={person?.sub ?? ""} />
            </p>
            <p class="fine">{person?.roles.join(", ")}</p>
            <button type="button" onClick={() => Session.end("You are signed out of the console.")}>
              Sign out
            </button>
          </div>
        </details>
      </header>
      <nav class="pages" aria-label="Pages">
        <details key={isWide ? "wide" : path} open={isWide}>
          <summary>Pages</summary>
          {groups.map(({ rows, title }) => (
            <section key={title}>
              <h2>{title}</h2>
              <ul>
                {rows.map((row) => (
                  <li key={row.path}>
                    <a
                      href={hrefOf(row.path)}
                      aria-current={row.path === here ? "page" : undefined}
                    >
                      {row.title}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </details>
      </nav>
      <main id="page" tabIndex={-1}>
        <Notices />
        {children}
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {announced.value}
      </p>
      <Palette
        groups={groups}
        isOpen={isSearching}
        close={() => search(false)}
        go={(to) => route(hrefOf(to))}
      />
    </div>
  )
}
