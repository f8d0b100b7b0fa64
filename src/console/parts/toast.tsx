import { createStore, useStore } from '../shell/store.ts'

interface Toast {
  id: number
  text: string
  kind: 'done' | 'error'
}

const toasts = createStore<readonly Toast[]>([])
const SHOWN_MS = 6_000
let last = 0

/** Tells what was done, also to who does not see it. Errors stay until they are dismissed. */
export const announce = (text: string, kind: Toast['kind'] = 'done') => {
  const id = ++last
  toasts.set([...toasts.get().slice(-3), { id, text, kind }])
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS)
}

const dismiss = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))

/** Where they appear. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStore(toasts).map(({ id, text, kind }) => (
      <p key={id} class={kind}>
        {text}
        <button type="button" class="quiet" onClick={() => dismiss(id)}>
          Dismiss
        </button>
      </p>
    ))}
  </div>
)
