/** Claims of an access token, read without judging them: the host judges, the page only offers. */
import type { PageSettings } from "./PageSettings.ts"

export interface Person {
  readonly sub: string
  readonly name: string
  readonly roles: ReadonlyArray<string>
  /** Holder that the token names; null: none. */
  readonly holder: string | null
}

type Claims = Readonly<Record<string, unknown>>

/** Payload of a JSON Web Token; null: the text is none. */
export const claimsOf = (token: string): Claims | null => {
  const [, payload, signature] = token.split(".")
  if (payload === undefined || signature === undefined) return null
  try {
    const bytes = Uint8Array.from(
      atob(payload.replaceAll("-", "+").replaceAll("_", "/")),
      (letter) => letter.charCodeAt(0)
    )
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === "object" && claims !== null ? (claims as Claims) : null
  } catch {
    return null
  }
}

/** Value at a pointer of RFC 6901; undefined: there is none. */
const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (place, step) =>
        typeof place === "object" && place !== null && Object.hasOwn(place, step)
          ? (place as Claims)[step]
          : undefined,
      value
    )

/** Roles of a token by the rules of its host: names that it does not know mean nothing. */
export const rolesOf = (
  claims: Claims,
  { roleNames, roles }: Pick<PageSettings, "roles" | "roleNames">
): ReadonlyArray<string> => {
  const names = at(claims, roles)
  if (!Array.isArray(names)) return []
  const all = names
    .filter((name) => typeof name === "string")
    .flatMap((name) =>
      roleNames === null ? [name] : Object.hasOwn(roleNames, name) ? (roleNames[name] ?? []) : []
    )
  return [...new Set(all)]
}

const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null

/** Person of a token; null: it names nobody. */
export const personOf = (token: string, settings: PageSettings): Person | null => {
  const claims = claimsOf(token)
  const sub = textOf(claims?.["sub"])
  if (claims === null || sub === null) return null
  return {
    sub,
    name: textOf(claims["name"]) ?? sub,
    roles: rolesOf(claims, settings),
    holder: textOf(claims["holder"])
  }
}

/** Checks whether a token is for a service; one that names no audience is the host's to judge. */
export const isFor = (token: string, audience: string): boolean => {
  const named = claimsOf(token)?.["aud"]
  return named === undefined || [named].flat().includes(audience)
}

/** Instant at which a token ends, in milliseconds of the epoch; null: it names none. */
export const endOf = (token: string): number | null => {
  const end = claimsOf(token)?.["exp"]
  return typeof end === "number" ? end * 1000 : null
}

/** Milliseconds before its end at which a token is renewed: a fifth of what is left, at most a minute. */
export const renewalBefore = (left: number): number => Math.min(60_000, Math.max(0, left / 5))
