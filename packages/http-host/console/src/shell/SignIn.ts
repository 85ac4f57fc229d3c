/**
 * Sign-in with the venue's identity provider: authorization code with PKCE (RFC 7636), state, nonce and
 * the issuer of the answer (RFC 9207). Verifier and state wait in the tab's storage for the answer alone.
 */
import * as oauth from "oauth4webapi"
import { clockOff } from "../reads/Clock.ts"
import * as Place from "./Place.ts"
import * as SignInParameters from "./SignInParameters.ts"
import type { Tenant } from "./Tenant.ts"

/** Tokens of one person; they are kept in memory and nowhere else. */
export interface Tokens {
  readonly access: string
  readonly refresh: string | null
}

/** Sign-in that was begun: what its answer is compared with, and where it returns to. */
interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Path and query of the page that was open. */
  readonly returnTo: string
}

/** A sign-in that came to nothing; the message is a sentence for the person. */
export class SignInFailed extends Error {
  override readonly name = "SignInFailed"
}

/** A provider that was not reached, or could not answer now: the same may pass later. */
export class NotReached extends Error {
  override readonly name = "NotReached"
}

const storageKey = "bursar.sign-in"

type Provider = oauth.AuthorizationServer

/** Only a provider of this machine is spoken to without TLS. */
const optionsOf = (issuer: URL) =>
  issuer.protocol === "http:" ? { [oauth.allowInsecureRequests]: true } : {}

const tokenOptions = ({ signIn }: Tenant) => ({
  ...optionsOf(new URL(signIn.issuer)),
  additionalParameters: SignInParameters.ofTokenRequest(signIn)
})

const discover = async ({ signIn }: Tenant): Promise<Provider> => {
  const issuer = new URL(signIn.issuer)
  try {
    const response = await oauth.discoveryRequest(issuer, optionsOf(issuer))
    return await oauth.processDiscoveryResponse(issuer, response)
  } catch (error) {
    const failure = failureOf(error)
    throw failure instanceof SignInFailed
      ? new SignInFailed(
          "The identity provider's record of itself is not one of the venue's issuer."
        )
      : failure
  }
}

/** Discovers once; a failure is forgotten, so that the next click tries again. */
const providers = new Map<string, Promise<Provider>>()
const providerOf = (tenant: Tenant): Promise<Provider> => {
  const { issuer } = tenant.signIn
  const found = providers.get(issuer)
  if (found !== undefined) return found
  const made = discover(tenant)
  providers.set(issuer, made)
  made.catch(() => providers.delete(issuer))
  return made
}

const requestOf = async (
  tenant: Tenant,
  { nonce, state, verifier }: Omit<Begun, "returnTo">
): Promise<URL> => {
  const { authorization_endpoint: endpoint } = await providerOf(tenant)
  if (endpoint === undefined)
    throw new SignInFailed("The identity provider names no page to sign in.")
  const address = new URL(endpoint)
  const parameters = SignInParameters.ofRequest(tenant.signIn, {
    redirect_uri: Place.returnAddress,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce
  })
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  return address
}

const makeBegun = (returnTo: string): Begun => ({
  state: oauth.generateRandomState(),
  nonce: oauth.generateRandomNonce(),
  verifier: oauth.generateRandomCodeVerifier(),
  returnTo
})

/** Leaves the page for the provider's; the answer comes to `finish`. */
export const begin = async (tenant: Tenant, returnTo: string): Promise<void> => {
  const begun = makeBegun(returnTo)
  const address = await requestOf(tenant, begun)
  sessionStorage.setItem(storageKey, JSON.stringify(begun))
  location.assign(address)
}

/** A path of the console, and nothing that leads elsewhere. */
const ownPath = (path: string): string => {
  const url = new URL(path, location.origin)
  const isOwn = url.origin === location.origin && url.pathname.startsWith(Place.consolePath)
  const isReturn = url.pathname === new URL(Place.returnAddress).pathname
  return isOwn && !isReturn ? url.pathname + url.search : Place.consolePath
}

/** Takes the answer of the provider off the address, and exchanges its code. */
export const finish = async (
  tenant: Tenant,
  answer: URL
): Promise<{ readonly tokens: Tokens; readonly returnTo: string }> => {
  const kept = sessionStorage.getItem(storageKey)
  sessionStorage.removeItem(storageKey)
  if (kept === null)
    throw new SignInFailed("This sign-in was not begun in this tab. Please sign in again.")
  const begun = JSON.parse(kept) as Begun
  return { tokens: await exchange(tenant, { answer, begun }), returnTo: ownPath(begun.returnTo) }
}

