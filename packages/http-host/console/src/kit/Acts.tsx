/** Buttons of the acts that a person's roles may make of a record, and the form of the one that is open. */
import { useEffect, useRef, useState } from "preact/hooks"
import table from "virtual:interface"
import { mayWrite } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import * as Session from "../shell/Session.ts"
import { SignInNotice } from "../shell/SignInNotice.tsx"
import { WriteForm } from "./Form.tsx"
import type { FormValues } from "./OpenForms.ts"

export interface ActsProps {
  readonly kinds: ReadonlyArray<string>
  readonly fixed: Readonly<Record<string, unknown>>
  /** Entries that a new form begins with, by its write. */
  readonly initial?: Readonly<Record<string, FormValues>>
}

export const Acts = ({ fixed, initial = {}, kinds }: ActsProps) => {
  const [open, setOpen] = useState<string | null>(null)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open !== null) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])
  const roles = Session.person.value?.roles ?? []
  const offered = kinds.filter((kind) => mayWrite(kind, roles))
  // A pinned page shows the past, in which nothing can be done.
  if (point.value !== null || offered.length === 0) return null
  return (
    <div class="acts">
      {offered.map((kind) => (
        <button key={kind} type="button" onClick={() => setOpen(kind)}>
          {table.writes[kind]?.title ?? kind}
        </button>
      ))}
      <dialog ref={dialog} onClose={() => setOpen(null)}>
        {open === null ? null : (
          <>
            {/* The page behind a dialog takes no click. */}
            <SignInNotice />
            <WriteForm
              kind={open}
              fixed={fixed}
              initial={initial[open] ?? {}}
              close={() => setOpen(null)}
            />
          </>
        )}
      </dialog>
    </div>
  )
}
