/** The session of one person: tokens in memory, renewed before they end, gone with the tab. */
import { signal } from "@preact/signals"
import * as Clock from "../reads/Clock.ts"
import type { PageSettings } from "./PageSettings.ts"
import * as SignIn from "./SignIn.ts"
import type { Tenant } from "./Tenant.ts"
import { endOf, isFor, type Person, personOf, renewalBefore } from "./Token.ts"

/** The person who is signed in; null: nobody is. */
export const person = signal<Person | null>(null)

/** What happened to the sign-in, as a sentence; null: nothing. */
export const notice = signal<string | null>(null)

/** True: the token has ended or ends soon, and only the person can renew it. */
export const needsPerson = signal(false)

interface Kept {
  readonly tenant: Tenant
  readonly settings: PageSettings
  readonly tokens: SignIn.Tokens
}

/** Longest delay of the platform's timers in milliseconds: a longer one would end at once. */
const timerMax = 2_147_483_647

let kept: Kept | null = null
/** Number of sessions that have ended: what a renewal brings belongs to the session that began it. */
let endedCount = 0
let timer: ReturnType<typeof setTimeout> | undefined
const endings = new Set<() => void>()

/** Registers what drops a person's data when the session ends. */
export const onEnd = (drop: () => void): void => void endings.add(drop)

/** Begins the session of whoever the tokens name. Throws where they name nobody. */
export const start = (next: Kept): void => {
  const named = personOf(next.tokens.access, next.settings)
  if (named === null) {
    throw new SignIn.SignInFailed("The identity provider gave a token that this venue cannot read.")
  }
  if (!isFor(next.tokens.access, next.tenant.signIn.audience)) {
    throw new SignIn.SignInFailed(
      "The identity provider gave a token for another service. Whoever runs the venue sets the audience, by signIn.parameters."
    )
  }
  if (person.value !== null && person.value.sub !== named.sub) end(null)
  kept = next
  needsPerson.value = false
  notice.value = null
  person.value = named
  clearTimeout(timer)
  // By the venue's clock: one of this machine that is wrong would renew at once, or too late.
  const left = (endOf(next.tokens.access) ?? Clock.now() + 300_000) - Clock.now()
  const wait = Math.max(1_000, left - renewalBefore(left))
  timer = setTimeout(() => void renew(), Math.min(wait, timerMax))
}

/** Ends the session and drops everything that it has read. */
export const end = (why: string | null): void => {
  clearTimeout(timer)
  endedCount += 1
  kept = null
  renewal = null
  person.value = null
  needsPerson.value = false
  notice.value = why
  for (const drop of endings) drop()
}

/** Header of the person's calls. Throws where nobody is signed in. */
export const authorization = (): string => {
  if (kept === null) throw new SignIn.SignInFailed("Nobody is signed in.")
  return `Bearer ${kept.tokens.access}`
}

/** Milliseconds until a renewal that the network broke is tried again. */
const againAfter = 5_000

let renewal: Promise<boolean> | null = null

/**
 * Renews the token by its refresh token, once at a time; false where only the person can, or where the
 * session ended meanwhile. A network failure ends no session: it is tried again.
 */
export const renew = (): Promise<boolean> => {
  if (renewal !== null) return renewal
  const begun = renewOnce().finally(() => {
    if (renewal === begun) renewal = null
  })
  renewal = begun
  return begun
}

const renewOnce = async (): Promise<boolean> => {
  const before = kept
  if (before === null) return false
  const { refresh } = before.tokens
  if (refresh === null) {
    needsPerson.value = true
    return false
  }
  const count = endedCount
  try {
    const tokens = await SignIn.refresh(before.tenant, refresh)
    if (count !== endedCount) return false
    // The person signed in again beside the page meanwhile: those tokens are the newer ones.
    if (kept !== before) return true
    start({ ...before, tokens })
    return count === endedCount
  } catch (error) {
    if (count !== endedCount) return false
    if (kept !== before) return true
    if (error instanceof SignIn.SignInFailed) {
      kept = { ...before, tokens: { ...before.tokens, refresh: null } }
      needsPerson.value = true
    } else {
      clearTimeout(timer)
      timer = setTimeout(() => void renew(), againAfter)
    }
    return false
  }
}

/** Signs in again in a window beside the page; what is typed into forms stays. */
export const renewByPerson = async (signal: AbortSignal): Promise<void> => {
  const before = kept
  if (before === null) return
  const count = endedCount
  try {
    const tokens = await SignIn.renewInWindow(before.tenant, signal)
    if (count === endedCount) start({ ...before, tokens })
  } catch (error) {
    if (count === endedCount) notice.value = SignIn.sentenceOf(error)
  }
}
