import { messageOf } from '../api/client.ts'
import { createStore } from '../browser/state.ts'
import { visibleText } from './format.ts'

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

/** Whether it was done; announces why not. */
export const announced = async (what: () => Promise<void>): Promise<boolean> => {
  try {
    await what()
    return true
  } catch (error) {
    announce(visibleText(messageOf(error)), 'error')
    return false
  }
}

export const dismiss = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))