const exchange = async (
  tenant: Tenant,
  { answer, begun }: { readonly answer: URL; readonly begun: Begun }
): Promise<Tokens> => {
  const client = clientOf(tenant)
  try {
    const provider = await providerOf(tenant)
    const parameters = oauth.validateAuthResponse(provider, client, answer, begun.state)
    const response = await oauth.authorizationCodeGrantRequest(
      provider,
      client,
      oauth.None(),
      parameters,
      Place.returnAddress,
      begun.verifier,
      tokenOptions(tenant)
    )
    const result = await oauth.processAuthorizationCodeResponse(provider, client, response, {
      expectedNonce: begun.nonce,
      requireIdToken: true
    })
    return { access: result.access_token, refresh: result.refresh_token ?? null }
  } catch (error) {
    throw failureOf(error)
  }
}

/** Statuses by which a provider says that it cannot answer now. */
const isOfNow = (status: number): boolean => status === 429 || status >= 500

const notReached = (cause: unknown) =>
  new NotReached("The identity provider was not reached, or could not answer now.", { cause })

/** Failure of a call of the provider: a sentence for the person, or that it was not reached. */
export const failureOf = (error: unknown): unknown => {
  if (error instanceof oauth.AuthorizationResponseError) {
    const said = error.error_description ?? error.error
    return new SignInFailed(`The identity provider refused: ${said}`)
  }
  if (error instanceof oauth.ResponseBodyError) {
    if (isOfNow(error.status)) return notReached(error)
    const said = error.error_description ?? error.error
    return new SignInFailed(`The identity provider gave no token: ${said}`)
  }
  if (error instanceof oauth.OperationProcessingError) {
    const { cause, code } = error
    if (cause instanceof Response && isOfNow(cause.status)) return notReached(error)
    if (code === oauth.JWT_TIMESTAMP_CHECK) {
      return new SignInFailed(
        "The clocks of the venue and of the identity provider differ: its answer counts as over, or as not begun. Set this machine's clock and sign in again; if it is right, tell whoever runs the venue."
      )
    }
    return new SignInFailed(
      "The answer is not one to this sign-in. Nothing was kept; please sign in again."
    )
  }
  // What fetch throws where there is no answer.
  return error instanceof TypeError ? notReached(error) : error
}

/** What a failed sign-in says to the person. */
export const sentenceOf = (error: unknown): string =>
  error instanceof NotReached
    ? `${error.message} Please sign in again.`
    : error instanceof Error
      ? error.message
      : String(error)

/** The client, whose times are judged by the venue's clock. */
const clientOf = ({ signIn }: Tenant): oauth.Client => ({
  client_id: signIn.clientId,
  [oauth.clockSkew]: Math.round((clockOff.value ?? 0) / 1000)
})

/** Renews by the refresh token. A network failure is thrown as it came; a refusal as `SignInFailed`. */
export const refresh = async (tenant: Tenant, refreshToken: string): Promise<Tokens> => {
  const client = clientOf(tenant)
  try {
    const provider = await providerOf(tenant)
    const response = await oauth.refreshTokenGrantRequest(
      provider,
      client,
      oauth.None(),
      refreshToken,
      tokenOptions(tenant)
    )
    const result = await oauth.processRefreshTokenResponse(provider, client, response)
    return { access: result.access_token, refresh: result.refresh_token ?? refreshToken }
  } catch (error) {
    throw failureOf(error)
  }
}

/** Channel by which a sign-in window gives its answer to the page that opened it. */
const channelOf = (state: string) => new BroadcastChannel(`bursar.sign-in.${state}`)

/**
 * Signs in again in a window beside the page, whose forms stay. The policy of openers cuts the two windows
 * apart, so the answer comes over a channel that only the state names.
 */
export const renewInWindow = async (tenant: Tenant, signal: AbortSignal): Promise<Tokens> => {
  const begun = makeBegun(Place.consolePath)
  const beside = window.open("about:blank", "_blank", "popup,width=520,height=680")
  const channel = channelOf(begun.state)
  try {
    const address = await requestOf(tenant, begun)
    const answer = new Promise<URL>((resolve, reject) => {
      channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
        channel.postMessage("taken")
        resolve(new URL(String(data)))
      })
      signal.addEventListener("abort", () => reject(signal.reason))
    })
    if (beside === null) throw new SignInFailed("The browser did not open the window to sign in.")
    beside.location.href = address.href
    return await exchange(tenant, { answer: await answer, begun })
  } catch (error) {
    beside?.close()
    throw error
  } finally {
    channel.close()
  }
}

/** Milliseconds for which a page that opened a window has to take its answer. */
const takenWithin = 3_000

/** In a sign-in window: gives the answer to the page that waits for it; false where none does. */
export const giveToOpener = async (answer: URL): Promise<boolean> => {
  const state = answer.searchParams.get("state")
  if (state === null || sessionStorage.getItem(storageKey) !== null) return false
  const channel = channelOf(state)
  try {
    return await new Promise<boolean>((resolve) => {
      channel.addEventListener("message", () => resolve(true))
      setTimeout(() => resolve(false), takenWithin)
      channel.postMessage(answer.href)
    })
  } finally {
    channel.close()
  }
}
