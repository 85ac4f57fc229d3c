/** Palette: pages and ids by name, opened by `/`; a list that the keyboard walks through. */
import Combobox from "@github/combobox-nav"
import { useEffect, useRef, useState } from "preact/hooks"
import type { NavigationGroup } from "./Navigation.ts"
import * as Keys from "./Keys.ts"

export interface PaletteProps {
  readonly groups: ReadonlyArray<NavigationGroup>
  readonly isOpen: boolean
  readonly close: () => void
  readonly go: (path: string) => void
}

export const Palette = ({ close, go, groups, isOpen }: PaletteProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [text, setText] = useState("")
  useEffect(() => {
    if (isOpen) {
      setText("")
      dialog.current?.showModal()
    } else dialog.current?.close()
  }, [isOpen])
  const rows = groups
    .flatMap((group) => group.rows)
    .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
  useEffect(() => {
    if (!isOpen || input.current === null || list.current === null) return
    const navigation = new Combobox(input.current, list.current, {
      firstOptionSelectionMode: "active"
    })
    navigation.start()
    return () => navigation.destroy()
  }, [isOpen, text])
  return (
    <dialog ref={dialog} class="palette" onClose={close} aria-label="Go to">
      {isOpen ? (
        <>
          <label for="palette-text">Go to a page</label>
          <input
            id="palette-text"
            ref={input}
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-list"
            autoComplete="off"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <ul id="palette-list" ref={list} role="listbox" aria-label="Pages">
            {rows.map(({ letter, path, title }) => (
              <li
                key={path}
                id={`palette-${path}`}
                role="option"
                onClick={() => {
                  close()
                  go(path)
                }}
              >
                {title} {Keys.areOn.value ? <kbd>g {letter}</kbd> : null}
              </li>
            ))}
          </ul>
          {rows.length === 0 ? <p class="nothing">No page of yours is called so.</p> : null}
          <p class="acts">
            <button
              type="button"
              class="plain"
              aria-pressed={!Keys.areOn.value}
              onClick={Keys.switchKeys}
            >
              {Keys.areOn.value ? "Switch the keys off" : "Switch the keys on"}
            </button>
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
        </>
      ) : null}
    </dialog>
  )
}
