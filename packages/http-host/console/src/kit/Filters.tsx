/** Filters of a list, as the interface has them: words of a set as toggles, ids as fields; all in the address. */
import { useLocation } from "preact-iso"
import table from "virtual:interface"
import type { Where } from "../reads/Lists.ts"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { label, word } from "../words/Words.ts"

/** Filters of the address that the read has. */
export const whereOf = (read: string, url: string): Where => {
  const parameters = parametersOf(url)
  const filters = table.reads[read]?.filters ?? []
  return Object.fromEntries(
    filters.flatMap(({ name, words }) => {
      const values = parameters.getAll(name).filter((value) => value !== "")
      if (values.length === 0) return []
      return [[name, words === null || name === "order" ? (values[0] ?? "") : values]] as const
    })
  )
}

/** Sets of at most this many words are shown whole; a longer one opens. */
const togglesMax = 12

export const Filters = ({
  hidden = [],
  read
}: {
  readonly read: string
  readonly hidden?: ReadonlyArray<string>
}) => {
  const { route, url } = useLocation()
  const parameters = parametersOf(url)
  const filters = (table.reads[read]?.filters ?? []).filter(({ name }) => !hidden.includes(name))
  if (filters.length === 0) return null
  const set = (name: string, values: ReadonlyArray<string> | string | null) =>
    route(sameWith(url, { [name]: values, after: null }))
  const isSet = filters.some(({ name }) => parameters.has(name))
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Filters">
      {filters.map(({ name, words }) => {
        const values = parameters.getAll(name)
        if (words === null) {
          return (
            <label key={name} class="field">
              <span>{label(name)}</span>
              <input
                type="text"
                value={values[0] ?? ""}
                onChange={({ currentTarget }) => set(name, currentTarget.value.trim() || null)}
              />
            </label>
          )
        }
        const toggles = (
          <span class="toggles">
            {words.map((each) => {
              const isOn = values.includes(each)
              return (
                <button
                  key={each}
                  type="button"
                  aria-pressed={isOn}
                  onClick={() =>
                    set(name, isOn ? values.filter((value) => value !== each) : [...values, each])
                  }
                >
                  {word(each)}
                </button>
              )
            })}
          </span>
        )
        return words.length > togglesMax ? (
          <details key={name} class="field" open={values.length > 0}>
            <summary>
              {label(name)}
              {values.length > 0 ? `: ${values.map(word).join(", ")}` : ""}
            </summary>
            {toggles}
          </details>
        ) : (
          <div key={name} class="field" role="group" aria-label={label(name)}>
            <span>{label(name)}</span>
            {toggles}
          </div>
        )
      })}
      {isSet ? (
        <button
          type="button"
          class="plain"
          onClick={() =>
            route(
              sameWith(url, {
                after: null,
                ...Object.fromEntries(filters.map(({ name }) => [name, null]))
              })
            )
          }
        >
          Clear filters
        </button>
      ) : null}
    </form>
  )
}
