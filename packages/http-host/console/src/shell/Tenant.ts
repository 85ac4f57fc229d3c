/** The venue's public record: its name, and how its people sign in. */
import * as Clock from "../reads/Clock.ts"
import { apiAddress } from "./Place.ts"

export interface Tenant {
  readonly tenantId: string
  readonly displayName: string
  readonly signIn: {
    readonly issuer: string
    readonly audience: string
    readonly clientId: string
    readonly scopes: ReadonlyArray<string>
    /** Further parameters of the request, where a provider needs them; a host of before has none. */
    readonly parameters?: Readonly<Record<string, string>>
  }
}

export const read = async (tenantId: string): Promise<Tenant> => {
  // Asked of the host, so that its clock is of now and not that of a stored answer.
  const response = await fetch(`${apiAddress}/v1/tenants/${encodeURIComponent(tenantId)}`, {
    cache: "no-cache"
  })
  Clock.note(response)
  if (!response.ok) throw new Error(`the venue's record is not read: status ${response.status}`)
  const { value } = (await response.json()) as { readonly value: Tenant }
  return value
}
