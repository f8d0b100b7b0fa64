import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { createStore, useStore } from '../shell/store.ts'

interface Props {
  title: string
  onClose(): void
  children: ComponentChildren
}

/** A window over the page, which keeps the focus; Escape closes it. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => element.current!.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={() => element.current!.close()}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  )
}

interface Question {
  title: string
  /** What will happen, and whether it can be undone. */
  text: string
  /** On the button that does it, such as `Delete the rule`. */
  action: string
  answer(yes: boolean): void
}

const question = createStore<Question | undefined>(undefined)

/** Asks before what cannot be undone. */
export const confirm = (asked: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise(resolve =>
    question.set({
      ...asked,
      answer(yes) {
        question.set(undefined)
        resolve(yes)
      },
    }),
  )

/** Where the questions of `confirm` appear. */
export const Confirm = () => {
  const asked = useStore(question)
  if (!asked) return null
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <p class="actions">
        <button type="button" class="danger" onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
      </p>
    </Dialog>
  )
}
