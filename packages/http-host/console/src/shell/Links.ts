/** Addresses of pages: each carries the point and the zone of the page that it stands on. */
import { point } from "../reads/Point.ts"
import { zone } from "../kit/Zone.ts"
import { linkTo } from "./Place.ts"

/** Address of a page of the console, at the same point and in the same zone. */
export const hrefOf = (path: string): string => {
  const url = new URL(linkTo(path), location.origin)
  if (point.value !== null && !url.searchParams.has("at")) url.searchParams.set("at", point.value)
  if (zone.value !== "UTC" && !url.searchParams.has("zone"))
    url.searchParams.set("zone", zone.value)
  return url.pathname + url.search
}

/** The same page with other parameters; null removes one, a list repeats it. */
export const sameWith = (
  address: string,
  changes: Readonly<Record<string, string | ReadonlyArray<string> | null>>
): string => {
  const url = new URL(address, location.origin)
  for (const [name, value] of Object.entries(changes)) {
    url.searchParams.delete(name)
    for (const one of value === null ? [] : [value].flat()) url.searchParams.append(name, one)
  }
  return url.pathname + url.search
}

export const parametersOf = (address: string): URLSearchParams =>
  new URL(address, location.origin).searchParams
