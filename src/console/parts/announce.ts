import { createStore } from '../browser/state.ts'

interface Toast {
  id: number
  text: string
  kind: 'done' | 'error'
}

export const toasts = createStore<readonly Toast[]>([])
const TOAST_MS = 6_000
let last = 0

/** Shows a toast, also to screen readers; errors stay until dismissed. */
export const announce = (text: string, kind: Toast['kind'] = 'done') => {
  const id = ++last
  toasts.set([...toasts.get().slice(-3), { id, text, kind }])
  if (kind === 'done') setTimeout(() => dismiss(id), TOAST_MS)
}

export const dismiss = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))
