/** Entry of the console: finishes a sign-in, or asks for one, and draws the pages of whoever is signed in. */
import { render } from "preact"
import { useState } from "preact/hooks"
import { Failure } from "./kit/Outcome.tsx"
import * as Feed from "./reads/Feed.ts"
import { Pages } from "./shell/Pages.tsx"
import * as PageSettings from "./shell/PageSettings.ts"
import * as Place from "./shell/Place.ts"
import { firstPage } from "./shell/Navigation.ts"
import * as Session from "./shell/Session.ts"
import * as SignIn from "./shell/SignIn.ts"
import { SignInPage } from "./shell/SignInPage.tsx"
import * as Tenant from "./shell/Tenant.ts"

/** Page of a person whose roles are none of the venue's staff. */
const NoPages = ({ tenant }: { readonly tenant: Tenant.Tenant }) => (
  <main class="sign-in">
    <h1>{tenant.displayName}</h1>
    <p>
      This is the console of the venue's staff. {Session.person.value?.name ?? "You"} is signed in,
      with{" "}
      {Session.person.value?.roles.length === 0
        ? "no role that this venue knows"
        : "roles that have no pages here"}
      .
    </p>
    <button type="button" onClick={() => Session.end(null)}>
      Sign out
    </button>
  </main>
)

const App = ({ tenant }: { readonly tenant: Tenant.Tenant }) => {
  const person = Session.person.value
  if (person === null) return <SignInPage tenant={tenant} />
  return firstPage(person.roles) === null ? (
    <NoPages tenant={tenant} />
  ) : (
    <Pages key={person.sub} tenant={tenant} />
  )
}

/** Takes the provider's answer off the address, so that neither history nor a copied link has it. */
const takeAnswer = async (
  tenant: Tenant.Tenant,
  settings: PageSettings.PageSettings
): Promise<void> => {
  const answer = new URL(location.href)
  if (answer.pathname !== new URL(Place.returnAddress).pathname) return
  history.replaceState(null, "", Place.consolePath)
  if (!answer.searchParams.has("state")) return
  if (await SignIn.giveToOpener(answer)) {
    window.close()
    return
  }
  try {
    const { returnTo, tokens } = await SignIn.finish(tenant, answer)
    Session.start({ tenant, settings, tokens })
    history.replaceState(null, "", returnTo)
  } catch (error) {
    Session.end(SignIn.sentenceOf(error))
  }
}

const place = document.getElementById("console")
const start = async (root: Element): Promise<void> => {
  try {
    const settings = PageSettings.parse(
      document.querySelector('meta[name="bursar"]')?.getAttribute("content") ?? null
    )
    const tenant = await Tenant.read(settings.tenantId)
    document.title = tenant.displayName
    await takeAnswer(tenant, settings)
    Feed.run()
    render(<App tenant={tenant} />, root)
  } catch (error) {
    render(<Broken error={error} />, root)
  }
}

const Broken = ({ error }: { readonly error: unknown }) => {
  const [isTrying, again] = useState(false)
  return (
    <main class="sign-in">
      <h1>The console cannot start</h1>
      <Failure error={error} />
      <button
        type="button"
        disabled={isTrying}
        onClick={() => {
          again(true)
          location.reload()
        }}
      >
        Try again
      </button>
    </main>
  )
}

if (place !== null) void start(place)
