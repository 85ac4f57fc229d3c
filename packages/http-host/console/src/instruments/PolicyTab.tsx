/** Policy of an instrument: its versions as a line in time, the terms of one, and any two compared. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { type Change, ChangeList } from "../kit/ChangeList.tsx"
import { Loaded } from "../kit/Sheet.tsx"
import { InstantText, State, Text } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { listRead, type ListPage, type Row } from "../reads/Lists.ts"
import { Facts, Sheet } from "../record/Page.tsx"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { label } from "../words/Words.ts"
import { differences, directionsOf, lastSet, policyGroups } from "./Instrument.ts"

export const PolicyTab = ({ id }: { readonly id: string; readonly instrument: Row }) => {
  const state = useRead(
    listRead("instruments.policy-versions", { where: { instrumentId: id }, limit: 100 })
  )
  const version = lastSet(state.value?.value ?? [])
  return (
    <>
      {/* A form that was opened before the versions are read would lack the one that it replaces. */}
      {state.value === undefined && state.isLoading ? null : (
        <Acts
          kinds={["policy.set"]}
          fixed={{ instrumentId: id }}
          initial={version === null ? {} : { "policy.set": { replaces: version } }}
        />
      )}
      <Loaded state={state}>{(page) => <Versions page={page} />}</Loaded>
    </>
  )
}

const numberOf = (version: Row): string => String(version["policyVersion"])

const Versions = ({ page: { next, value: versions } }: { readonly page: ListPage }) => {
  const { url } = useLocation()
  if (versions.length === 0) return <p class="none">No version is set.</p>
  const parameters = parametersOf(url)
  const find = (name: string) =>
    versions.find((version) => numberOf(version) === parameters.get(name))
  const shown =
    find("version") ?? versions.find(({ state }) => state === "current") ?? versions[0] ?? {}
  const other = find("against")
  return (
    <>
      <Sheet title="Versions" about="newest first">
        <ol class="timeline">
          {versions.map((version) => (
            <li key={numberOf(version)} class={String(version["state"])}>
              <span>
                <a
                  href={sameWith(url, { version: numberOf(version) })}
                  aria-current={version === shown ? "true" : undefined}
                >
                  Version {numberOf(version)}
                </a>{" "}
                <State value={String(version["state"])} />
              </span>
              <span class="fine">
                from <InstantText at={String(version["effectiveFrom"])} />
              </span>
              <span class="fine">
                set by <Text value={String(version["setBy"])} />
                {typeof version["direction"] === "string"
                  ? `, ${version["direction"]}s the terms`
                  : ""}
              </span>
              {version === shown ? (
                <span class="fine">shown below</span>
              ) : (
                <a class="fine" href={sameWith(url, { against: numberOf(version) })}>
                  compare with version {numberOf(shown)}
                </a>
              )}
            </li>
          ))}
        </ol>
        {next === null ? null : <p class="fine">Older versions are not shown here.</p>}
      </Sheet>
      {other === undefined || other === shown ? null : <Compared from={other} to={shown} />}
      <div class="halves">
        {policyGroups(shown["body"]).map(({ facts, title, unset }) => (
          <Sheet key={title} title={title} about={`version ${numberOf(shown)}`}>
            <Facts facts={facts} />
            {unset.length === 0 ? null : <p class="fine">Not set: {unset.map(label).join(", ")}</p>}
          </Sheet>
        ))}
      </div>
    </>
  )
}

/** Two versions, the earlier one first, whichever was chosen first. */
const Compared = ({ from, to }: { readonly from: Row; readonly to: Row }) => {
  const { url } = useLocation()
  const [before, after] = BigInt(numberOf(from)) < BigInt(numberOf(to)) ? [from, to] : [to, from]
  const directions = directionsOf(before, after)
  const changes: ReadonlyArray<Change> = differences(before["body"], after["body"]).map(
    ({ from: old, path, to: now }) => ({
      path,
      from: old,
      to: now,
      direction: directions.get(path) ?? null
    })
  )
  return (
    <Sheet
      title={`Version ${numberOf(before)} beside version ${numberOf(after)}`}
      about={<a href={sameWith(url, { against: null })}>Close the comparison</a>}
    >
      {changes.length === 0 ? (
        <p class="none">Their terms are the same.</p>
      ) : (
        <ChangeList changes={changes} />
      )}
    </Sheet>
  )
}
